//! A server at the end of two streams.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::desk::Desk;
use crate::handler::Handler;
use crate::settings::{ServeError, Settings};

/// The longest message that is read; a longer one is passed over. A text of one megabyte may take
/// six times as much in JSON.
const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// Serves one client until it closes its stream, or `stop` is done. What it asked before is
/// answered first, for some seconds; what takes longer is still done, a minute at most, though
/// nobody hears of it.
pub async fn serve_stdio(
    desk: Arc<dyn Desk>,
    settings: Settings,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let handler = Handler::new(desk, settings);
    let calls = handler.calls();
    let leaving = handler.leaving();
    let input = Ending { input, ended: leaving.clone() };
    let mut stop = pin!(stop);
    let transport =
        AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_LINE_BYTES);
    let begun = tokio::select! {
        begun = handler.serve(transport) => begun,
        () = &mut stop => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(ServerInitializeError::TransportError { error, .. }) => {
            return Err(io::Error::other(error.error).into());
        }
        Err(error) => return Err(ServeError::Handshake(error.to_string())),
    };
    let end = running.cancellation_token();
    let mut waiting = pin!(running.waiting());
    let waited = tokio::select! {
        waited = &mut waiting => waited,
        () = stop => {
            leaving.cancel();
            end.cancel();
            waiting.await
        }
    };
    calls.ended().await;
    waited.map_err(io::Error::other)?;
    Ok(())
}

/// A stream that tells when it has ended.
struct Ending<R> {
    input: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Ending<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.input).poll_read(context, buffer));
        let has_room = buffer.remaining() > 0;
        if read.is_err() || (has_room && buffer.filled().len() == before) {
            self.ended.cancel();
        }
        Poll::Ready(read)
    }
}
