//! What `anemone demo` says to people.

use std::io::{self, Write};

use anemone::connect::quoted;

use super::Demo;
use super::steps::{AnswerStep, MigrationLeg};
use crate::output::{BOLD, DIM, GOOD, ODD, Report, bytes, count, safe, title};

impl Report for Demo {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let it = &self.discovered;
        heading(out, "1. An agent is found")?;
        command(out, &it.command)?;
        let (files, records, size) =
            (count(it.files, "file"), count(it.records, "memory"), bytes(it.bytes));
        let (alias, runtime, workspace) = (safe(&it.alias), &it.runtime, safe(&it.workspace));
        line(out, &format!("{alias}, of {runtime}, in {workspace}/: {files}, {records}, {size}"))?;
        line(out, "Clawdia keeps house for a tea shop: three months, three languages, one cat.")?;

        heading(out, "2. She answers")?;
        for answered in &self.answered {
            answered.write(out)?;
        }

        let it = &self.remembered;
        heading(out, "3. Telling her something new")?;
        command(out, &it.command)?;
        line(out, &format!("{GOOD}remembered{GOOD:#} in {}", safe(&it.path)))?;
        it.found.write(out)?;

        let it = &self.exported;
        heading(out, "4. All of her in one file")?;
        command(out, &it.command)?;
        let (records, files) = (count(it.records, "memory"), count(it.files, "file"));
        let size = bytes(it.file_size);
        line(out, &format!("{}: {records}, {files}, {size}", safe(&it.archive)))?;
        for left in &it.left_out {
            let reason = match left.reason.as_str() {
                "skipped" => "it can be rebuilt".to_owned(),
                reason => safe(reason),
            };
            let path = safe(&left.path);
            line(out, &format!("{ODD}does not travel:{ODD:#} {path} ({reason})"))?;
        }
        let credentials = count(it.credentials, "credential");
        line(out, &format!("{ODD}stays here:{ODD:#} the secret of {credentials}"))?;

        let it = &self.damaged;
        heading(out, "5. Damage is pinpointed")?;
        line(out, &format!("In a copy, one bit of byte {} is changed.", it.byte))?;
        command(out, &it.command)?;
        for finding in &it.findings {
            let message = safe(&finding.message);
            match finding.path.as_str() {
                "" => line(out, &message)?,
                path => line(out, &format!("{ODD}{}:{ODD:#} {message}", safe(path)))?,
            }
        }
        let digests = count(it.digests_compared, "digest");
        line(out, &format!("The archive itself is {GOOD}valid{GOOD:#}: {digests} compared."))?;

        heading(out, "6. To another runtime and back")?;
        self.moved.there.write(out)?;
        self.moved.back.write(out)?;
        let files = count(self.moved.files_identical, "file");
        line(out, &format!("{GOOD}home again{GOOD:#}: {files} compared, equal byte for byte"))?;

        let it = &self.purged;
        heading(out, "7. A secret is gone for good")?;
        command(out, &it.command)?;
        let (entries, size) = (count(it.entries_searched, "entry"), bytes(it.bytes_searched));
        line(out, &format!("{GOOD}gone{GOOD:#} from the archive: {entries}, {size} searched"))?;
        let it = &it.forgotten;
        command(out, &it.command)?;
        line(out, &format!("{DIM}- {}{DIM:#}", title(&it.text)))?;
        let (files, size) = (count(it.files_searched, "file"), bytes(it.bytes_searched));
        line(out, &format!("{GOOD}gone{GOOD:#} from workspace and index: {files}, {size} read"))?;

        self.write_next(out)
    }
}

impl Demo {
    fn write_next(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        match &self.kept_in {
            Some(folder) => {
                let workspace = quoted(&format!("{folder}/workspace"));
                let (folder, workspace) = (safe(folder), safe(&workspace));
                writeln!(
                    out,
                    "Everything is in {folder}; try `anemone search -w {workspace} \"the cat\"`."
                )?;
            }
            None => writeln!(out, "Keep the files to look around: anemone demo --keep DIR")?,
        }
        writeln!(out, "Now yours: anemone status")
    }
}

impl AnswerStep {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        command(out, &self.command)?;
        line(out, &format!("{}  {DIM}{}{DIM:#}", safe(&self.citation), self.shows))?;
        line(out, &format!("{GOOD}{}{GOOD:#}", title(&self.text)))
    }
}

impl MigrationLeg {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        command(out, &self.command)?;
        let counts = self.layers.iter().filter(|layer| layer.total > 0).map(|layer| {
            let found = layer.carried + layer.degraded + layer.kept_aside;
            let stay = match layer.not_carried {
                0 => String::new(),
                number => format!(" ({number} stays, as planned)"),
            };
            format!("{} {found} of {}{stay}", layer.layer, layer.total)
        });
        let counts: Vec<String> = counts.collect();
        let lost: u64 = self.layers.iter().map(|layer| layer.lost).sum();
        line(out, &format!("{}; {GOOD}{lost} lost{GOOD:#}", counts.join(", ")))
    }
}

fn heading(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "{BOLD}{text}{BOLD:#}")
}

fn command(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "   {DIM}${DIM:#} {}", safe(text))
}

fn line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "   {text}")
}
