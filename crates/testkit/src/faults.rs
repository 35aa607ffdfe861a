//! Runs a program and disturbs one of its system calls on files: the call fails, or every process
//! of the program is killed there.
//!
//! Calls are counted over all threads and children of the program, in the order in which the
//! kernel sees them, so "the Nth call" is one moment of the whole command. Only calls on files
//! below one folder count: what the dynamic loader or the terminal does is not the command's work.
//!
//! The program is traced with `ptrace`. A shell stops itself before it becomes the program, so that
//! the tracer can attach without running code between `fork` and `exec`, which would need `unsafe`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{IoSliceMut, Read as _, Seek as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// How long a program may run. One that is still running then is killed and reported as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// The longest path that is read from a traced process.
const PATH_LIMIT: usize = 4096;

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyscallFault {
    /// Every process of the program is killed before the call is made.
    Kill,
    /// The call fails once with an I/O error.
    IoOnce,
    /// Every file-changing call fails with an I/O error from here on.
    IoFromHere,
    /// The call fails once because the disk is full.
    FullOnce,
    /// The disk is full from here on: every call that needs space fails.
    FullFromHere,
    /// A write stores half of its bytes, and the disk is full from there on.
    TornWrite,
}

impl SyscallFault {
    /// Every kind of fault.
    pub const ALL: [Self; 6] = [
        Self::Kill,
        Self::IoOnce,
        Self::IoFromHere,
        Self::FullOnce,
        Self::FullFromHere,
        Self::TornWrite,
    ];
}

/// Which calls are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Those that change a file, a name or a folder.
    Changes,
    /// Those that open or read a file or a folder without changing it.
    Reads,
}

/// A fault at the call with this number, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// What happens.
    pub fault: SyscallFault,
    /// Among which calls.
    pub of: Calls,
    /// At which call.
    pub call: usize,
}

/// How a traced program ended.
#[derive(Debug)]
pub struct Outcome {
    /// Each call that changed something below the folder: its name and paths.
    pub changes: Vec<String>,
    /// Each call that read something below the folder.
    pub reads: Vec<String>,
    /// Whether the chosen call was reached.
    pub reached: bool,
    /// The exit code; `None` where a signal ended the program.
    pub code: Option<i32>,
    /// Whether the program had to be killed because it did not end by itself.
    pub hung: bool,
    /// Everything that was written to stdout.
    pub stdout: String,
    /// Everything that was written to stderr.
    pub stderr: String,
}

/// Runs a program with its arguments. `command` carries the environment and the working folder;
/// its output is captured. Calls count where they touch something below `root`.
///
/// # Panics
///
/// Where the program cannot be started or traced: a test without its tracer proves nothing.
#[must_use]
pub fn run(command: &Command, root: &Path, injection: Option<Injection>) -> Outcome {
    let mut stdout = tempfile::tempfile().expect("a temporary file can be made");
    let mut stderr = tempfile::tempfile().expect("a temporary file can be made");
    let main = start_stopped(command, &stdout, &stderr);
    let (ended, watched) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let hangs = watched.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout);
        if hangs {
            // The whole process group; it may have ended just now, which is as well.
            let _ended_already = kill(Pid::from_raw(-main.as_raw()), Signal::SIGKILL);
        }
        hangs
    });
    let mut tracer = Tracer::new(main, root, injection);
    let code = tracer.follow();
    drop(ended);
    let hung = watch.join().expect("the watching thread does not panic");
    Outcome {
        changes: tracer.changes,
        reads: tracer.reads,
        reached: tracer.reached,
        code,
        hung,
        stdout: text_of(&mut stdout),
        stderr: text_of(&mut stderr),
    }
}

/// Starts a shell that stops itself and then becomes the program.
#[expect(clippy::zombie_processes, reason = "the tracer waits for every process by itself")]
fn start_stopped(command: &Command, stdout: &File, stderr: &File) -> Pid {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "kill -STOP $$; exec \"$@\"", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.stdin(std::process::Stdio::null());
    shell.stdout(stdout.try_clone().expect("a file can be shared"));
    shell.stderr(stderr.try_clone().expect("a file can be shared"));
    shell.process_group(0);
    let child = shell.spawn().expect("the shell starts");
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id is small"));
    let stopped = waitpid(pid, Some(WaitPidFlag::WUNTRACED)).expect("the shell is our child");
    assert_eq!(stopped, WaitStatus::Stopped(pid, Signal::SIGSTOP), "the shell stops itself");
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(pid, options).expect("a child may be traced");
    kill(pid, Signal::SIGCONT).expect("the shell is our child");
    pid
}

