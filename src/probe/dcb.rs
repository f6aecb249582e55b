//! Priority flow control, by the DCB interface of rtnetlink. There is no dump.

use super::interfaces::{Links, Netdev};
use super::kernel::{Ask, Lock, Protocol, Reply, Request};
use super::netlink::{self, attribute, message, push};
use super::plan;
use super::scan::Scan;
use crate::reading::{GapKind, Reading};
use crate::snapshot::{Bus, Interface};

/// RTM_GETDCB.
pub(super) const GET_DCB: u16 = 78;
/// DCB_CMD_IEEE_GET.
pub(super) const IEEE_GET: u8 = 21;

/// What a port can do and does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PfcRow {
    /// Priorities that it can pause.
    pub priorities: u8,
    /// Bit n is set where priority n is paused by itself.
    pub enabled: u8,
}

/// The kernel looks the name up in its list and loads nothing for it.
fn request(name: &[u8]) -> Request {
    let mut payload = vec![0, IEEE_GET, 0, 0];
    push(&mut payload, 1, &[name, &[0]].concat());
    let bytes = message(GET_DCB, 0, &payload).into();
    Request::new(Ask::Netlink { protocol: Protocol::Route, bytes, limit: 1 << 16 }).lock(Lock::Rtnl)
}

/// Reads the answer; `None` for a port without priority flow control.
pub(super) fn pfc(payload: &[u8]) -> Option<PfcRow> {
    let row = attribute(attribute(payload.get(4..)?, 13)?, 2)?;
    Some(PfcRow { priorities: *row.first()?, enabled: *row.get(1)? })
}

/// Fills the interfaces; only hardware is asked.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links) {
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let elsewhere = scan.netlink("RTM_GETLINK", "all interfaces");
    let mut asked: Vec<(usize, &Netdev)> = Vec::new();
    for (place, interface) in taken.iter_mut().enumerate() {
        let device = interface.index.known().and_then(|index| links.at(*index));
        let may = |interface: &Interface| !matches!(interface.bus.known(), Some(Bus::Virtual | Bus::Usb));
        match device.filter(|device| device.has_device && !device.wifi && may(interface)) {
            Some(device) => asked.push((place, device)),
            None => interface.pfc.mark_absent(elsewhere),
        }
    }
    let requests: Vec<Request> = asked.iter().map(|(_, device)| request(&device.row.raw_name)).collect();
    for ((place, device), answer) in asked.into_iter().zip(netlink::ask(scan.kernel, &requests)) {
        let interface = &mut taken[place];
        let source = scan.netlink("RTM_GETDCB", &device.name);
        match (answer.parts.first(), &answer.refusal) {
            (Some(payload), _) => match pfc(payload) {
                Some(row) => {
                    interface.pfc.enabled_mask = Reading::Known(row.enabled.into(), source);
                    interface.pfc.priorities = Reading::Known(row.priorities.into(), source);
                }
                None => interface.pfc.mark_absent(source),
            },
            // The driver has no DCB, or not that of IEEE; the kernel was built without.
            (None, Some(Reply::Error { errno: libc::EOPNOTSUPP, .. })) => interface.pfc.mark_absent(source),
            (None, Some(refusal)) => {
                let gap = scan.refusal(refusal, &plan::PFC, &device.name);
                interface.pfc.mark(gap);
            }
            (None, None) => {
                let gap = scan.gap(GapKind::Malformed, "an empty answer", &plan::PFC, &device.name);
                interface.pfc.mark(gap);
            }
        }
    }
    scan.out.interfaces = taken;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_and_the_number_of_priorities_are_told() {
        let mut row = vec![0; 136];
        (row[0], row[1]) = (8, 0x18);
        let mut ieee = Vec::new();
        push(&mut ieee, 2, &row);
        let mut payload = vec![0, IEEE_GET, 0, 0];
        push(&mut payload, 1, b"eth0\0");
        let bare = payload.clone();
        push(&mut payload, 13, &ieee);
        assert_eq!(pfc(&payload), Some(PfcRow { priorities: 8, enabled: 0x18 }));
        assert_eq!((pfc(&bare), pfc(&[])), (None, None));
    }
}
