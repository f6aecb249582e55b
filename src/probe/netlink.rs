//! Netlink messages and attributes: writing requests, walking answers. Nothing here trusts a length.

use rtnetlink::packet_core::{NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NlasIterator};

use super::kernel::{Ask, Lock, Protocol, Reply, Request};

/// Type of the message that ends a dump (NLMSG_DONE).
pub(super) const DONE: u16 = 3;
/// Type of the message that carries an errno (NLMSG_ERROR).
pub(super) const ERROR: u16 = 2;
/// Type of a request for sockets; the one behind it closes them.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const HEADER: usize = 16;
/// Times that a dump is made again when the kernel says that it changed meanwhile.
const REDO: usize = 3;
/// The most bytes of a dump: 20,000 links.
const DUMP_LIMIT: usize = 32 << 20;

/// One message of an answer.
pub(super) struct Message<'a> {
    pub kind: u16,
    pub flags: u16,
    pub sequence: u32,
    /// With its header.
    pub whole: &'a [u8],
    pub payload: &'a [u8],
}

/// The messages in `bytes`, as far as their lengths make sense.
pub(super) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let length = u32_at(bytes, 0)? as usize;
        if length < HEADER || length > bytes.len() {
            return None;
        }
        let message = Message {
            kind: u16_at(bytes, 4)?,
            flags: u16_at(bytes, 6)?,
            sequence: u32_at(bytes, 8)?,
            whole: &bytes[..length],
            payload: &bytes[HEADER..length],
        };
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// The attributes in `bytes` without their flag bits, up to the first that makes no sense.
pub(super) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(bytes)
        .map_while(Result::ok)
        .map(|attribute| (attribute.kind() & 0x3fff, attribute.into_inner()))
        .filter_map(|(kind, whole)| {
            let length = usize::from(u16_at(whole, 0)?);
            Some((kind, whole.get(4..length)?))
        })
}

/// The first attribute of this type.
pub(super) fn attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(found, _)| *found == kind).map(|(_, value)| value)
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Text of an attribute up to its zero byte; what is not valid UTF-8 is replaced.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Appends an attribute.
pub(super) fn push(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    out.extend_from_slice(&((value.len() + 4) as u16).to_ne_bytes());
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

/// A request message.
pub(super) fn message(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + payload.len());
    out.extend_from_slice(&((HEADER + payload.len()) as u32).to_ne_bytes());
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(&(flags | NLM_F_REQUEST).to_ne_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(payload);
    out
}

/// A dump request to rtnetlink.
pub(super) fn route_dump(kind: u16, payload: &[u8]) -> Request {
    let bytes = message(kind, NLM_F_DUMP, payload).into();
    Request::new(Ask::Netlink { protocol: Protocol::Route, bytes, limit: DUMP_LIMIT }).lock(Lock::Rtnl)
}

/// A dump of sockets. Waits for no lock of a driver.
pub(super) fn socket_dump(payload: &[u8]) -> Request {
    let bytes = message(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, payload).into();
    Request::new(Ask::Netlink { protocol: Protocol::SockDiag, bytes, limit: DUMP_LIMIT })
}

/// A request to a generic family.
pub(super) fn generic(family: u16, flags: u16, command: u8, version: u8, attributes: &[u8], lock: Lock) -> Request {
    let mut payload = vec![command, version, 0, 0];
    payload.extend_from_slice(attributes);
    let bytes = message(family, flags, &payload).into();
    Request::new(Ask::Netlink { protocol: Protocol::Generic, bytes, limit: DUMP_LIMIT }).lock(lock)
}

/// A request to a generic family other than ethtool.
pub(super) fn family_request(protocol: Protocol, family: u16, flags: u16, command: u8, attributes: &[u8]) -> Request {
    let mut request = generic(family, flags, command, 1, attributes, Lock::Rtnl);
    if let Ask::Netlink { protocol: asked, .. } = &mut request.ask {
        *asked = protocol;
    }
    request
}

/// The name of the generic family that a protocol stands for.
pub(super) fn family_name(protocol: Protocol) -> Option<&'static str> {
    match protocol {
        Protocol::Generic => Some("ethtool"),
        Protocol::Wireless => Some("nl80211"),
        Protocol::Devlink => Some("devlink"),
        Protocol::Route | Protocol::SockDiag => None,
    }
}