fn text_of(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().expect("a file can be read from its start");
    file.read_to_end(&mut bytes).expect("the file is ours");
    String::from_utf8_lossy(&bytes).into_owned()
}

struct Tracer {
    main: Pid,
    /// Every process and thread that was seen and has not ended.
    running: BTreeSet<Pid>,
    root: PathBuf,
    injection: Option<Injection>,
    changes: Vec<String>,
    reads: Vec<String>,
    reached: bool,
}

/// A system call on files.
struct Call {
    name: &'static str,
    /// The files that it touches.
    paths: Vec<PathBuf>,
    effect: Effect,
}

/// What a call does, as far as faults differ by it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It writes bytes, so a full disk stops it, and it can be cut short.
    Write,
    /// It needs space otherwise: a new file or folder.
    Allocate,
    /// It changes a file without needing space.
    Change,
    /// It changes nothing.
    Read,
}

impl Tracer {
    fn new(main: Pid, root: &Path, injection: Option<Injection>) -> Self {
        Self {
            main,
            running: BTreeSet::from([main]),
            root: root.canonicalize().expect("the folder exists"),
            injection,
            changes: Vec::new(),
            reads: Vec::new(),
            reached: false,
        }
    }

    /// Follows every process until all have ended. Returns the exit code of the first one.
    fn follow(&mut self) -> Option<i32> {
        let mut code = None;
        // Only children and tracees of this thread, because other tests run beside this one.
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        loop {
            match waitpid(None, Some(flags)) {
                Err(Errno::ECHILD) => return code,
                Err(Errno::EINTR) => {}
                Err(error) => panic!("cannot wait for traced processes: {error}"),
                Ok(WaitStatus::Exited(pid, status)) => {
                    self.running.remove(&pid);
                    if pid == self.main {
                        code = Some(status);
                    }
                }
                Ok(WaitStatus::Signaled(pid, _, _)) => {
                    self.running.remove(&pid);
                }
                Ok(WaitStatus::PtraceSyscall(pid)) => {
                    self.on_call(pid);
                    go_on(pid, None);
                }
                Ok(WaitStatus::PtraceEvent(pid, _, event)) => {
                    let new = [
                        libc::PTRACE_EVENT_CLONE,
                        libc::PTRACE_EVENT_FORK,
                        libc::PTRACE_EVENT_VFORK,
                    ];
                    if new.contains(&event)
                        && let Ok(id) = ptrace::getevent(pid)
                    {
                        let id = i32::try_from(id).expect("a process id is small");
                        self.running.insert(Pid::from_raw(id));
                    }
                    go_on(pid, None);
                }
                Ok(WaitStatus::Stopped(pid, signal)) => go_on(pid, Some(signal)),
                Ok(_) => {}
            }
        }
    }

    fn on_call(&mut self, pid: Pid) {
        let entry = libc::PTRACE_SYSCALL_INFO_ENTRY;
        if !ptrace::syscall_info(pid).is_ok_and(|info| info.op == entry) {
            return;
        }
        // A process that was just killed has no registers any more.
        let Ok(registers) = ptrace::getregs(pid) else { return };
        let Some(call) = Call::of(pid, &registers) else { return };
        if !call.paths.iter().any(|path| path.starts_with(&self.root)) {
            return;
        }
        let paths: Vec<_> = call.paths.iter().map(|path| path.to_string_lossy()).collect();
        let (counted, of) = match call.effect {
            Effect::Read => (&mut self.reads, Calls::Reads),
            Effect::Write | Effect::Allocate | Effect::Change => {
                (&mut self.changes, Calls::Changes)
            }
        };
        counted.push(format!("{} {}", call.name, paths.join(" ")));
        let number = counted.len();
        let Some(injection) = self.injection else { return };
        if injection.of != of {
            return;
        }
        if number == injection.call {
            self.reached = true;
        }
        if number >= injection.call {
            self.disturb(pid, registers, &call, injection.fault, number == injection.call);
        }
    }

