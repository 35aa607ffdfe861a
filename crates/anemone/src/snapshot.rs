//! Reads an agent into an archive.

use std::io::{self, Read, Write};

use anemone_format::{
    AgentId, AgentInfo, ArchiveWriter, Credential, Encryption, FileHead, Layer, Manifest, Moment,
    Record, Sink, SinkError, Spool, VaultError, VaultKey, WriteArchiveError, WrittenArchive,
};
use anemone_runtimes::Reading;

use crate::host::Progress;

/// An archive that was written, and how much went into it.
#[derive(Debug)]
pub struct WrittenSnapshot {
    /// The archive.
    pub archive: WrittenArchive,
    /// Bytes of the files in it.
    pub bytes: u64,
    /// Vectors of the records in it.
    pub embeddings: u64,
}

/// Writes what is read of an agent into an archive, and counts it.
pub struct SnapshotSink<'a, W: Write> {
    writer: ArchiveWriter<W>,
    bytes: u64,
    embeddings: u64,
    progress: &'a Progress,
}

impl<'a, W: Write> SnapshotSink<'a, W> {
    /// Starts an archive; records are put aside in `spool`.
    pub fn new(out: W, spool: Box<dyn Spool>, threads: usize, progress: &'a Progress) -> Self {
        // The reading brings the true manifest.
        let agent = AgentInfo::new(AgentId::new(uuid::Uuid::nil()), "", "");
        let manifest = Manifest::new(agent, Moment::from(jiff::Timestamp::UNIX_EPOCH));
        let writer = ArchiveWriter::new(out, &manifest, spool, threads);
        Self { writer, bytes: 0, embeddings: 0, progress }
    }

    /// Adds what the reading returned, and closes the archive.
    pub fn finish(self, reading: &Reading) -> Result<WrittenSnapshot, WriteArchiveError> {
        let Self { mut writer, bytes, embeddings, .. } = self;
        writer.describe(&reading.manifest);
        reading.identity.iter().try_for_each(|layer| writer.layer(Layer::Identity, layer))?;
        reading.principals.iter().try_for_each(|layer| writer.layer(Layer::Principals, layer))?;
        reading.credentials.iter().try_for_each(|layer| writer.layer(Layer::Credentials, layer))?;
        reading.attachments.iter().try_for_each(|layer| writer.layer(Layer::Attachments, layer))?;
        Ok(WrittenSnapshot { archive: writer.finish()?.1, bytes, embeddings })
    }
}

impl<W: Write> Sink for SnapshotSink<'_, W> {
    fn file(&mut self, head: &FileHead<'_>, content: &mut dyn Read) -> Result<String, SinkError> {
        let mut counted = ByteCounter { content, bytes: 0 };
        let path = self.writer.file(head, &mut counted)?;
        self.bytes += counted.bytes;
        self.progress.advance(counted.bytes);
        Ok(path)
    }

    fn symlink(&mut self, head: &FileHead<'_>, target: &[u8]) -> Result<(), SinkError> {
        Ok(self.writer.symlink(head, target)?)
    }

    fn folder(&mut self, head: &FileHead<'_>) -> Result<(), SinkError> {
        Ok(self.writer.folder(head)?)
    }

    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        self.embeddings += record.embeddings.len() as u64;
        Ok(self.writer.record(record)?)
    }
}

struct ByteCounter<'a> {
    content: &'a mut dyn Read,
    bytes: u64,
}

impl Read for ByteCounter<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Seals the secret of a credential; returns the payload and how it was encrypted. The same secret
/// under the same key gives the same bytes, so that archives can be compared.
pub fn seal(
    key: &VaultKey,
    credential: &Credential,
    secret: &[u8],
) -> Result<(String, Encryption), VaultError> {
    let mut sealed = credential.clone();
    let fresh = key.freshness_for(credential, secret).ok_or(VaultError::Key)?;
    key.seal(&mut sealed, secret, &fresh)?;
    Ok((sealed.encrypted_payload, sealed.encryption))
}