/// What an answer amounts to.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Payloads of the data messages.
    pub parts: Vec<Vec<u8>>,
    /// The refusal, if there was one; a dump may give parts and a refusal.
    pub refusal: Option<Reply>,
    /// The kernel said that the list changed while it was read.
    pub interrupted: bool,
    /// A dump reached its NLMSG_DONE with a good status.
    pub complete: bool,
}

impl Answer {
    /// Takes a reply apart.
    pub fn new(reply: Reply) -> Self {
        let bytes = match reply {
            Reply::Bytes(blob) => blob.0,
            refusal => return Self { refusal: Some(refusal), ..Self::default() },
        };
        let mut answer = Self::default();
        for message in messages(&bytes) {
            answer.interrupted |= message.flags & NLM_F_DUMP_INTR != 0;
            match message.kind {
                DONE | ERROR => {
                    let status = u32_at(message.payload, 0).unwrap_or(0).cast_signed();
                    if status < 0 {
                        let text = ext_ack(message.kind, &message).unwrap_or_default();
                        answer.refusal = Some(Reply::Error { errno: status.saturating_neg(), text });
                    } else {
                        // Text that comes with a good status is a left-over.
                        answer.complete = true;
                    }
                    break;
                }
                0..16 => {}
                _ => answer.parts.push(message.payload.to_vec()),
            }
        }
        answer
    }
}

/// The kernel's words: attribute 1 behind the status (and, in an error, behind the request that it repeats).
fn ext_ack(kind: u16, message: &Message<'_>) -> Option<String> {
    const CAPPED: u16 = 0x100;
    const ACK_TLVS: u16 = 0x200;
    let rest = if kind == DONE {
        message.payload.get(4..)?
    } else {
        if message.flags & ACK_TLVS == 0 {
            return None;
        }
        let repeated = if message.flags & CAPPED != 0 { HEADER } else { u32_at(message.payload, 4)? as usize };
        message.payload.get(4..)?.get(repeated.checked_next_multiple_of(4)?..)?
    };
    attribute(rest, 1).map(text)
}

/// Makes requests, and makes those again whose answer says that the list changed meanwhile.
pub(super) fn ask(kernel: &mut dyn super::Kernel, requests: &[Request]) -> Vec<Answer> {
    let mut answers: Vec<Answer> = kernel.call(requests).into_iter().map(Answer::new).collect();
    for _ in 0..REDO {
        let again: Vec<usize> = (0..answers.len()).filter(|at| answers[*at].interrupted).collect();
        if again.is_empty() {
            break;
        }
        let repeat: Vec<Request> = again.iter().map(|at| requests[*at].clone()).collect();
        for (at, reply) in again.iter().zip(kernel.call(&repeat)) {
            let fresh = Answer::new(reply);
            // A second try that fails altogether is worth less than a list that may have a seam.
            if fresh.refusal.is_none() || !fresh.parts.is_empty() {
                answers[*at] = fresh;
            }
        }
    }
    answers
}

