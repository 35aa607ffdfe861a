//! Compression on every core, with the same bytes whatever their number.
//!
//! An entry is cut into blocks of a fixed size. Each block is deflated separately and ends on a
//! byte boundary, so that the concatenated blocks are one deflate stream. Block boundaries do not
//! depend on the number of threads, so neither do the bytes.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use flate2::{Compress, Compression, FlushCompress, Status};

/// The size of a block; a smaller one costs ratio, a larger one memory.
pub(crate) const BLOCK_BYTES: usize = 512 << 10;

/// Higher levels cost more CPU and gain little: see `docs/decisions/003-deflate.md`.
const LEVEL: u32 = 4;
/// The level for blocks that are mostly digits: a vector has hardly any repetitions.
const DIGITS_LEVEL: u32 = 2;

/// A block that shrinks more than this is stored uncompressed, so that our archives do not look
/// like a bomb to a careful reader.
const MAX_RATIO: usize = 100;

/// One block of an entry.
pub(crate) struct Block {
    pub(crate) data: Vec<u8>,
    /// Whether it is the entry's last one.
    pub(crate) last: bool,
}

/// A block after compression.
pub(crate) struct Deflated {
    /// The block as it was passed in.
    pub(crate) data: Vec<u8>,
    /// Its part of the deflate stream.
    pub(crate) packed: Vec<u8>,
    /// The CRC-32 of the data.
    pub(crate) crc: crc32fast::Hasher,
}

/// A block in progress.
pub(crate) struct Ticket(Receiver<Deflated>);

impl Ticket {
    pub(crate) fn wait(self) -> Deflated {
        self.0.recv().expect("a worker answers every job before it ends")
    }
}

/// Threads that deflate blocks.
pub(crate) struct Pool {
    jobs: Option<Sender<(Block, SyncSender<Deflated>)>>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    pub(crate) fn new(threads: usize) -> Self {
        let (jobs, queue) = channel::<(Block, SyncSender<Deflated>)>();
        let queue = Arc::new(Mutex::new(queue));
        let workers = (0..threads.max(1))
            .map(|_| {
                let queue = Arc::clone(&queue);
                std::thread::spawn(move || {
                    let mut deflater = Deflater::new();
                    loop {
                        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok((block, reply)) = job else { break };
                        // The writer may have stopped with an error; then no receiver is left.
                        reply.send(deflater.run(block)).ok();
                    }
                })
            })
            .collect();
        Self { jobs: Some(jobs), workers }
    }

    /// How many blocks may be in progress before the caller should wait for one.
    pub(crate) fn depth(&self) -> usize {
        self.workers.len() * 2
    }

    pub(crate) fn submit(&self, block: Block) -> Ticket {
        let (reply, ticket) = sync_channel(1);
        self.jobs
            .as_ref()
            .expect("jobs are open until drop")
            .send((block, reply))
            .expect("workers live until drop");
        Ticket(ticket)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for worker in self.workers.drain(..) {
            worker.join().ok();
        }
    }
}

struct Deflater {
    prose: Compress,
    digits: Compress,
    stored: Compress,
}

impl Deflater {
    fn new() -> Self {
        Self {
            prose: Compress::new(Compression::new(LEVEL), false),
            digits: Compress::new(Compression::new(DIGITS_LEVEL), false),
            stored: Compress::new(Compression::none(), false),
        }
    }

    fn run(&mut self, block: Block) -> Deflated {
        let Block { data, last } = block;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&data);
        let deflate = if is_digits(&data) { &mut self.digits } else { &mut self.prose };
        let mut packed = pack(deflate, &data, last);
        if data.len() > packed.len() * MAX_RATIO {
            packed = pack(&mut self.stored, &data, last);
        }
        Deflated { data, packed, crc }
    }
}

/// Returns whether more than half of a block is digits.
fn is_digits(data: &[u8]) -> bool {
    data.iter().filter(|byte| byte.is_ascii_digit()).count() > data.len() / 2
}

fn pack(deflate: &mut Compress, data: &[u8], last: bool) -> Vec<u8> {
    deflate.reset();
    let mut packed = Vec::with_capacity(data.len() / 2 + 64);
    let flush = if last { FlushCompress::Finish } else { FlushCompress::Sync };
    loop {
        let consumed = usize::try_from(deflate.total_in()).expect("a block fits in memory");
        let before = packed.len();
        let status = deflate
            .compress_vec(&data[consumed..], &mut packed, flush)
            .expect("deflating from memory to memory cannot fail");
        let drained = packed.len() < packed.capacity();
        let all_in = deflate.total_in() == data.len() as u64;
        if status == Status::StreamEnd || (!last && all_in && drained) {
            return packed;
        }
        debug_assert!(packed.len() > before || packed.len() == packed.capacity());
        packed.reserve(64 << 10);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn deflate(data: &[u8], block: usize, threads: usize) -> Vec<u8> {
        let pool = Pool::new(threads);
        let mut chunks: Vec<&[u8]> = data.chunks(block).collect();
        if chunks.is_empty() {
            chunks.push(&[]);
        }
        let last = chunks.len() - 1;
        let tickets: Vec<Ticket> = chunks
            .iter()
            .enumerate()
            .map(|(at, data)| pool.submit(Block { data: data.to_vec(), last: at == last }))
            .collect();
        tickets.into_iter().flat_map(|ticket| ticket.wait().packed).collect()
    }

    fn inflate(packed: &[u8]) -> Vec<u8> {
        let mut data = Vec::new();
        flate2::read::DeflateDecoder::new(packed).read_to_end(&mut data).unwrap();
        data
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 7_u32;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(len)
        .collect()
    }

    #[test]
    fn blocks_end_to_end_are_one_stream_whatever_the_threads() {
        let text: Vec<u8> = (0..200_000).flat_map(|n: u32| n.to_string().into_bytes()).collect();
        for data in [text, noise(100_000), Vec::new(), vec![1]] {
            let one = deflate(&data, 10_000, 1);
            assert_eq!(one, deflate(&data, 10_000, 3));
            assert!(inflate(&one) == data);
        }
    }

    #[test]
    fn a_block_that_would_look_like_a_bomb_is_kept_as_it_is() {
        let zeros = vec![0; 1 << 20];
        let packed = deflate(&zeros, BLOCK_BYTES, 2);
        assert!(packed.len() > zeros.len() && inflate(&packed) == zeros);
    }
}
