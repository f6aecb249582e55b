//! This machine.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, setsockopt, socket, sockopt};
use nix::sys::stat::makedev;
use nix::sys::time::{TimeSpec, TimeVal, TimeValLike};
use nix::time::{ClockId, clock_gettime};
use rtnetlink::packet_core::{NLM_F_DUMP, NLM_F_MULTIPART};
use rtnetlink::sys::{Socket, SocketAddr};

use super::kernel::{Ask, Blob, Kernel, Protocol, Reply, Request};
use super::{ethtool, ioctl, netlink, sys};

/// The kernel fills at most 32 KiB per read of a dump; single messages may be longer.
const RECEIVE: usize = 256 * 1024;

/// Answers from this machine, in this process: a driver that hangs hangs the caller. See [`super::Isolated`].
pub struct Live {
    root: PathBuf,
    started: Instant,
    route: Option<Socket>,
    generic: Option<Socket>,
    sock_diag: Option<Socket>,
    datagram: Option<OwnedFd>,
    sequence: u32,
    buffer: Vec<u8>,
    /// Names of the generic families, as the kernel tells them.
    families: BTreeMap<u16, String>,
}

impl Live {
    /// Reads files below `root`, which is `/` for the machine itself. Netlink and ioctl always ask the running kernel.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            started: Instant::now(),
            route: None,
            generic: None,
            sock_diag: None,
            datagram: None,
            sequence: 0,
            buffer: Vec::new(),
            families: BTreeMap::new(),
        }
    }

    fn answer(&mut self, request: &Request) -> Result<Vec<u8>, Reply> {
        match &request.ask {
            Ask::Netlink { protocol, bytes, limit } => self.netlink(*protocol, &bytes.0, *limit, request.limit_ms),
            Ask::Ioctl { interface, data } => self.ioctl(&interface.0, &data.0),
            Ask::Read { path, limit } => read_regular(&self.path(path)?, *limit),
            Ask::Tail { path, limit } => read_tail(&self.path(path)?, *limit),
            Ask::Records { path, limit } => read_records(&self.path(path)?, *limit, request.limit_ms),
            Ask::Clock => clock(),
            Ask::List { path } => {
                let mut names = Vec::new();
                for entry in fs::read_dir(self.path(path)?).map_err(|error| system(&error))? {
                    names.push(entry.map_err(|error| system(&error))?.file_name().into_vec());
                }
                names.sort();
                Ok(names.into_iter().flat_map(|name| name.into_iter().chain([0])).collect())
            }
            Ask::Link { path } => {
                Ok(fs::read_link(self.path(path)?).map_err(|error| system(&error))?.into_os_string().into_vec())
            }
            Ask::Real { path } => {
                let root = fs::canonicalize(&self.root).map_err(|error| system(&error))?;
                let real = fs::canonicalize(self.path(path)?).map_err(|error| system(&error))?;
                let inside = real.strip_prefix(&root).map_err(|_| Reply::errno(libc::EXDEV))?;
                Ok(Path::new("/").join(inside).into_os_string().into_vec())
            }
            Ask::Exists { path } => fs::metadata(self.path(path)?).map(|_| Vec::new()).map_err(|error| system(&error)),
            Ask::Uname => {
                let uname = nix::sys::utsname::uname().map_err(|errno| Reply::errno(errno as i32))?;
                let fields = [uname.release(), uname.machine(), uname.nodename()];
                Ok(fields.iter().flat_map(|field| field.as_bytes().iter().copied().chain([0])).collect())
            }
            Ask::Variable { process, name } => {
                let owner = if *process == 0 { "self".to_owned() } else { process.to_string() };
                let all = read_regular(&self.path(&format!("/proc/{owner}/environ").into())?, 1 << 20)?;
                all.split(|byte| *byte == 0)
                    .find_map(|entry| entry.strip_prefix(&name.0[..])?.strip_prefix(b"=").map(<[u8]>::to_vec))
                    .ok_or(Reply::errno(libc::ENODATA))
            }
        }
    }

    /// The path below our root; one that climbs out of it is refused.
    fn path(&self, path: &Blob) -> Result<PathBuf, Reply> {
        let path = Path::new(OsStr::from_bytes(&path.0));
        let inside = path.strip_prefix("/").unwrap_or(path);
        if inside.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(Reply::Error { errno: libc::EINVAL, text: "path climbs".into() });
        }
        let joined = self.root.join(inside);
        if self.root == Path::new("/") {
            return Ok(joined);
        }
        // Links of the tree may lead anywhere: only what lies in it is read, or this host would speak for the other.
        let root = fs::canonicalize(&self.root).map_err(|error| system(&error))?;
        match fs::canonicalize(&joined) {
            Ok(real) if !real.starts_with(&root) => {
                Err(Reply::Error { errno: libc::EXDEV, text: "a link that leaves the root".into() })
            }
            _ => Ok(joined),
        }
    }

    fn socket(&mut self, protocol: Protocol) -> std::io::Result<&mut Socket> {
        let (slot, number) = match protocol {
            Protocol::Route => (&mut self.route, libc::NETLINK_ROUTE),
            Protocol::Generic | Protocol::Wireless | Protocol::Devlink => (&mut self.generic, libc::NETLINK_GENERIC),
            Protocol::SockDiag => (&mut self.sock_diag, libc::NETLINK_SOCK_DIAG),
        };
        if slot.is_none() {
            let mut fresh = Socket::new(number as isize)?;
            fresh.bind_auto()?;
            // Only words are lost on kernels before 4.12, which do not know it.
            let _ = fresh.set_ext_ack(true);
            *slot = Some(fresh);
        }
        slot.as_mut().ok_or_else(|| std::io::Error::from_raw_os_error(libc::EIO))
    }

    fn netlink(&mut self, protocol: Protocol, bytes: &[u8], limit: usize, limit_ms: u32) -> Result<Vec<u8>, Reply> {
        let kind = netlink::u16_at(bytes, 4).unwrap_or(0);
        let of_family = netlink::family_name(protocol).is_some() && kind != ethtool::CONTROL;
        if of_family && !self.families.contains_key(&kind) {
            self.learn_families(limit_ms);
        }
        let family = self.families.get(&kind).filter(|_| of_family).map(String::as_str);
        if !netlink::only_reads(protocol, bytes, family) {
            return Err(Reply::Error { errno: libc::EPERM, text: "not a request that only reads".into() });
        }
        self.exchange(protocol, bytes, limit, limit_ms)
    }

    /// Which number a family has is known to the kernel alone; a request is let pass by the name behind its number.
    fn learn_families(&mut self, limit_ms: u32) {
        let request = ethtool::families_request();
        if let Ask::Netlink { protocol, bytes, limit } = &request.ask {
            // The answer is kept on the way.
            let _ = self.exchange(*protocol, &bytes.0, *limit, limit_ms);
        }
    }

    fn exchange(&mut self, protocol: Protocol, bytes: &[u8], limit: usize, limit_ms: u32) -> Result<Vec<u8>, Reply> {
        self.sequence += 1;
        let sequence = self.sequence;
        let mut message = bytes.to_vec();
        message[8..12].copy_from_slice(&sequence.to_ne_bytes());
        let dump = u16::from_ne_bytes([bytes[6], bytes[7]]) & NLM_F_DUMP == NLM_F_DUMP;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(RECEIVE, 0);
        let result = self
            .socket(protocol)
            .map_err(|error| Reply::errno(error.raw_os_error().unwrap_or(libc::EIO)))
            .and_then(|socket| exchange(socket, &message, sequence, dump, limit, limit_ms, &mut buffer));
        self.buffer = buffer;
        match result {
            Ok((answer, complete)) => {
                if !complete {
                    self.forget(protocol);
                }
                if netlink::u16_at(bytes, 4) == Some(ethtool::CONTROL) && protocol == Protocol::Generic {
                    self.families = ethtool::family_names(&answer);
                }
                Ok(answer)
            }
            Err(reply) => {
                self.forget(protocol);
                Err(reply)
            }
        }
    }

    /// Closes the socket, so that what is left of an answer meets nobody.
    fn forget(&mut self, protocol: Protocol) {
        match protocol {
            Protocol::Route => self.route = None,
            Protocol::Generic | Protocol::Wireless | Protocol::Devlink => self.generic = None,
            Protocol::SockDiag => self.sock_diag = None,
        }
    }

    fn ioctl(&mut self, interface: &[u8], data: &[u8]) -> Result<Vec<u8>, Reply> {
        if !ioctl::only_reads(data) {
            return Err(Reply::Error { errno: libc::EPERM, text: "not a request that only reads".into() });
        }
        if self.datagram.is_none() {
            let fresh = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
                .or_else(|_| socket(AddressFamily::Inet6, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None))
                .map_err(|errno| Reply::errno(errno as i32))?;
            self.datagram = Some(fresh);
        }
        let Some(datagram) = &self.datagram else { return Err(Reply::errno(libc::EIO)) };
        sys::ethtool_ioctl(datagram.as_fd(), interface, data).map_err(Reply::errno)
    }
}