    fn disturb(
        &self,
        pid: Pid,
        mut registers: libc::user_regs_struct,
        call: &Call,
        fault: SyscallFault,
        first: bool,
    ) {
        let needs_space = matches!(call.effect, Effect::Write | Effect::Allocate);
        let error = match fault {
            SyscallFault::Kill => {
                for running in &self.running {
                    // A thread of a process that is dying already is gone.
                    let _gone = kill(*running, Signal::SIGKILL);
                }
                return;
            }
            SyscallFault::IoOnce if first => Errno::EIO,
            SyscallFault::FullOnce if first && needs_space => Errno::ENOSPC,
            SyscallFault::IoFromHere => Errno::EIO,
            SyscallFault::FullFromHere if needs_space => Errno::ENOSPC,
            SyscallFault::TornWrite
                if first && call.effect == Effect::Write && registers.rdx > 1 =>
            {
                registers.rdx /= 2;
                set(pid, registers);
                return;
            }
            SyscallFault::TornWrite if needs_space => Errno::ENOSPC,
            SyscallFault::IoOnce
            | SyscallFault::FullOnce
            | SyscallFault::FullFromHere
            | SyscallFault::TornWrite => return,
        };
        // The kernel skips a call whose number is -1 and returns what `rax` holds.
        registers.orig_rax = u64::MAX;
        registers.rax = (-i64::from(error as i32)).cast_unsigned();
        set(pid, registers);
    }
}

impl Call {
    /// Returns what a process is about to do with files.
    fn of(pid: Pid, registers: &libc::user_regs_struct) -> Option<Self> {
        let (a, b, c, d) = (registers.rdi, registers.rsi, registers.rdx, registers.r10);
        let here = at_fdcwd();
        let number = i64::try_from(registers.orig_rax).ok()?;
        let changes = |name, paths| Self { name, paths, effect: Effect::Change };
        let needs = |name, paths| Self { name, paths, effect: Effect::Allocate };
        let writes =
            |name, file| Self { name, paths: vec![path_of_file(pid, file)], effect: Effect::Write };
        let opens = |name, flags: u64, path| {
            let flags = i32::try_from(flags & 0xffff_ffff).unwrap_or(0);
            let creates = flags & (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY) != 0;
            let effect = if creates {
                Effect::Allocate
            } else if flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC) != 0 {
                Effect::Change
            } else {
                Effect::Read
            };
            Self { name, paths: vec![path], effect }
        };
        let reads =
            |name, file| Self { name, paths: vec![path_of_file(pid, file)], effect: Effect::Read };
        let at = |folder, name| path_at(pid, folder, name);
        Some(match number {
            libc::SYS_read => reads("read", a),
            libc::SYS_pread64 => reads("pread64", a),
            libc::SYS_readv | libc::SYS_preadv | libc::SYS_preadv2 => reads("readv", a),
            libc::SYS_getdents64 => reads("getdents64", a),
            libc::SYS_write => writes("write", a),
            libc::SYS_pwrite64 => writes("pwrite64", a),
            libc::SYS_writev => needs("writev", vec![path_of_file(pid, a)]),
            libc::SYS_pwritev | libc::SYS_pwritev2 => needs("pwritev", vec![path_of_file(pid, a)]),
            libc::SYS_copy_file_range => needs("copy_file_range", vec![path_of_file(pid, c)]),
            libc::SYS_sendfile => needs("sendfile", vec![path_of_file(pid, a)]),
            libc::SYS_fallocate => needs("fallocate", vec![path_of_file(pid, a)]),
            libc::SYS_fsync => changes("fsync", vec![path_of_file(pid, a)]),
            libc::SYS_fdatasync => changes("fdatasync", vec![path_of_file(pid, a)]),
            libc::SYS_ftruncate => changes("ftruncate", vec![path_of_file(pid, a)]),
            libc::SYS_fchmod => changes("fchmod", vec![path_of_file(pid, a)]),
            libc::SYS_truncate => changes("truncate", vec![at(here, a)]),
            libc::SYS_chmod => changes("chmod", vec![at(here, a)]),
            libc::SYS_fchmodat => changes("fchmodat", vec![at(a, b)]),
            libc::SYS_utimensat if b == 0 => changes("futimens", vec![path_of_file(pid, a)]),
            libc::SYS_utimensat => changes("utimensat", vec![at(a, b)]),
            libc::SYS_rename => changes("rename", vec![at(here, a), at(here, b)]),
            libc::SYS_renameat => changes("renameat", vec![at(a, b), at(c, d)]),
            libc::SYS_renameat2 => changes("renameat2", vec![at(a, b), at(c, d)]),
            libc::SYS_unlink => changes("unlink", vec![at(here, a)]),
            libc::SYS_rmdir => changes("rmdir", vec![at(here, a)]),
            libc::SYS_unlinkat => changes("unlinkat", vec![at(a, b)]),
            libc::SYS_mkdir => needs("mkdir", vec![at(here, a)]),
            libc::SYS_mkdirat => needs("mkdirat", vec![at(a, b)]),
            libc::SYS_link => needs("link", vec![at(here, a), at(here, b)]),
            libc::SYS_linkat => needs("linkat", vec![at(a, b), at(c, d)]),
            libc::SYS_symlink => needs("symlink", vec![at(here, b)]),
            libc::SYS_symlinkat => needs("symlinkat", vec![at(b, c)]),
            libc::SYS_creat => needs("creat", vec![at(here, a)]),
            libc::SYS_open => opens("open", b, at(here, a)),
            libc::SYS_openat => opens("openat", c, at(a, b)),
            libc::SYS_openat2 => {
                let how = read_bytes(pid, c, 8);
                let flags = u64::from_ne_bytes(how.try_into().ok()?);
                opens("openat2", flags, at(a, b))
            }
            _ => return None,
        })
    }
}