/// True for requests that cannot change anything. `family` is what the kernel calls the generic family that is asked.
pub(super) fn only_reads(protocol: Protocol, bytes: &[u8], family: Option<&str>) -> bool {
    let (Some(length), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) else { return false };
    if length as usize != bytes.len() || bytes.len() < HEADER {
        return false;
    }
    match protocol {
        // What DCB does is said by a command of its own.
        Protocol::Route if kind == super::dcb::GET_DCB => bytes.get(HEADER + 1) == Some(&super::dcb::IEEE_GET),
        // New, delete, get and set take turns.
        Protocol::Route => kind >= 16 && kind & 3 == 2,
        Protocol::SockDiag => kind == SOCK_DIAG_BY_FAMILY,
        Protocol::Generic if kind == super::ethtool::CONTROL => {
            // A single family may be asked for by a name, for which the kernel would load a module.
            bytes.get(HEADER) == Some(&3) && u16_at(bytes, 6).is_some_and(|flags| flags & NLM_F_DUMP == NLM_F_DUMP)
        }
        Protocol::Generic | Protocol::Wireless | Protocol::Devlink => {
            let command = bytes.get(HEADER).copied().unwrap_or(0);
            let reads = match protocol {
                Protocol::Wireless => super::wireless::command_name(command).is_some(),
                Protocol::Devlink => super::devlink::command_name(command).is_some(),
                _ => super::ethtool::is_get(command),
            };
            // The same number means other things to other families.
            reads && family.is_some() && family == family_name(protocol)
        }
    }
}

/// Name of an rtnetlink request.
pub(super) fn route_name(kind: u16) -> String {
    match kind {
        18 => "RTM_GETLINK".into(),
        22 => "RTM_GETADDR".into(),
        26 => "RTM_GETROUTE".into(),
        30 => "RTM_GETNEIGH".into(),
        34 => "RTM_GETRULE".into(),
        38 => "RTM_GETQDISC".into(),
        42 => "RTM_GETTCLASS".into(),
        46 => "RTM_GETTFILTER".into(),
        78 => "RTM_GETDCB".into(),
        other => format!("rtnetlink request {other}"),
    }
}

