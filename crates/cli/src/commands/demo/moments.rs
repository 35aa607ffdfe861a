//! Two archives of the sample agent, a month apart, and the change between them: something to look
//! at with `inspect`, `diff`, `delta` and `apply`.

use std::path::Path;

use crate::output::Result;
use anemone::files::{Existing, OutputFile, spool};
use anemone_format::{Archive, Delta, Limits, Snapshot, apply_delta, write_delta};
use anemone_messages::UserError;
use anemone_sample as sample;

/// Writes march.alf, april.alf, march-to-april.alf-delta, and applied.alf, which is March with the
/// delta applied.
pub(super) fn write(folder: &Path, threads: usize) -> Result<()> {
    let (march, april) = (folder.join("march.alf"), folder.join("april.alf"));
    write_archive(&sample::agent(), &march, threads)?;
    write_archive(&sample::agent_a_month_later(), &april, threads)?;
    let open = |path: &Path| -> Result<Archive> {
        let bytes = fs_err::read(path)?;
        let length = bytes.len() as u64;
        Ok(Archive::open(Box::new(bytes), length, &Limits::default())?)
    };
    let (base, target) = (open(&march)?, open(&april)?);

    let path = folder.join("march-to-april.alf-delta");
    let mut file = OutputFile::create(&path, Existing::Keep)?;
    file.write(None, |out| {
        Ok::<_, UserError>(write_delta(&base, &target, out, spool(Some(&path))?, threads)?.1)
    })?;
    file.commit()?;
    let bytes = fs_err::read(&path)?;
    let length = bytes.len() as u64;
    let delta = Delta::open(Box::new(bytes), length, &Limits::default())?;

    let path = folder.join("applied.alf");
    let mut file = OutputFile::create(&path, Existing::Keep)?;
    file.write(None, |out| {
        Ok::<_, UserError>(apply_delta(&base, &delta, out, spool(Some(&path))?, threads)?.1)
    })?;
    file.commit()?;
    if fs_err::read(&path)? == fs_err::read(&april)? {
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
