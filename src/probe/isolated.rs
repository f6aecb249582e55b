//! One forked worker of ourselves asks; this process keeps the clock. A worker that hangs inside the kernel cannot be
//! waited for, so it is left behind and a fresh one takes over what does not need the same lock.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::kernel::{Blob, Kernel, Lock, Reply, Request};
use super::live::Live;
use super::sys;

/// Milliseconds for all requests of a scan together; waiting between samples is not counted.
pub const DEFAULT_BUDGET_MS: u64 = 20_000;
/// Milliseconds that a worker gets beyond the limit of a request, to say itself that it timed out.
const GRACE_MS: u64 = 100;

type Factory = Box<dyn Fn() -> Box<dyn Kernel>>;

/// Answers through a worker process. Make it before any thread is started.
pub struct Isolated {
    factory: Factory,
    worker: Option<Worker>,
    abandoned: Vec<Pid>,
    held: BTreeMap<Lock, String>,
    started: Instant,
    spent: Duration,
    budget: Duration,
}

/// Stands for a namespace that could not be entered.
struct Outside(i32);

impl Kernel for Outside {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let text = "the network namespace could not be entered";
        requests.iter().map(|_| Reply::Error { errno: self.0, text: text.into() }).collect()
    }

    fn now_ms(&mut self) -> u64 {
        0
    }

    fn sleep(&mut self, _: u64) {}
}

struct Worker {
    process: Pid,
    stream: UnixStream,
}

impl Isolated {
    /// A worker that reads this machine, with files below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self::with(Box::new(move || Box::new(Live::new(root.clone()))))
    }

    /// A worker that first enters the network namespace behind `namespace`, such as /run/netns/blue. Files of /sys/class/net
    /// still tell of the namespace of the mount, which the collection notices. Needs root.
    pub fn in_namespace(root: impl Into<PathBuf>, namespace: impl Into<PathBuf>) -> Self {
        let (root, namespace) = (root.into(), namespace.into());
        Self::with(Box::new(move || {
            let entered = std::fs::File::open(&namespace)
                .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
                .and_then(|file| setns(file, CloneFlags::CLONE_NEWNET).map_err(|errno| errno as i32));
            match entered {
                Ok(()) => Box::new(Live::new(root.clone())),
                Err(errno) => Box::new(Outside(errno)),
            }
        }))
    }

    /// A worker that runs whatever `factory` makes.
    pub fn with(factory: Factory) -> Self {
        Self {
            factory,
            worker: None,
            abandoned: Vec::new(),
            held: BTreeMap::new(),
            started: Instant::now(),
            spent: Duration::ZERO,
            budget: Duration::from_millis(DEFAULT_BUDGET_MS),
        }
    }

    /// Another budget for all requests together.
    #[must_use]
    pub fn budget_ms(mut self, ms: u64) -> Self {
        self.budget = Duration::from_millis(ms);
        self
    }

    fn spawn(&self) -> io::Result<Worker> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut parts = Some((ours, theirs));
        let parent = Pid::this();
        let process = sys::fork_worker(|| {
            if let Some((ours, theirs)) = parts.take() {
                drop(ours);
                serve(theirs, &self.factory, parent);
            }
        })?;
        let (stream, _) = parts.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Worker { process, stream })
    }

    /// Kills the worker without waiting: it may be stuck where no signal reaches it.
    fn abandon(&mut self) {
        if let Some(worker) = self.worker.take() {
            let _ = kill(worker.process, Signal::SIGKILL);
            self.abandoned.push(worker.process);
        }
    }

    /// Asks as many of `requests` as come back; the rest stays for the caller.
    fn stretch(&mut self, requests: &[&Request]) -> Vec<Reply> {
        let mut replies = Vec::new();
        if self.worker.is_none() {
            match self.spawn() {
                Ok(worker) => self.worker = Some(worker),
                Err(error) => {
                    let because = format!("no worker process: {error}");
                    return requests.iter().map(|_| Reply::Skipped { because: because.clone() }).collect();
                }
            }
        }
        let Some(worker) = &mut self.worker else { return replies };
        let sent = serde_json::to_vec(requests).map_err(io::Error::other).and_then(|frame| {
            worker.stream.write_all(&(frame.len() as u32).to_ne_bytes())?;
            worker.stream.write_all(&frame)
        });
        if sent.is_err() {
            self.abandon();
            return vec![Reply::Error { errno: libc::EPIPE, text: "the worker process ended".into() }];
        }
        for request in requests {
            let limit = Duration::from_millis(u64::from(request.limit_ms) + GRACE_MS);
            let deadline = Instant::now() + limit.min(self.budget.saturating_sub(self.spent));
            let before = Instant::now();
            let answer = receive(&mut worker.stream, deadline);
            self.spent += before.elapsed();
            match answer {
                Ok(reply) => replies.push(reply),
                Err(error) => {
                    let late = matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock);
                    if late && request.lock != Lock::None {
                        self.held.insert(request.lock.clone(), request.ask.to_string());
                    }
                    replies.push(if late {
                        Reply::TimedOut
                    } else {
                        Reply::Error { errno: libc::EPIPE, text: "the worker process ended".into() }
                    });
                    self.abandon();
                    break;
                }
            }
        }
        replies
    }

    fn refusal(&self, request: &Request) -> Option<Reply> {
        if self.spent >= self.budget {
            return Some(Reply::Skipped { because: "the time for all probes together is spent".into() });
        }
        let since = self.held.get(&request.lock)?;
        let lock = match &request.lock {
            Lock::None => return None,
            Lock::Rtnl => "the rtnl lock".to_owned(),
            Lock::Device(address) => format!("the device {address}"),
        };
        Some(Reply::Skipped { because: format!("a driver holds {lock} since {since}, which did not come back") })
    }
}