/// Name of a request to a generic family.
pub(super) fn generic_name(protocol: Protocol, family: u16, command: u8) -> String {
    if family == super::ethtool::CONTROL {
        return "CTRL_CMD_GETFAMILY".into();
    }
    let name = match protocol {
        Protocol::Wireless => super::wireless::command_name(command),
        Protocol::Devlink => super::devlink::command_name(command),
        _ => super::ethtool::command_name(command),
    };
    name.map_or_else(|| format!("generic netlink request {command}"), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = message(kind, 0, payload);
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes
    }

    #[test]
    fn a_dump_that_ends_with_an_error_keeps_its_parts_and_the_error() {
        let mut bytes = raw(20, 2, &[1; 8]);
        let mut status = (-5i32).to_ne_bytes().to_vec();
        push(&mut status, 1, b"no such luck\0");
        bytes.extend(raw(DONE, 2, &status));
        let answer = Answer::new(Reply::Bytes(bytes.into()));
        assert_eq!(answer.parts, [vec![1; 8]]);
        assert_eq!(answer.refusal, Some(Reply::Error { errno: 5, text: "no such luck".into() }));
        assert!(!answer.complete);
    }

    #[test]
    fn text_that_comes_with_a_good_status_is_ignored() {
        let mut status = 0i32.to_ne_bytes().to_vec();
        push(&mut status, 1, b"left over\0");
        let answer = Answer::new(Reply::Bytes(raw(DONE, 2, &status).into()));
        assert!(answer.complete && answer.refusal.is_none());
    }

    #[test]
    fn an_error_message_gives_errno_and_words_behind_the_repeated_request() {
        let request = message(20, 0, &[7; 8]);
        let mut payload = (-19i32).to_ne_bytes().to_vec();
        payload.extend(&request);
        push(&mut payload, 1, b"no device matches name\0");
        let answer = Answer::new(Reply::Bytes(raw(ERROR, 0x200, &payload).into()));
        assert_eq!(answer.refusal, Some(Reply::Error { errno: 19, text: "no device matches name".into() }));
        let ack = Answer::new(Reply::Bytes(raw(ERROR, 0, &[0; 20]).into()));
        assert!(ack.complete && ack.refusal.is_none());
    }

    #[test]
    fn an_interrupted_dump_is_made_again_at_most_three_times() {
        struct Restless(usize, usize);
        impl super::super::Kernel for Restless {
            fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
                self.0 += 1;
                let flags = if self.0 <= self.1 { 0x12 } else { 2 };
                let mut bytes = raw(16, flags, &[self.0 as u8; 4]);
                bytes.extend(raw(DONE, 2, &[0; 4]));
                requests.iter().map(|_| Reply::Bytes(bytes.clone().into())).collect()
            }
            fn now_ms(&mut self) -> u64 {
                0
            }
            fn sleep(&mut self, _: u64) {}
        }
        let request = [route_dump(18, &[0; 16])];
        let mut kernel = Restless(0, 2);
        let answers = ask(&mut kernel, &request);
        assert!(!answers[0].interrupted && answers[0].parts == [vec![3; 4]]);
        let mut kernel = Restless(0, 99);
        let answers = ask(&mut kernel, &request);
        assert!(answers[0].interrupted && kernel.0 == 4);
    }

    #[test]
    fn lengths_that_make_no_sense_end_the_walk() {
        assert_eq!(messages(&[0; 64]).count(), 0);
        assert_eq!(messages(&[255; 64]).count(), 0);
        assert_eq!(attributes(&[2, 0, 1, 0, 9, 9]).count(), 0);
        assert_eq!(attributes(&[8, 0, 1, 0, 9, 9]).count(), 0);
        assert_eq!(attributes(&[5, 0, 1, 0x80, 9]).collect::<Vec<_>>(), [(1, &[9u8][..])]);
    }

    #[test]
    fn only_requests_that_read_pass() {
        assert!(only_reads(Protocol::Route, &message(18, 0, &[0; 16]), None));
        for kind in [16, 17, 19, 24, 25] {
            assert!(!only_reads(Protocol::Route, &message(kind, 0, &[0; 16]), None));
        }
        let ethtool = Some("ethtool");
        assert!(only_reads(Protocol::Generic, &message(21, 0, &[4, 1, 0, 0]), ethtool));
        for set in [3, 5, 12, 16, 18, 20, 22, 26, 30] {
            assert!(!only_reads(Protocol::Generic, &message(21, 0, &[set, 1, 0, 0]), ethtool), "{set}");
        }
        assert!(!only_reads(Protocol::Generic, &message(16, NLM_F_DUMP, &[1, 1, 0, 0]), None));
        assert!(only_reads(Protocol::Generic, &message(16, NLM_F_DUMP, &[3, 1, 0, 0]), None));
        assert!(!only_reads(Protocol::Generic, &message(16, 0, &[3, 1, 0, 0]), None), "a family by its name");
        assert!(only_reads(Protocol::SockDiag, &message(20, NLM_F_DUMP, &[0; 56]), None));
        // SOCK_DESTROY, and the requests of before 3.3.
        for kind in [18, 19, 21] {
            assert!(!only_reads(Protocol::SockDiag, &message(kind, NLM_F_DUMP, &[0; 56]), None), "{kind}");
        }
        // A family that is another one than it is asked as, or that nobody knows.
        let stations = message(27, NLM_F_DUMP, &[17, 1, 0, 0]);
        assert!(only_reads(Protocol::Wireless, &stations, Some("nl80211")));
        assert!(!only_reads(Protocol::Wireless, &stations, Some("ethtool")));
        assert!(
            !only_reads(Protocol::Generic, &stations, Some("nl80211"))
                && !only_reads(Protocol::Generic, &stations, None)
        );
        for set in [1, 2, 6, 18, 61] {
            assert!(!only_reads(Protocol::Wireless, &message(27, 0, &[set, 1, 0, 0]), Some("nl80211")), "{set}");
        }
        assert!(only_reads(Protocol::Devlink, &message(22, NLM_F_DUMP, &[52, 1, 0, 0]), Some("devlink")));
        for set in [2, 53, 54, 56, 57, 58] {
            assert!(!only_reads(Protocol::Devlink, &message(22, 0, &[set, 1, 0, 0]), Some("devlink")), "{set}");
        }
        assert!(only_reads(Protocol::Route, &message(78, 0, &[0, 21, 0, 0]), None));
        for set in [2, 20, 22] {
            assert!(!only_reads(Protocol::Route, &message(78, 0, &[0, set, 0, 0]), None), "{set}");
        }
    }
}
