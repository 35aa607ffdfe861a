//! A server at the end of two streams.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::{FutureExt as _, StreamExt as _};
use rmcp::ServiceExt;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio_util::codec::{Decoder, FramedRead};
use tokio_util::sync::CancellationToken;

use crate::handler::Handler;
use crate::message::{self, Problem, UnansweredRequests};
use crate::service::MemoryService;
use crate::settings::{ServeError, Settings};

/// The longest message that is read; a longer one is skipped. A text of one megabyte may take six
/// times as much in JSON.
const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// Serves one client until it closes its stream, or `stop` is done. Earlier requests are answered
/// first, for some seconds; slower calls still run, for a minute at most, but their answers are not
/// sent.
pub async fn serve_stdio(
    service: Arc<dyn MemoryService>,
    settings: Settings,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let handler = Handler::new(service, settings);
    let calls = handler.calls();
    let leaving = handler.leaving();
    let mut stop = pin!(stop);
    let transport = LineTransport::new(input, output, leaving.clone());
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

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Messages as lines of JSON.
///
/// The SDK has such a transport, but it parses input of any size, does not answer input that is not
/// JSON or too long, and answers only one of two requests with the same id.
struct LineTransport<R, W> {
    input: FramedRead<R, LineDecoder>,
    output: Arc<Mutex<Option<W>>>,
    unanswered: UnansweredRequests,
    /// An answer that is on its way. It is kept here because receiving may be given up at any
    /// point and begun again, and half a line must not be left in the stream.
    reply: Option<Sending>,
    /// Is cancelled when the input has ended.
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    fn new(input: R, output: W, ended: CancellationToken) -> Self {
        Self {
            input: FramedRead::new(input, LineDecoder::default()),
            output: Arc::new(Mutex::new(Some(output))),
            unanswered: UnansweredRequests::default(),
            reply: None,
            ended,
        }
    }

    /// Returns the next message, or what to answer to a line that is none. Neither: there is
    /// nothing to say to it.
    fn read(&self, line: InputLine) -> Option<Result<ClientJsonRpcMessage, Vec<u8>>> {
        let line = match line {
            InputLine::Whole(line) => line,
            InputLine::TooLong => return Some(Err(line_of(&Problem::TooLong.answer(None)))),
        };
        if line.trim_ascii().is_empty() {
            return None;
        }
        match message::read(&line) {
            Ok(message) => Some(match self.unanswered.note(&message) {
                Ok(()) => Ok(message),
                Err(answer) => Err(line_of(&answer)),
            }),
            Err(rejected) if rejected.is_notification => None,
            Err(rejected) => Some(Err(line_of(&rejected.problem.answer(rejected.id.as_ref())))),
        }
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, unanswered) = (Arc::clone(&self.output), self.unanswered.clone());
        async move {
            let mut output = output.lock().await;
            // Not before: what waits to be written counts as not answered.
            unanswered.answered(&message);
            write(&mut *output, &line_of(&message)).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(reply) = &mut self.reply {
                let sent = reply.await;
                self.reply = None;
                sent.ok()?;
            }
            let Some(Ok(line)) = self.input.next().await else {
                self.ended.cancel();
                return None;
            };
            match self.read(line) {
                Some(Ok(message)) => return Some(message),
                Some(Err(reply)) => {
                    let output = Arc::clone(&self.output);
                    let sending = async move { write(&mut *output.lock().await, &reply).await };
                    self.reply = Some(sending.boxed());
                }
                None => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.output.lock().await.take());
        Ok(())
    }
}

/// Writes a line as a whole.
async fn write<W: AsyncWrite + Unpin>(output: &mut Option<W>, line: &[u8]) -> io::Result<()> {
    let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    output.write_all(line).await?;
    output.flush().await
}

fn line_of(message: &impl Serialize) -> Vec<u8> {
    // Messages have keys that are texts and nothing that could fail, so there is always a line.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Cuts a stream into lines.
#[derive(Default)]
struct LineDecoder {
    /// How far the line ending was searched for.
    searched: usize,
    /// Whether the line is too long, and its beginning gone already.
    is_too_long: bool,
}

enum InputLine {
    Whole(Bytes),
    TooLong,
}

impl Decoder for LineDecoder {
    type Item = InputLine;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<InputLine>> {
        let ending = buffer[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(ending) = ending else {
            self.searched = buffer.len();
            if buffer.len() > MAX_LINE_BYTES {
                *buffer = BytesMut::new();
                *self = Self { searched: 0, is_too_long: true };
            }
            return Ok(None);
        };
        let line = buffer.split_to(self.searched + ending + 1).freeze();
        let is_too_long = self.is_too_long || line.len() > MAX_LINE_BYTES;
        *self = Self::default();
        Ok(Some(if is_too_long { InputLine::TooLong } else { InputLine::Whole(line) }))
    }

    /// Leaves text without a line ending, which may be the beginning of a message.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<InputLine>> {
        self.decode(buffer)
    }
}
