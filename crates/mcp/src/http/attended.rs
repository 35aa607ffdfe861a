//! A connection that ends when the client no longer reads from it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// A stream on which a write fails if the other side reads nothing for too long. A client that was
/// stopped, or that does not read its answers, would otherwise occupy its connection and the unsent
/// data for ever.
pub(super) struct StallGuard {
    stream: TcpStream,
    longest: Duration,
    /// Runs while a write waits.
    patience: Option<Pin<Box<Sleep>>>,
}

impl StallGuard {
    pub(super) fn new(stream: TcpStream, longest: Duration) -> Self {
        Self { stream, longest, patience: None }
    }

    pub(super) fn into_inner(self) -> TcpStream {
        self.stream
    }

    fn attended<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.patience = None;
            return written;
        }
        let longest = self.longest;
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(longest)));
        ready!(patience.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for StallGuard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for StallGuard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.attended(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.attended(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn who_takes_nothing_is_cut_off_and_who_is_slow_is_not() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let mut attended = StallGuard::new(stream, Duration::from_secs(60));
        let chunk = vec![0; 1 << 20];
        // Far more than the buffers in between can hold.
        let sent = 64 * chunk.len();
        let reading = tokio::spawn(async move {
            let mut bytes = vec![0; 1 << 16];
            let mut read = 0;
            while read < sent {
                read += client.read(&mut bytes).await.unwrap();
                tokio::task::yield_now().await;
            }
            client
        });
        for _ in 0..64 {
            attended.write_all(&chunk).await.unwrap();
        }
        let _client_who_no_longer_reads = reading.await.unwrap();
        attended.longest = Duration::from_millis(50);
        let stalled = loop {
            if let Err(error) = attended.write_all(&chunk).await {
                break error;
            }
        };
        assert_eq!(stalled.kind(), io::ErrorKind::TimedOut);
    }
}