/// A system call's first argument for "the working folder".
fn at_fdcwd() -> u64 {
    i64::from(libc::AT_FDCWD).cast_unsigned()
}

/// Returns the file behind a descriptor, as far as the kernel can name it.
fn path_of_file(pid: Pid, descriptor: u64) -> PathBuf {
    let name = match descriptor_of(descriptor) {
        libc::AT_FDCWD => format!("/proc/{pid}/cwd"),
        descriptor => format!("/proc/{pid}/fd/{descriptor}"),
    };
    fs_err::read_link(name).unwrap_or_default()
}

/// The kernel only uses the lower half of a register.
fn descriptor_of(register: u64) -> i32 {
    let [a, b, c, d, ..] = register.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// Returns the path that a folder's descriptor and the address of a name mean.
fn path_at(pid: Pid, folder: u64, name: u64) -> PathBuf {
    let name = PathBuf::from(OsString::from_vec(read_string(pid, name)));
    // A file without a name gets one through its descriptor.
    if let Ok(own) = name.strip_prefix("/proc/self") {
        return fs_err::read_link(format!("/proc/{pid}/{}", own.display())).unwrap_or_default();
    }
    if name.is_absolute() { name } else { path_of_file(pid, folder).join(name) }
}

/// Reads up to the next NUL byte.
fn read_string(pid: Pid, address: u64) -> Vec<u8> {
    let mut string = Vec::new();
    while string.len() < PATH_LIMIT {
        let next = address + string.len() as u64;
        // A read must not reach into a page that does not exist.
        let length = 64 - usize::try_from(next % 64).expect("less than 64");
        let bytes = read_bytes(pid, next, length);
        if bytes.is_empty() {
            break;
        }
        if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
            string.extend_from_slice(&bytes[..end]);
            break;
        }
        string.extend_from_slice(&bytes);
    }
    string
}

fn read_bytes(pid: Pid, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let base = usize::try_from(address).expect("addresses have the size of a word");
    let remote = [RemoteIoVec { base, len: length }];
    let read = process_vm_readv(pid, &mut [IoSliceMut::new(&mut bytes)], &remote).unwrap_or(0);
    bytes.truncate(read);
    bytes
}

/// A process that was killed meanwhile can be neither changed nor resumed; its end is reported
/// next.
fn set(pid: Pid, registers: libc::user_regs_struct) {
    let _killed = ptrace::setregs(pid, registers);
}

fn go_on(pid: Pid, signal: Option<Signal>) {
    let _killed = ptrace::syscall(pid, signal);
}
