//! Two archives of the sample agent, a month apart, and the change between them: material for
//! `inspect`, `diff`, `delta` and `apply`.

use std::path::{Path, PathBuf};

use anemone::delta::{ApplyRequest, DeltaRequest, apply, delta};
use anemone::files::{Existing, OutputFile, spool};
use anemone::host::Host;
use anemone::result_file::{ResultFile, ResultSealing};
use anemone_format::Snapshot;
use anemone_messages::UserError;
use anemone_sample as sample;

use crate::output::Result;

/// Writes march.alf, april.alf, march-to-april.alf-delta, and applied.alf, which is March with the
/// delta applied.
pub(super) fn write(folder: &Path, host: &Host) -> Result<()> {
    let (march, april) = (folder.join("march.alf"), folder.join("april.alf"));
    write_archive(&sample::agent(), &march, host.threads)?;
    write_archive(&sample::agent_a_month_later(), &april, host.threads)?;
    let file = |path: &PathBuf| {
        let (path, sealing) = (Some(path.clone()), ResultSealing::Plain);
        ResultFile { path, existing: Existing::Keep, sealing }
    };
    let change = folder.join("march-to-april.alf-delta");
    let (base, target, output) = (march.clone(), april.clone(), file(&change));
    delta(&DeltaRequest { base, target, output }, host)?;
    let applied = folder.join("applied.alf");
    let output = file(&applied);
    apply(&ApplyRequest { base: march, earlier: Vec::new(), last: change, output }, host)?;
    if fs_err::read(&applied)? == fs_err::read(&april)? {
        return Ok(());
    }
    let message = "March with the change applied is not April";
    Err(UserError::failure("demo_failed", message))
}

fn write_archive(snapshot: &Snapshot, path: &Path, threads: usize) -> Result<()> {
    let mut file = OutputFile::create(path, Existing::Keep)?;
    file.write(None, |out| {
        Ok::<_, UserError>(snapshot.write(out, spool(Some(path))?, threads)?.1)
    })?;
    Ok(file.commit()?)
}
