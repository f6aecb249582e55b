//! Wireless links, by nl80211: a dump of the interfaces, and for each of those that is a client the access point and its
//! power saving.

use std::collections::BTreeMap;

use rtnetlink::packet_core::NLM_F_DUMP;

use super::ethtool;
use super::interfaces::{Links, Netdev};
use super::kernel::{Protocol, Reply, Request};
use super::netlink::{self, Answer, attribute, family_request, push, u16_at, u32_at};
use super::plan;
use super::scan::Scan;
use crate::reading::{BitsPerSecond, Decibel, GapKind, Reading, SourceId};
use crate::snapshot::Interface;

const GET_INTERFACE: u8 = 5;
const GET_STATION: u8 = 17;
const GET_POWER_SAVE: u8 = 62;

/// Name of a command that reads.
pub(super) fn command_name(command: u8) -> Option<&'static str> {
    Some(match command {
        GET_INTERFACE => "NL80211_CMD_GET_INTERFACE",
        GET_STATION => "NL80211_CMD_GET_STATION",
        GET_POWER_SAVE => "NL80211_CMD_GET_POWER_SAVE",
        _ => return None,
    })
}

/// NL80211_IFTYPE_STATION and NL80211_IFTYPE_P2P_CLIENT.
const CLIENTS: [u32; 2] = [2, 8];

/// A wireless interface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RadioRow {
    pub index: u32,
    /// It belongs to an access point, and is none itself.
    pub client: bool,
    /// In MHz; `None` while it is tuned to no channel.
    pub frequency: Option<u32>,
}

pub(super) fn radio(payload: &[u8]) -> Option<RadioRow> {
    let body = payload.get(4..)?;
    let number = |kind| attribute(body, kind).and_then(|value| u32_at(value, 0));
    let client = number(5).is_some_and(|kind| CLIENTS.contains(&kind));
    Some(RadioRow { index: number(3)?, client, frequency: number(38).filter(|frequency| *frequency > 0) })
}

/// The access point of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StationRow {
    /// In dBm.
    pub signal: Option<i8>,
    /// In units of 100 kbit/s.
    pub tx: Option<u32>,
    /// In units of 100 kbit/s.
    pub rx: Option<u32>,
}

pub(super) fn station(payload: &[u8]) -> Option<StationRow> {
    let info = attribute(payload.get(4..)?, 21)?;
    // The wider attribute holds rates beyond 6.5 Gbit/s.
    let rate = |kind| {
        let rate = attribute(info, kind)?;
        let wide = attribute(rate, 5).and_then(|value| u32_at(value, 0));
        wide.or_else(|| attribute(rate, 1).and_then(|value| u16_at(value, 0)).map(u32::from)).filter(|rate| *rate > 0)
    };
    let signal = attribute(info, 7).and_then(|value| value.first().copied()).map(u8::cast_signed);
    Some(StationRow { signal, tx: rate(8), rx: rate(14) })
}

pub(super) fn power_save(payload: &[u8]) -> Option<bool> {
    attribute(payload.get(4..)?, 93).and_then(|value| u32_at(value, 0)).map(|state| state != 0)
}

/// Fills the interfaces. `families` answers [`ethtool::families_request`].
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links, families: &Answer) {
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let mut radios: Vec<(usize, &Netdev)> = Vec::new();
    let none = scan.netlink("RTM_GETLINK", "all interfaces");
    for (place, interface) in taken.iter_mut().enumerate() {
        match interface.index.known().and_then(|index| links.at(*index)).filter(|device| device.wifi) {
            Some(device) => radios.push((place, device)),
            None => interface.wireless.mark_absent(none),
        }
    }
    for (place, device) in &radios {
        let path = [b"/sys/class/net/", &device.row.raw_name[..], b"/phy80211/name"].concat();
        let [reply] = scan.batch(&[Request::read(path)]);
        let file = format!("/sys/class/net/{}/phy80211/name", device.name);
        let word = |text: &str| Some(text.trim().to_owned()).filter(|word| !word.is_empty());
        taken[*place].wireless.phy = scan.parsed(&reply, &file, &plan::WIRELESS, &device.name, word);
    }
    if !radios.is_empty() {
        match ethtool::family_number(&families.parts, "nl80211") {
            Some(family) => ask(scan, family, &mut taken, &radios),
            None => {
                for (place, device) in radios {
                    let detail = "the kernel has no nl80211";
                    let gap = scan.gap(GapKind::KernelTooOld, detail, &plan::WIRELESS, &device.name);
                    taken[place].wireless.mark(gap);
                }
            }
        }
    }
    scan.out.interfaces = taken;
}

