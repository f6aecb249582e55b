//! `netstat -s`: counters as sentences, which change with the version. Each stands for a counter of /proc/net/snmp or
//! /proc/net/netstat; those without a sentence are printed by their names. Zeros are left out below `TcpExt:` and `IpExt:`.

use std::collections::BTreeSet;

use crate::formats::cursor::Cursor;

/// Counters and the sentences for them, with `#` for the number (net-tools statistics.c, old and new wording).
const SENTENCES: &[(&str, &str)] = &[
    ("Ip.InReceives", "# total packets received"),
    ("Ip.InHdrErrors", "# with invalid headers"),
    ("Ip.InAddrErrors", "# with invalid addresses"),
    ("Ip.ForwDatagrams", "# forwarded"),
    ("Ip.InUnknownProtos", "# with unknown protocol"),
    ("Ip.InDiscards", "# incoming packets discarded"),
    ("Ip.InDelivers", "# incoming packets delivered"),
    ("Ip.OutRequests", "# requests sent out"),
    ("Ip.OutDiscards", "# outgoing packets dropped"),
    ("Ip.OutNoRoutes", "# dropped because of missing route"),
    ("Ip.ReasmTimeout", "# fragments dropped after timeout"),
    ("Ip.ReasmReqds", "# reassemblies required"),
    ("Ip.ReasmOKs", "# packets reassembled ok"),
    ("Ip.ReasmFails", "# packet reassemblies failed"),
    ("Ip.ReasmFails", "# packet reassembles failed"),
    ("Ip.FragOKs", "# outgoing packets fragmented ok"),
    ("Ip.FragOKs", "# fragments received ok"),
    ("Ip.FragFails", "# outgoing packets failed fragmentation"),
    ("Ip.FragFails", "# fragments failed"),
    ("Ip.FragCreates", "# fragments created"),
    ("Tcp.ActiveOpens", "# active connection openings"),
    ("Tcp.ActiveOpens", "# active connections openings"),
    ("Tcp.PassiveOpens", "# passive connection openings"),
    ("Tcp.AttemptFails", "# failed connection attempts"),
    ("Tcp.EstabResets", "# connection resets received"),
    ("Tcp.CurrEstab", "# connections established"),
    ("Tcp.InSegs", "# segments received"),
    ("Tcp.OutSegs", "# segments sent out"),
    ("Tcp.OutSegs", "# segments send out"),
    ("Tcp.RetransSegs", "# segments retransmitted"),
    ("Tcp.RetransSegs", "# segments retransmited"),
    ("Tcp.InErrs", "# bad segments received"),
    ("Tcp.OutRsts", "# resets sent"),
    ("Udp.InDatagrams", "# packets received"),
    ("Udp.NoPorts", "# packets to unknown port received"),
    ("Udp.InErrors", "# packet receive errors"),
    ("Udp.OutDatagrams", "# packets sent"),
    ("Udp.RcvbufErrors", "# receive buffer errors"),
    ("Udp.SndbufErrors", "# send buffer errors"),
    ("TcpExt.SyncookiesSent", "# SYN cookies sent"),
    ("TcpExt.SyncookiesRecv", "# SYN cookies received"),
    ("TcpExt.SyncookiesFailed", "# invalid SYN cookies received"),
    ("TcpExt.EmbryonicRsts", "# resets received for embryonic SYN_RECV sockets"),
    ("TcpExt.PruneCalled", "# packets pruned from receive queue because of socket buffer overrun"),
    ("TcpExt.RcvPruned", "# packets pruned from receive queue"),
    ("TcpExt.OfoPruned", "# packets dropped from out-of-order queue because of socket buffer overrun"),
    ("TcpExt.OutOfWindowIcmps", "# ICMP packets dropped because they were out-of-window"),
    ("TcpExt.LockDroppedIcmps", "# ICMP packets dropped because socket was locked"),
    ("TcpExt.TW", "# TCP sockets finished time wait in fast timer"),
    ("TcpExt.TWRecycled", "# time wait sockets recycled by time stamp"),
    ("TcpExt.PAWSActive", "# active connections rejected because of time stamp"),
    ("TcpExt.PAWSEstab", "# packets rejected in established connections because of timestamp"),
    ("TcpExt.PAWSEstab", "# packets rejects in established connections because of timestamp"),
    ("TcpExt.DelayedACKs", "# delayed acks sent"),
    ("TcpExt.DelayedACKLocked", "# delayed acks further delayed because of locked socket"),
    ("TcpExt.DelayedACKLost", "Quick ack mode was activated # times"),
    ("TcpExt.ListenOverflows", "# times the listen queue of a socket overflowed"),
    ("TcpExt.ListenDrops", "# SYNs to LISTEN sockets dropped"),
    ("TcpExt.ListenDrops", "# SYNs to LISTEN sockets ignored"),
    ("TcpExt.TCPHPHits", "# packet headers predicted"),
    ("TcpExt.TCPPureAcks", "# acknowledgments not containing data payload received"),
    ("TcpExt.TCPHPAcks", "# predicted acknowledgments"),
    ("TcpExt.TCPRenoRecovery", "# times recovered from packet loss due to fast retransmit"),
    ("TcpExt.TCPSACKReorder", "Detected reordering # times using SACK"),
    ("TcpExt.TCPRenoReorder", "Detected reordering # times using reno fast retransmit"),
    ("TcpExt.TCPTSReorder", "Detected reordering # times using time stamp"),
    ("TcpExt.TCPFullUndo", "# congestion windows fully recovered without slow start"),
    ("TcpExt.TCPFullUndo", "# congestion windows fully recovered"),
    ("TcpExt.TCPPartialUndo", "# congestion windows partially recovered using Hoe heuristic"),
    ("TcpExt.TCPLossUndo", "# congestion windows recovered without slow start after partial ack"),
    ("TcpExt.TCPLossUndo", "# congestion windows recovered after partial ack"),
    ("TcpExt.TCPRenoFailures", "# timeouts after reno fast retransmit"),
    ("TcpExt.TCPLossFailures", "# timeouts in loss state"),
    ("TcpExt.TCPFastRetrans", "# fast retransmits"),
    ("TcpExt.TCPSlowStartRetrans", "# retransmits in slow start"),
    ("TcpExt.TCPRcvCollapsed", "# packets collapsed in receive queue due to low socket buffer"),
    ("TcpExt.TCPAbortOnData", "# connections reset due to unexpected data"),
    ("TcpExt.TCPAbortOnClose", "# connections reset due to early user close"),
    ("TcpExt.TCPAbortOnMemory", "# connections aborted due to memory pressure"),
    ("TcpExt.TCPAbortOnTimeout", "# connections aborted due to timeout"),
    ("TcpExt.TCPAbortOnLinger", "# connections aborted after user close in linger timeout"),
    ("TcpExt.TCPAbortFailed", "# times unable to send RST due to no memory"),
    ("TcpExt.TCPAbortFailed", "# times unabled to send RST due to no memory"),
    ("TcpExt.TCPMemoryPressures", "TCP ran low on memory # times"),
    ("TcpExt.PAWSPassive", "# passive connections rejected because of time stamp"),
    ("TcpExt.TCPPrequeued", "# packets directly queued to recvmsg prequeue"),
    ("TcpExt.TCPDirectCopyFromBacklog", "# bytes directly in process context from backlog"),
    ("TcpExt.TCPHPHitsToUser", "# packet headers predicted and directly queued to user"),
    ("TcpExt.TCPHPHitsToUser", "# packets header predicted and directly queued to user"),
    ("TcpExt.TCPFACKReorder", "Detected reordering # times using FACK"),
    ("TcpExt.TCPLostRetransmit", "# retransmits lost"),
    ("TcpExt.TCPForwardRetrans", "# forward retransmits"),
    ("TcpExt.TCPSchedulerFailed", "# times receiver scheduled too late for direct processing"),
    ("TcpExt.TCPAbortOnSyn", "# connections reset due to unexpected SYN"),
    ("TcpExt.TCPSackRecovery", "# times recovered from packet loss by selective acknowledgements"),
    ("TcpExt.TCPSackRecovery", "# times recovered from packet loss due to SACK data"),
    ("TcpExt.TCPSACKReneging", "# bad SACK blocks received"),
    ("TcpExt.TCPSACKReneging", "# bad SACKs received"),
    ("TcpExt.TCPDSACKUndo", "# congestion windows recovered without slow start by DSACK"),
    ("TcpExt.TCPDSACKUndo", "# congestion window recovered without slow start using DSACK"),
    ("TcpExt.TCPDSACKUndo", "# congestion windows recovered using DSACK"),
    ("TcpExt.TCPLoss", "# TCP data loss events"),
    ("TcpExt.TCPSackFailures", "# timeouts after SACK recovery"),
    ("TcpExt.TCPTimeouts", "# other TCP timeouts"),
    ("TcpExt.TCPSackRecoveryFail", "# SACK retransmits failed"),
    ("TcpExt.TCPSackRecoveryFail", "# sack retransmits failed"),
    ("TcpExt.TCPRenoRecoveryFail", "# classic Reno fast retransmits failed"),
    ("TcpExt.TCPRenoRecoveryFail", "# reno fast retransmits failed"),
    ("TcpExt.TCPDSACKOldSent", "# DSACKs sent for old packets"),
    ("TcpExt.TCPDSACKOfoSent", "# DSACKs sent for out of order packets"),
    ("TcpExt.TCPDSACKRecv", "# DSACKs received"),
    ("TcpExt.TCPDSACKOfoRecv", "# DSACKs for out of order packets received"),
    ("TcpExt.TWKilled", "# TCP sockets finished time wait in slow timer"),
    ("TcpExt.TCPDirectCopyFromPrequeue", "# bytes directly received in process context from prequeue"),
    ("TcpExt.TCPPrequeueDropped", "# packets dropped from prequeue"),
];