impl Kernel for Isolated {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let mut replies: Vec<Option<Reply>> = vec![None; requests.len()];
        loop {
            for (request, reply) in requests.iter().zip(&mut replies) {
                if reply.is_none() {
                    *reply = self.refusal(request);
                }
            }
            let open: Vec<usize> = (0..requests.len()).filter(|at| replies[*at].is_none()).collect();
            if open.is_empty() {
                break;
            }
            let asked: Vec<&Request> = open.iter().map(|at| &requests[*at]).collect();
            for (at, reply) in open.iter().zip(self.stretch(&asked)) {
                replies[*at] = Some(reply);
            }
        }
        replies.into_iter().map(|reply| reply.unwrap_or(Reply::TimedOut)).collect()
    }

    fn now_ms(&mut self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn sleep(&mut self, ms: u64) {
        std::thread::sleep(Duration::from_millis(ms));
    }
}

impl Drop for Isolated {
    fn drop(&mut self) {
        self.abandon();
        // A killed worker is gone within a moment unless it is stuck; that one is left to init.
        for _ in 0..200 {
            self.abandoned.retain(|process| {
                matches!(waitpid(*process, Some(WaitPidFlag::WNOHANG)), Ok(nix::sys::wait::WaitStatus::StillAlive))
            });
            if self.abandoned.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

/// The worker's life: a frame of requests in, one frame per reply out, until the parent is gone.
fn serve(mut stream: UnixStream, factory: &Factory, parent: Pid) {
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    if Pid::parent() != parent {
        return;
    }
    // A stuck worker must not keep the reader of our output waiting, so it lets go of it.
    if let Ok(nothing) = std::fs::File::open("/dev/null") {
        let _ = nix::unistd::dup2_stdin(&nothing);
        let _ = nix::unistd::dup2_stdout(&nothing);
        let _ = nix::unistd::dup2_stderr(&nothing);
    }
    let mut kernel = factory();
    loop {
        let mut length = [0; 4];
        if stream.read_exact(&mut length).is_err() {
            return;
        }
        let mut frame = vec![0; u32::from_ne_bytes(length) as usize];
        if stream.read_exact(&mut frame).is_err() {
            return;
        }
        let Ok(requests) = serde_json::from_slice::<Vec<Request>>(&frame) else { return };
        for request in requests {
            let mut replies = kernel.call(std::slice::from_ref(&request));
            let reply = replies.pop().unwrap_or(Reply::TimedOut);
            if stream.write_all(&encode(&reply)).is_err() {
                return;
            }
        }
    }
}

/// A reply as `kind, errno, length, bytes`.
fn encode(reply: &Reply) -> Vec<u8> {
    let (kind, errno, bytes): (u8, i32, &[u8]) = match reply {
        Reply::Bytes(blob) => (0, 0, &blob.0),
        Reply::Error { errno, text } => (1, *errno, text.as_bytes()),
        Reply::TimedOut => (2, 0, &[]),
        Reply::Skipped { because } => (3, 0, because.as_bytes()),
    };
    let mut frame = Vec::with_capacity(9 + bytes.len());
    frame.push(kind);
    frame.extend_from_slice(&errno.to_ne_bytes());
    frame.extend_from_slice(&(bytes.len() as u32).to_ne_bytes());
    frame.extend_from_slice(bytes);
    frame
}

fn receive(stream: &mut UnixStream, deadline: Instant) -> io::Result<Reply> {
    let mut head = [0; 9];
    read_until(stream, &mut head, deadline)?;
    let errno = i32::from_ne_bytes([head[1], head[2], head[3], head[4]]);
    let mut bytes = vec![0; u32::from_ne_bytes([head[5], head[6], head[7], head[8]]) as usize];
    read_until(stream, &mut bytes, deadline)?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(match head[0] {
        0 => Reply::Bytes(Blob(bytes)),
        1 => Reply::Error { errno, text: text(bytes) },
        2 => Reply::TimedOut,
        _ => Reply::Skipped { because: text(bytes) },
    })
}

fn read_until(stream: &mut UnixStream, mut into: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !into.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(into) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(size) => into = &mut into[size..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
