//! A small ZIP reader and writer of our own, so that the program's word on its files is not taken.

use std::collections::BTreeMap;
use std::io::Read as _;

/// An entry: its bytes in the file, and their inflated content.
#[derive(Debug, PartialEq, Eq)]
pub struct Unzipped {
    /// The bytes in the file.
    pub packed: Vec<u8>,
    /// Inflated.
    pub content: Vec<u8>,
}

/// Returns every entry of a small archive by its name.
pub fn unzip(file: &[u8]) -> BTreeMap<String, Unzipped> {
    let end = find_last(file, b"PK\x05\x06");
    let count = u16_at(file, end + 10);
    let mut at = u32_at(file, end + 16);
    let mut entries = BTreeMap::new();
    for _ in 0..count {
        assert_eq!(&file[at..at + 4], b"PK\x01\x02");
        let method = u16_at(file, at + 10);
        let packed_size = u32_at(file, at + 20);
        let [name, extra, comment] = [28, 30, 32].map(|offset| u16_at(file, at + offset));
        let local = u32_at(file, at + 42);
        let path = String::from_utf8(file[at + 46..at + 46 + name].to_vec());
        at += 46 + name + extra + comment;
        let start = local + 30 + u16_at(file, local + 26) + u16_at(file, local + 28);
        let packed = file[start..start + packed_size].to_vec();
        let content = match method {
            0 => packed.clone(),
            8 => {
                let mut content = Vec::new();
                let mut inflated = flate2::read::DeflateDecoder::new(&packed[..]);
                inflated.read_to_end(&mut content).expect("the entry inflates");
                content
            }
            other => panic!("method {other}"),
        };
        let old = entries.insert(path.expect("names are UTF-8"), Unzipped { packed, content });
        assert_eq!(old, None);
    }
    entries
}

/// Writes entries, not packed, as a ZIP file.
pub fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let length = |bytes: usize| u32::try_from(bytes).expect("test files are small");
        let offset = length(file.len()).to_le_bytes();
        // Flags (names are UTF-8), method, time and date (1980-01-01), then CRC and sizes.
        let mut fields = vec![20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
        for number in [crc32fast::hash(content), length(content.len()), length(content.len())] {
            fields.extend(number.to_le_bytes());
        }
        fields.extend(u16::try_from(name.len()).expect("names are short").to_le_bytes());
        file.extend([&b"PK\x03\x04"[..], &fields, &[0; 2], name.as_bytes(), content].concat());
        let made_by = [20, 3];
        let rest = [[0; 12].as_slice(), &offset].concat();
        directory.extend([&b"PK\x01\x02"[..], &made_by, &fields, &rest, name.as_bytes()].concat());
    }
    let numbers = [directory.len(), file.len()].map(|value| u32::try_from(value).expect("small"));
    let count = u16::try_from(entries.len()).expect("few").to_le_bytes();
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count[..]].concat();
    file.extend(directory);
    file.extend(end);
    file.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
    file.extend([0; 2]);
    file
}

/// Returns true when some bytes hold others.
pub fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn find_last(file: &[u8], mark: &[u8]) -> usize {
    file.windows(mark.len()).rposition(|window| window == mark).expect("a ZIP file has an end")
}

fn u16_at(file: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([file[at], file[at + 1]]))
}

fn u32_at(file: &[u8], at: usize) -> usize {
    u16_at(file, at) | u16_at(file, at + 2) << 16
}

/// Gives a ZIP file without a comment a seal, as the program does.
pub fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let end = file.len() - 2;
    assert_eq!(file[end..], [0; 2], "there is a comment");
    file[end] = 80;
    let seal = format!("alf-seal:sha256:{}", anemone_format::sha256_hex(&file));
    file.extend(seal.as_bytes());
    file
}