/// Headings.
const SECTIONS: [&str; 14] = [
    "Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt", "Ip6", "Icmp6", "Udp6",
    "UdpLite6", "Sctp",
];

/// Counters that every kernel of the last fifteen years has, and that are printed unless they are zero.
const PRINTED_UNLESS_ZERO: [&str; 16] = [
    "TcpExt.SyncookiesSent",
    "TcpExt.PruneCalled",
    "TcpExt.RcvPruned",
    "TcpExt.OfoPruned",
    "TcpExt.ListenOverflows",
    "TcpExt.ListenDrops",
    "TcpExt.TCPLostRetransmit",
    "TcpExt.TCPFastRetrans",
    "TcpExt.TCPSlowStartRetrans",
    "TcpExt.TCPTimeouts",
    "TcpExt.TCPRcvCollapsed",
    "TcpExt.TCPAbortOnMemory",
    "TcpExt.TCPMemoryPressures",
    "Ip.ReasmReqds",
    "Ip.ReasmFails",
    "Ip.FragCreates",
];

/// What one output holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Line of the first row.
    pub line: u32,
    /// Counters as `Tcp.RetransSegs`.
    pub rows: Vec<(String, u64)>,
    /// Headings that were met.
    pub sections: Vec<&'static str>,
}

impl Statistics {
    /// True where no part is missing: then what is not printed is zero.
    fn is_whole(&self) -> bool {
        ["Ip", "Tcp", "Udp", "TcpExt", "IpExt"].iter().all(|section| self.sections.contains(section))
    }

