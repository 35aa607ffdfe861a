//! `anemone mcp`

mod token;
mod tools;

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anemone::connect::quoted;
use anemone::search::Citations;
use anemone_mcp::{
    HttpSettings, LocalMemoryService, OpenServiceError, ServeError, ServeOptions, Settings,
    serve_http, serve_stdio,
};
use anemone_messages::{Kind, UserError};
use anemone_runtimes::connect::Connect;
use anemone_runtimes::connects;
use clap::Args;
use serde::Serialize;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use self::token::Token;
use self::tools::ToolSet;
use super::Context;
use super::search::citations;
use crate::args::SourceArgs;
use crate::output::{BOLD, Format, Printer, Report, Result, notice, safe};

/// How large a request may be.
const MAX_BODY_BYTES: usize = 8 << 20;
/// How many requests a second are answered over HTTP; more wait.
const REQUESTS_PER_SECOND: u32 = 50;

/// Serve a memory to agents over the Model Context Protocol (MCP)
///
/// Offers tools to search, read, remember, forget, compose context and show the state of one
/// memory; its documents as resources (memory://PATH) with change notifications; and prompts to
/// recall and to save. Uses stdin and stdout, which is how most agents start it, or HTTP with
/// --http for many clients. Without --allow-write the memory is read-only, and the tools that write
/// are not offered.
///
/// `anemone connect` writes the entry for the programs that it knows.
///
/// Over HTTP every request must carry the token (Authorization: Bearer), also from this machine,
/// and must be addressed to this machine by name or number; pages of browsers are refused. The
/// token is made at the first start and kept in a file that only you can read.
#[derive(Args, Debug)]
#[command(after_help = "Example: claude mcp add memory -- anemone mcp -w ~/agent --allow-write")]
pub(crate) struct McpArgs {
    /// An archive, a database, a folder or a file to offer, instead of an agent; it is only read
    source: Option<PathBuf>,

    #[command(flatten)]
    searched: SourceArgs,

    /// Let clients remember and forget too
    #[arg(long)]
    allow_write: bool,

    /// Whose tools to offer: the names and shapes that an agent already knows
    #[arg(long, default_value = tools::OURS, value_parser = tools::tool_sets())]
    tools: ToolSet,

    /// Whether memory_search cites hits by path and lines, where a client does not say; auto does,
    /// except for a group
    #[arg(long, value_name = "MODE", default_value = Citations::Auto.as_str(), value_parser = citations())]
    citations: Citations,

    /// Serve over HTTP at this address: PORT, HOST:PORT; loopback when only a port is given, any
    /// free port with 0
    #[arg(long, value_name = "ADDR", value_parser = address)]
    http: Option<SocketAddr>,

    /// Read the token from this file; created if missing
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// Another name by which clients call this server, such as memory.example.org; may be given
    /// more than once
    #[arg(long = "host", value_name = "NAME[:PORT]", requires = "http")]
    hosts: Vec<String>,

    /// A page that may call this server, such as `https://app.example.org`; may be given more than
    /// once
    #[arg(long = "origin", value_name = "ORIGIN", requires = "http")]
    origins: Vec<String>,
}

/// Reads an address; a port alone means the loopback address.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let text = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    text.parse().map_err(|_| "give a port, or a number and a port: 7411, 127.0.0.1:7411".to_owned())
}

/// Where a server is.
#[derive(Serialize)]
struct Serving {
    url: String,
    token_file: String,
    allow_write: bool,
    /// The command that adds this server to a program.
    add: String,
    /// The name of that program.
    #[serde(skip)]
    program: &'static str,
}

