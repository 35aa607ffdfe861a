//! Distinguishes the files of different models, without reading all of them.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// Pieces of a file that are read, from its first byte to its last, close enough that every large
/// matrix contains one.
const PIECES: u64 = 256;
const PIECE_BYTES: u64 = 4096;

/// Returns sixteen hexadecimal digits that two models hardly ever share. They protect against
/// mistakes, not against an attacker who wants two files to look the same.
pub(crate) fn fingerprint(path: &Path) -> io::Result<String> {
    let mut file = fs_err::File::open(path)?;
    let size_bytes = file.metadata()?.len();
    let mut digest = Sha256::new();
    digest.update(size_bytes.to_le_bytes());
    let last = size_bytes.saturating_sub(PIECE_BYTES);
    let mut piece = Vec::new();
    for number in 0..PIECES {
        file.seek(SeekFrom::Start(last * number / (PIECES - 1)))?;
        piece.clear();
        file.by_ref().take(PIECE_BYTES).read_to_end(&mut piece)?;
        digest.update(&piece);
    }
    Ok(digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_sizes_or_with_another_matrix_have_other_fingerprints() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let print = |bytes: &[u8]| {
            fs_err::write(&path, bytes).unwrap();
            fingerprint(&path).unwrap()
        };
        let mut bytes = vec![7; 4 << 20];
        let first = print(&bytes);
        assert_eq!(first.len(), 16);
        assert_eq!(print(&bytes), first);
        assert_ne!(print(&bytes[..bytes.len() - 1]), first);
        assert_ne!(print(b""), first);
        bytes[2_000_000..2_064_000].fill(8);
        assert_ne!(print(&bytes), first, "one matrix of many differs");
    }
}