    /// Adds the counters that were left out for being zero, where the output is whole.
    #[must_use]
    pub fn with_zeros(mut self) -> Self {
        if self.is_whole() {
            for name in PRINTED_UNLESS_ZERO {
                if !self.rows.iter().any(|(held, _)| held == name) {
                    self.rows.push((name.to_owned(), 0));
                }
            }
        }
        self
    }
}

fn section(text: &str) -> Option<&'static str> {
    let name = text.strip_suffix(':')?;
    SECTIONS.into_iter().find(|section| *section == name)
}

/// Replaces the one number of a sentence.
fn cut(text: &str) -> Option<(String, u64)> {
    let text = text.trim().trim_end_matches('.');
    let word = text.split(' ').find(|word| word.starts_with(|char: char| char.is_ascii_digit()))?;
    Some((text.replacen(word, "#", 1), word.parse().ok()?))
}

/// The counter of a line. Without a heading above it the sentence alone says it, or a name that is of one protocol only.
fn row(text: &str, section: Option<&str>) -> Option<(String, u64)> {
    if let Some((name, value)) = text.trim().split_once(": ")
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && let Ok(value) = value.trim().parse()
    {
        let section = section.or_else(|| protocol_of(name))?;
        return Some((format!("{section}.{name}"), value));
    }
    let (sentence, value) = cut(text)?;
    let fits = |name: &str| section.is_none_or(|section| name.split('.').next() == Some(section));
    let known = SENTENCES.iter().find(|(name, known)| *known == sentence && fits(name));
    known.map(|(name, _)| ((*name).to_owned(), value))
}

fn protocol_of(name: &str) -> Option<&'static str> {
    match name {
        "RcvbufErrors" | "SndbufErrors" => Some("Udp"),
        "IPReversePathFilter" | "PFMemallocDrop" | "ArpFilter" | "BusyPollRxPackets" => Some("TcpExt"),
        "InOctets" | "OutOctets" | "InNoECTPkts" | "InCEPkts" => Some("IpExt"),
        _ if name.starts_with("TCP") => Some("TcpExt"),
        _ => None,
    }
}

/// True for a line with which an output may begin, although nobody says what it is.
pub fn begins(text: &str) -> bool {
    let sentence = || row(text, None).is_some_and(|(name, _)| name.starts_with("TcpExt.") || name.starts_with("Tcp."));
    text == "Ip:" || text == "Tcp:" || text == "TcpExt:" || sentence() && !text.trim().contains(": ")
}