/// Sends a request and collects what belongs to it. The flag is false where the answer was cut at `limit`.
fn exchange(
    socket: &Socket,
    message: &[u8],
    sequence: u32,
    dump: bool,
    limit: usize,
    limit_ms: u32,
    buffer: &mut [u8],
) -> Result<(Vec<u8>, bool), Reply> {
    let failed = |errno: Errno| match errno {
        Errno::EAGAIN => Reply::TimedOut,
        other => Reply::errno(other as i32),
    };
    setsockopt(socket, sockopt::ReceiveTimeout, &TimeVal::milliseconds(i64::from(limit_ms))).map_err(failed)?;
    socket
        .send_to(message, &SocketAddr::new(0, 0), 0)
        .map_err(|error| Reply::errno(error.raw_os_error().unwrap_or(libc::EIO)))?;
    let mut answer = Vec::new();
    loop {
        let size = match recv(socket.as_raw_fd(), buffer, MsgFlags::MSG_TRUNC) {
            Err(Errno::EINTR) => continue,
            other => other.map_err(failed)?,
        };
        if size > buffer.len() {
            return Err(Reply::Error { errno: libc::EMSGSIZE, text: format!("a message of {size} bytes") });
        }
        let mut complete = false;
        for part in netlink::messages(&buffer[..size]) {
            if part.sequence != sequence {
                continue;
            }
            answer.extend_from_slice(part.whole);
            answer.resize(answer.len().next_multiple_of(4), 0);
            let last = matches!(part.kind, netlink::DONE | netlink::ERROR);
            complete |= last || (!dump && part.flags & NLM_F_MULTIPART == 0);
        }
        if complete {
            return Ok((answer, true));
        }
        if answer.len() > limit {
            return Ok((answer, false));
        }
    }
}