pub(crate) fn run(args: &McpArgs, context: &Context<'_>) -> Result<ExitCode> {
    let Some(address) = args.http else {
        return Ok(match speak(args, context) {
            Ok(()) => ExitCode::SUCCESS,
            // Stdout belongs to the protocol, so errors are printed on stderr.
            Err(error) => Printer::new(Format::Human, context.environment).print_error(&error),
        });
    };
    serve(args, address, context)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves the one client at stdin and stdout.
fn speak(args: &McpArgs, context: &Context<'_>) -> Result<()> {
    let service = Arc::new(args.service(context)?);
    let stop = stopped();
    if context.environment.stdin_is_terminal {
        let how = reading_or_writing(args.allow_write);
        let place = safe(&service.place()?);
        notice(&format!("serving {place} {how} on stdin; agents start this; ctrl-c ends"));
    }
    let runtime = runtime()?;
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let served = runtime.block_on(serve_stdio(service, args.settings(), input, output, stop));
    // The thread that reads stdin may wait forever.
    runtime.shutdown_background();
    served.map_err(|error| not_served(&error))
}

/// Serves every client that has the token.
fn serve(args: &McpArgs, address: SocketAddr, context: &Context<'_>) -> Result<()> {
    let service = Arc::new(args.service(context)?);
    let token = Token::read_or_make(args.token_file.as_deref(), context.environment)?;
    let http = HttpSettings {
        token: token.text.clone(),
        hosts: args.hosts.clone(),
        origins: args.origins.clone(),
        max_body_bytes: MAX_BODY_BYTES,
        requests_per_second: REQUESTS_PER_SECOND,
    };
    http.check().map_err(|error| not_served(&error))?;
    let listener = TcpListener::bind(address).map_err(|error| {
        UserError::failure("address", format!("cannot listen at {address}: {error}"))
            .hint("another server may be there; --http 0 takes any free port")
    })?;
    let local = listener.local_addr()?;
    if !local.ip().is_loopback() {
        notice("requests and the token go over the network in clear: put a server with TLS before");
    }
    let url = format!("http://{local}/mcp");
    let token_file = token.path.display().to_string();
    let add = |program: &'static Connect| Some((program.title, program.add_http_server?));
    let (program, add) = connects().find_map(add).expect("some program adds servers over HTTP");
    let serving = Serving {
        add: add(&url, &quoted(&token_file)),
        program,
        url,
        token_file,
        allow_write: args.allow_write,
    };
    // Signals are handled before the address is printed: from then on a signal ends the server in
    // an orderly way.
    let stop = stopped();
    context.printer.print(&serving)?;
    let runtime = runtime()?;
    let served = runtime.block_on(serve_http(service, args.settings(), http, listener, stop));
    runtime.shutdown_background();
    served.map_err(|error| not_served(&error))
}

/// Completes when the process gets the first signal.
fn stopped() -> impl Future<Output = ()> + Send + 'static {
    let (stop, stopped) = oneshot::channel::<()>();
    crate::signals::on_first_signal(Box::new(move || {
        // The receiver may be gone already.
        stop.send(()).ok();
    }));
    async move {
        stopped.await.ok();
    }
}

const fn reading_or_writing(allow_write: bool) -> &'static str {
    if allow_write { "for reading and writing" } else { "for reading" }
}

fn runtime() -> Result<Runtime> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    Ok(runtime?)
}

impl McpArgs {
    fn service(&self, context: &Context<'_>) -> Result<LocalMemoryService> {
        let service = LocalMemoryService::open(ServeOptions {
            host: context.silent_host(),
            target: self.searched.choice(self.source.clone()),
            allow_write: self.allow_write,
            citations: self.citations,
        });
        service.map_err(|error| match error {
            OpenServiceError::NotAnAgent => UserError::from_error(Kind::Usage, "only_read", &error)
                .hint("leave out --allow-write, or give an agent with -w DIR"),
            OpenServiceError::Target(error) => error.into(),
            OpenServiceError::Io(error) => error.into(),
            _ => UserError::failure_from("memory", &error),
        })
    }

    fn settings(&self) -> Settings {
        Settings {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            allow_write: self.allow_write,
            tools: self.tools.0,
        }
    }
}

/// Says why nothing is served.
fn not_served(error: &ServeError) -> UserError {
    let kind = match error {
        ServeError::Host(_) | ServeError::Origin(_) => Kind::Usage,
        _ => Kind::Failed,
    };
    UserError::from_error(kind, "server", error)
}

impl Report for Serving {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let how = reading_or_writing(self.allow_write);
        writeln!(out, "serving {how} at {BOLD}{}{BOLD:#}", self.url)?;
        writeln!(out, "the token is in {}; ctrl-c ends", safe(&self.token_file))?;
        writeln!(out, "for {}: {}", self.program, safe(&self.add))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for (text, meant) in [
            ("7411", "127.0.0.1:7411"),
            ("0", "127.0.0.1:0"),
            ("localhost:7411", "127.0.0.1:7411"),
            ("127.0.0.1:7411", "127.0.0.1:7411"),
            ("[::1]:7411", "[::1]:7411"),
            ("0.0.0.0:80", "0.0.0.0:80"),
        ] {
            assert_eq!(address(text).map(|read| read.to_string()), Ok(meant.to_owned()), "{text}");
        }
        for text in ["", "x", "127.0.0.1", "70000", "example.org:80", "-1"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