fn ask(scan: &mut Scan<'_>, family: u16, taken: &mut [Interface], radios: &[(usize, &Netdev)]) {
    let dump = family_request(Protocol::Wireless, family, NLM_F_DUMP, GET_INTERFACE, &[]);
    let listed = netlink::ask(scan.kernel, &[dump]).pop().unwrap_or_default();
    let rows: BTreeMap<u32, RadioRow> =
        listed.parts.iter().filter_map(|payload| radio(payload)).map(|row| (row.index, row)).collect();
    let requests: Vec<Request> = radios
        .iter()
        .flat_map(|(_, device)| {
            let mut body = Vec::new();
            push(&mut body, 3, &device.row.index.to_ne_bytes());
            [
                family_request(Protocol::Wireless, family, NLM_F_DUMP, GET_STATION, &body),
                family_request(Protocol::Wireless, family, 0, GET_POWER_SAVE, &body),
            ]
        })
        .collect();
    let answers = netlink::ask(scan.kernel, &requests);
    for ((place, device), pair) in radios.iter().zip(answers.chunks(2)) {
        let [stations, saving] = pair else { continue };
        let interface = &mut taken[*place];
        let Some(row) = rows.get(&device.row.index) else {
            let gap = match &listed.refusal {
                Some(refusal) => scan.refusal(refusal, &plan::WIRELESS, &device.name),
                None => scan.gap(GapKind::Failed, "nl80211 does not list it", &plan::WIRELESS, &device.name),
            };
            interface.wireless.mark(gap);
            continue;
        };
        fill(scan, interface, *row, stations, saving);
    }
}

fn fill(scan: &mut Scan<'_>, interface: &mut Interface, row: RadioRow, stations: &Answer, saving: &Answer) {
    let name = interface.name.clone();
    let source = scan.netlink("NL80211_CMD_GET_INTERFACE", &name);
    let out = &mut interface.wireless;
    out.frequency = row.frequency.map_or(Reading::Absent(source), |frequency| Reading::Known(frequency, source));
    let source = scan.netlink("NL80211_CMD_GET_POWER_SAVE", &name);
    out.power_save = match (saving.parts.first().and_then(|payload| power_save(payload)), &saving.refusal) {
        (Some(on), _) => Reading::Known(on, source),
        (None, Some(Reply::Error { errno: libc::EOPNOTSUPP, .. })) => Reading::Absent(source),
        (None, Some(refusal)) => Reading::Unknown(scan.refusal(refusal, &plan::WIRELESS, &name)),
        (None, None) => Reading::Unknown(scan.gap(GapKind::Malformed, "an empty answer", &plan::WIRELESS, &name)),
    };
    let source = scan.netlink("NL80211_CMD_GET_STATION", &name);
    if !row.client {
        return out.mark_absent(source);
    }
    match (stations.parts.iter().find_map(|payload| station(payload)), &stations.refusal) {
        (Some(station), _) => {
            let rate = |units: Option<u32>, source: SourceId| match units {
                Some(units) => Reading::Known(BitsPerSecond(u64::from(units) * 100_000), source),
                None => Reading::Absent(source),
            };
            out.signal = station
                .signal
                .map_or(Reading::Absent(source), |signal| Reading::Known(Decibel(f64::from(signal)), source));
            out.tx_bitrate = rate(station.tx, source);
            out.rx_bitrate = rate(station.rx, source);
        }
        // Not connected.
        (None, None) if stations.complete => out.mark_absent(source),
        (None, Some(refusal)) => {
            let gap = scan.refusal(refusal, &plan::WIRELESS, &name);
            out.mark(gap);
        }
        (None, None) => {
            let gap = scan.gap(GapKind::Malformed, "the dump has no end", &plan::WIRELESS, &name);
            out.mark(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(fields: &[(u16, &[u8])]) -> Vec<u8> {
        let mut out = vec![0; 4];
        for (kind, value) in fields {
            push(&mut out, *kind, value);
        }
        out
    }

    #[test]
    fn a_client_knows_its_access_point() {
        let number = |number: u32| number.to_ne_bytes();
        let row = radio(&reply(&[(3, &number(3)), (5, &number(2)), (38, &number(5220))])).unwrap();
        assert_eq!(row, RadioRow { index: 3, client: true, frequency: Some(5220) });
        assert!(!radio(&reply(&[(3, &number(3)), (5, &number(3))])).unwrap().client, "an access point");
        let narrow = &reply(&[(1, &8667u16.to_ne_bytes())])[4..];
        let wide = &reply(&[(1, &8667u16.to_ne_bytes()), (5, &number(115_294))])[4..];
        let info = &reply(&[(7, &[0xc9]), (8, narrow), (14, wide)])[4..];
        let row = station(&reply(&[(21, info)])).unwrap();
        assert_eq!(row, StationRow { signal: Some(-55), tx: Some(8667), rx: Some(115_294) });
        assert_eq!(station(&reply(&[(21, &[])])), Some(StationRow::default()));
        assert_eq!((power_save(&reply(&[(93, &number(1))])), power_save(&reply(&[]))), (Some(true), None));
        assert_eq!((radio(&[]), station(&[]), power_save(&[])), (None, None, None));
    }
}