/// Reads a regular file without ever blocking on a pipe or waking a device.
fn read_regular(path: &Path, limit: usize) -> Result<Vec<u8>, Reply> {
    let mut bytes = Vec::new();
    open_if(path, "not a regular file", Metadata::is_file)?
        .take(limit as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| system(&error))?;
    Ok(bytes)
}

/// The last bytes of a regular file.
fn read_tail(path: &Path, limit: usize) -> Result<Vec<u8>, Reply> {
    let mut file = open_if(path, "not a regular file", Metadata::is_file)?;
    let length = file.metadata().map_err(|error| system(&error))?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limit as u64))).map_err(|error| system(&error))?;
    let mut bytes = Vec::new();
    // A file that grows meanwhile is read as far as it went.
    file.take(limit as u64).read_to_end(&mut bytes).map_err(|error| system(&error))?;
    Ok(bytes)
}

/// The records of the kernel's log, to the one that is the last now. One read gives one record.
fn read_records(path: &Path, limit: usize, limit_ms: u32) -> Result<Vec<u8>, Reply> {
    let device = |metadata: &Metadata| metadata.file_type().is_char_device() && metadata.rdev() == makedev(1, 11);
    let mut file = open_if(path, "not the log of the kernel", device)?;
    let started = Instant::now();
    let patience = Duration::from_millis(u64::from(limit_ms) / 2);
    let mut record = [0; 16 * 1024];
    let mut bytes = Vec::new();
    loop {
        match file.read(&mut record) {
            Ok(0) => break,
            Ok(size) => bytes.extend_from_slice(&record[..size]),
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN) => break,
                // Records were overwritten before they were read: the next read goes on with what is left.
                Some(libc::EPIPE | libc::EINTR) => {}
                _ if bytes.is_empty() => return Err(system(&error)),
                _ => break,
            },
        }
        if bytes.len() > 2 * limit {
            bytes.drain(..bytes.len() - limit);
        }
        // A log that is written as fast as it is read has no end.
        if started.elapsed() > patience {
            break;
        }
    }
    bytes.drain(..bytes.len().saturating_sub(limit));
    Ok(bytes)
}

fn clock() -> Result<Vec<u8>, Reply> {
    let read = |clock| clock_gettime(clock).map_err(|errno| Reply::errno(errno as i32));
    let seconds = |time: TimeSpec| time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9;
    let (kernel, day) = (read(ClockId::CLOCK_MONOTONIC)?, read(ClockId::CLOCK_REALTIME)?);
    let offset = sys::local_offset(day.tv_sec());
    Ok(format!("{:.6} {:.6} {offset}", seconds(kernel), seconds(day)).into_bytes())
}

fn system(error: &std::io::Error) -> Reply {
    Reply::errno(error.raw_os_error().unwrap_or(libc::EIO))
}

/// Opens what is of this kind, before and after.
fn open_if(path: &Path, otherwise: &str, kind: impl Fn(&Metadata) -> bool) -> Result<File, Reply> {
    let odd = || Reply::Error { errno: libc::EINVAL, text: otherwise.to_owned() };
    if !kind(&fs::metadata(path).map_err(|error| system(&error))?) {
        return Err(odd());
    }
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| system(&error))?;
    if !kind(&file.metadata().map_err(|error| system(&error))?) {
        return Err(odd());
    }
    Ok(file)
}

impl Kernel for Live {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let mut replies = Vec::with_capacity(requests.len());
        for request in requests {
            replies.push(self.answer(request).map_or_else(|refusal| refusal, |bytes| Reply::Bytes(Blob(bytes))));
        }
        replies
    }

    fn now_ms(&mut self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn sleep(&mut self, ms: u64) {
        std::thread::sleep(Duration::from_millis(ms));
    }
}