/// Lines that hold nothing for us: rows of ICMP, and lines without a number.
fn is_mute(text: &str, section: Option<&str>) -> bool {
    let text = text.trim();
    text.starts_with("ICMP ")
        || text.starts_with("Forwarding")
        || text.starts_with("error parsing /proc/net/")
        || section.is_some_and(|section| !matches!(section, "Ip" | "Tcp" | "Udp" | "TcpExt" | "IpExt"))
}

/// Reads one output. A counter that comes again begins the next one.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Statistics> {
    let mut statistics = Statistics::default();
    let mut current: Option<&'static str> = None;
    let mut met: BTreeSet<String> = BTreeSet::new();
    let start = cursor.position();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim_end();
        if let Some(section) = section(text.trim()) {
            if statistics.sections.contains(&section) {
                break;
            }
            statistics.sections.push(section);
            current = Some(section);
        } else if let Some((name, value)) = row(text, current) {
            if !met.insert(name.clone()) {
                break;
            }
            if statistics.rows.is_empty() {
                statistics.line = line.number;
            }
            statistics.rows.push((name, value));
        } else if is_mute(text, current) && (text.starts_with(' ') || text.starts_with("error parsing")) {
            // Understood, and nothing to keep.
        } else if current.is_some() && text.starts_with("    ") && cut(text).is_some() {
            // A sentence of another version.
            cursor.pass();
            continue;
        } else {
            break;
        }
        cursor.take();
    }
    (cursor.position() > start).then_some(statistics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> Vec<Statistics> {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        std::iter::from_fn(|| parse(&mut cursor)).collect()
    }

    fn get(statistics: &Statistics, name: &str) -> Option<u64> {
        statistics.rows.iter().find(|(held, _)| held == name).map(|(_, value)| *value)
    }

    #[test]
    fn sentences_of_old_and_new_versions() {
        let text = "Ip:\n    Forwarding: 2\n    8727 total packets received\nIcmp:\n    1 ICMP messages received\n\
            \u{20}   ICMP input histogram:\n        destination unreachable: 1\nTcp:\n    5 active connections openings\n\
            \u{20}   191055808 segments retransmited\n    15511 bad segments received.\nUdp:\n    71 packets to unknown port received.\n\
            \u{20}   RcvbufErrors: 7\nTcpExt:\n    Quick ack mode was activated 4 times\n\
            \u{20}   5191585 times the listen queue of a socket overflowed\n    TCPLostRetransmit: 28\n\
            \u{20}   12 words of a version to come\n    Detected reordering 24 times using FACK\nIpExt:\n    InOctets: 378179412\nnext\n";
        let found = read(text);
        assert_eq!(found.len(), 1);
        for (name, value) in [
            ("Ip.InReceives", 8727),
            ("Tcp.ActiveOpens", 5),
            ("Tcp.RetransSegs", 191_055_808),
            ("Tcp.InErrs", 15_511),
            ("Udp.NoPorts", 71),
            ("Udp.RcvbufErrors", 7),
            ("TcpExt.DelayedACKLost", 4),
            ("TcpExt.ListenOverflows", 5_191_585),
            ("TcpExt.TCPLostRetransmit", 28),
            ("TcpExt.TCPFACKReorder", 24),
            ("IpExt.InOctets", 378_179_412),
        ] {
            assert_eq!(get(&found[0], name), Some(value), "{name}");
        }
        let whole = found[0].clone().with_zeros();
        assert_eq!(
            (get(&whole, "TcpExt.ListenDrops"), get(&whole, "TcpExt.ListenOverflows")),
            (Some(0), Some(5_191_585))
        );
        assert_eq!(get(&whole, "TcpExt.TCPBacklogDrop"), None);
    }

    #[test]
    fn what_a_filter_left_proves_no_zero() {
        let found = read(
            "    12178939 times the listen queue of a socket overflowed\n    12247395 SYNs to LISTEN sockets dropped\n\
            \u{20}   TCPBacklogDrop: 3\n    InCsumErrors: 9\n",
        )
        .remove(0)
        .with_zeros();
        assert_eq!(found.rows.len(), 3);
        assert_eq!(get(&found, "TcpExt.TCPBacklogDrop"), Some(3));
        let again = read("    353357449 packet reassembles failed\n    353359152 packet reassembles failed\n");
        let values: Vec<_> = again.iter().map(|one| get(one, "Ip.ReasmFails")).collect();
        assert_eq!(values, [Some(353_357_449), Some(353_359_152)]);
    }

    #[test]
    fn other_lines_are_none() {
        for text in ["tcp:\n\t123 packets sent\n", "5 apples\n", "time: 5\n", "\n", "TCP: inuse 91 orphan 0\n"] {
            assert!(read(text).is_empty(), "{text}");
            assert!(!begins(text.trim_end()));
        }
        assert!(begins("    5191585 SYNs to LISTEN sockets dropped"));
    }
}
