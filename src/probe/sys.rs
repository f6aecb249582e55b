//! The few calls that Rust cannot check: fork, leaving a worker, SIOCETHTOOL, and the local time zone.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd};

use nix::unistd::{ForkResult, Pid};

/// Room behind every ioctl buffer, because the kernel writes as many counters as the driver has at that moment, which
/// may be more than were counted before.
const SLACK: usize = 256 * 1024;

/// Forks. `work` runs in the child, which then leaves without running destructors or handlers of the parent.
pub(super) fn fork_worker(work: impl FnOnce()) -> nix::Result<Pid> {
    // SAFETY: the program has no threads while it probes, so the child may allocate. In the test harness, which has
    // threads, glibc keeps its allocator usable in the child; nothing else of the parent's is touched there.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            // A panic must not unwind into the parent's copy of the stack.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // SAFETY: `_exit` takes no pointers and does not return.
            unsafe { libc::_exit(0) }
        }
    }
}

/// SIOCETHTOOL on a buffer that begins with the command. Yields the buffer as long as it was.
pub(super) fn ethtool_ioctl(socket: BorrowedFd<'_>, interface: &[u8], data: &[u8]) -> Result<Vec<u8>, i32> {
    if interface.is_empty() || interface.len() >= libc::IFNAMSIZ || data.len() < 4 {
        return Err(libc::ENODEV);
    }
    let mut buffer = vec![0u8; data.len() + SLACK];
    buffer[..data.len()].copy_from_slice(data);
    // SAFETY: an all-zero ifreq is valid: it holds bytes, integers and pointers only.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_data = buffer.as_mut_ptr().cast();
    // SAFETY: the kernel reads the name and reads and writes behind `ifru_data`, which points to a live buffer that is
    // longer by SLACK than the caller's structure.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
    if status < 0 {
        return Err(nix::errno::Errno::last_raw());
    }
    buffer.truncate(data.len());
    Ok(buffer)
}

/// Seconds that local time is ahead of universal time at this second; 0 where that is not known.
pub(super) fn local_offset(second: i64) -> i64 {
    // SAFETY: an all-zero tm is valid: it holds integers and a pointer.
    let mut local: libc::tm = unsafe { std::mem::zeroed() };
    let second = second as libc::time_t;
    // SAFETY: both pointers are to live values; the function keeps neither.
    let found = unsafe { libc::localtime_r(&raw const second, &raw mut local) };
    if found.is_null() { 0 } else { local.tm_gmtoff as i64 }
}
