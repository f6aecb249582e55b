//! Measured results that the user gave.

use std::collections::BTreeSet;

use super::catalogue::{DEVICE, INTERFACE, MEASUREMENT};
use super::ceilings::{Asked, WindowOf, policers, window_of};
use super::entry::{Entry, derived, facts};
use super::unit::Unit;
use super::{Derived, Facts};
use crate::ceiling::combine::Mechanism;
use crate::ceiling::shaper::policer;
use crate::ceiling::verdict::{Conditions, Verdict, caveats, judge};
use crate::ceiling::{Ceiling, Direction, Traffic};
use crate::lang::{State, Type, Value, Words};
use crate::reading::{BitsPerSecond, Bytes, Reading, Seconds, Version, numbers};
use crate::snapshot::Measurement;

/// First version of iperf3 that runs its parallel streams in threads of their own.
const THREADED_IPERF3: &str = "3.16";

/// MTU of Ethernet, in bytes, where none was read.
const USUAL_MTU: u64 = 1500;
/// Bytes of a packet that are no payload: IPv4 and TCP with timestamps.
const HEADERS: u64 = 52;
/// Most bytes of payload that a segment on a wire has: an IPv4 packet has 65,535.
const LARGEST_SEGMENT: u64 = 65_535 - HEADERS;

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = facts! { Measurement, Measurement;
        "rate" = rate: BitsPerSecond, "iperf3 -c {peer} -P 4 -t 30", "measured rate";
        "duration" = duration: Seconds, "iperf3 -c {peer} -P 4 -t 30", "length of the test";
        "streams" = streams: u32, "iperf3 -c {peer} -P 4 -t 30", "parallel streams";
        "retransmits" = retransmits: u64, "iperf3 -c {peer} -P 4 -t 30", "segments that the sender sent again";
        "sends" = sends: bool, "iperf3 -c {peer} -P 4 -t 30", "direction: this host sent the data";
        "protocol" = protocol: String, "iperf3 -c {peer} -P 4 -t 30", "tcp, udp, rdma or infiniband";
        "both_ways" = both_ways: bool, "iperf3 -c {peer} --bidir -t 30", "the other direction ran at the same time";
        "rdma_mtu" = rdma_mtu: Bytes, "ib_write_bw --report_gbits {peer}", "payload of one packet of a test of RDMA";
        "binary_megabytes" = binary_megabytes: bool, "ib_write_bw --report_gbits {peer}", "the rate was printed as MB and meant 2^20 bytes";
        "stalled" = stalled: bool, "iperf3 -c {peer} -t 30", "stall of the sender: less than a megabyte and then nothing for three intervals or more";
        "stalled_window" = stalled_window: Bytes, "iperf3 -c {peer} -t 30", "congestion window that stood still meanwhile";
        "version" = version: Version, "iperf3 --version", "version of the program";
        "window_option" = window_option: Bytes, "iperf3 -c {peer} -P 4 -t 30", "buffer size asked for with an option";
        "peer" = peer_address: String, "iperf3 -c {peer} -P 4 -t 30", "address of the other end";
        "receiver" = receiver_address: String, "iperf3 -c {peer} -P 4 -t 30", "address that the data was sent to";
        "interface" = interface: String, "ip route get {peer}", "interface of the test";
    };
    entries.extend([
        derived("tool", Type::Text, Unit::Plain, "program", |facts, index| {
            facts
                .measurement(index)
                .map_or_else(Derived::none, |one| Derived::fact(Value::Text(one.tool.as_str().into())))
        }),
        derived(
            "single_threaded",
            Type::Bool,
            Unit::Plain,
            "threading of the program: one thread serves all streams",
            single_threaded,
        ),
        derived("retrans_ratio", Type::PLAIN, Unit::Share, "share of the segments that were sent again", retrans_ratio),
        derived("iface", Type::Entity(INTERFACE), Unit::Plain, "interface of the test", |facts, index| {
            let from = facts.key(MEASUREMENT, index, "interface");
            let Some(one) = facts.measurement(index) else { return Derived::none() };
            let found = one.interface.known().and_then(|name| facts.topology().interface("", name));
            Derived::of(
                found.map_or(State::Unknown, |at| State::Known(Value::Entity(Facts::entity(INTERFACE, at)))),
                from,
            )
        }),
        derived("target", Type::Text, Unit::Plain, "address of the receiver: as the sender reaches it", target),
        derived(
            "verdict",
            Type::Word(&VERDICTS),
            Unit::Plain,
            "verdict: against the ceiling of its direction",
            own_verdict,
        ),
        derived(
            "share",
            Type::PLAIN,
            Unit::Share,
            "rate as a share of the interface's typical ceiling in its direction",
            share,
        ),
    ]);
    entries
}

fn single_threaded(facts: &Facts<'_>, index: usize) -> Derived {
    let from = facts.key(MEASUREMENT, index, "version");
    let Some(one) = facts.measurement(index) else { return Derived::none() };
    if one.tool != "iperf3" {
        return Derived::of(State::FALSE, from);
    }
    let threaded = THREADED_IPERF3.parse::<Version>().map_or_else(|_| Vec::new(), |version| version.parts);
    let old = one.version.known().map(|version| version.parts < threaded);
    Derived::of(old.map_or(State::Unknown, |old| State::Known(Value::Bool(old))), from)
}

/// Retransmitted segments over all segments of the data: rate and duration give the bytes, the segment size their number. Where
/// the size was not told, that of the MTU of the interface is taken, with timestamps: 1448 bytes at 1500.
fn retrans_ratio(facts: &Facts<'_>, index: usize) -> Derived {
    let from =
        ["retransmits", "rate", "duration"].iter().flat_map(|path| facts.key(MEASUREMENT, index, path)).collect();
    let Some(one) = facts.measurement(index) else { return Derived::none() };
    let (Some(again), Some(rate), Some(seconds)) = (one.retransmits.known(), one.rate.known(), one.duration.known())
    else {
        return Derived::unknown(from);
    };
    let (mss, assumed) = if let Some(mss) = one.mss.known() {
        (mss.0 as f64, Vec::new())
    } else {
        let at = one.interface.known().and_then(|name| facts.topology().interface("", name));
        let mtu = at.and_then(|at| facts.snapshot().interfaces[at].mtu.known()).map_or(USUAL_MTU, |mtu| mtu.0);
        let size = mtu.saturating_sub(HEADERS).clamp(1, LARGEST_SEGMENT);
        (size as f64, vec![format!("segments of {size} bytes")])
    };
    let segments = rate.0 as f64 * seconds.0 / 8.0 / mss;
    let state = if segments > 0.0 { State::Known(Value::Number(*again as f64 / segments)) } else { State::Unknown };
    Derived::of(state, from).assuming(assumed)
}

/// The receiver's address as the result tells it, else that of the interface of this host that received.
fn target(facts: &Facts<'_>, index: usize) -> Derived {
    let Some(one) = facts.measurement(index) else { return Derived::none() };
    let mut from = facts.key(MEASUREMENT, index, "receiver");
    if let Some(address) = one.receiver_address.known() {
        return Derived::of(State::Known(Value::Text(address.as_str().into())), from);
    }
    let at = one.interface.known().and_then(|name| facts.topology().interface("", name));
    if let (Some(false), Some(at)) = (one.sends.known(), at) {
        return facts.same_as(INTERFACE, at, "ip_address");
    }
    from.extend(facts.key(MEASUREMENT, index, "sends"));
    Derived::unknown(from)
}

/// Address of the other end of the results, where they agree in it; absent where there are none.
pub(super) fn peer(facts: &Facts<'_>, interface: Option<usize>) -> Derived {
    let State::Known(Value::List(mine)) = list(facts, interface.as_ref().map(std::slice::from_ref)).state else {
        return Derived::none();
    };
    let indexes =
        || mine.iter().filter_map(|one| if let Value::Entity(one) = one { Some(one.index as usize) } else { None });
    let from = indexes().flat_map(|index| facts.key(MEASUREMENT, index, "peer")).collect();
    let peers: Option<BTreeSet<&String>> = indexes().map(|at| facts.measurement(at)?.peer_address.known()).collect();
    match peers.as_ref().map(|peers| (peers.len(), peers.first())) {
        Some((1, Some(peer))) => Derived::of(State::Known(Value::Text(peer.as_str().into())), from),
        Some((0, _)) => Derived::absent(from),
        _ => Derived::unknown(from),
    }
}

/// The result with the largest share of segments that were sent again; absent where none was given.
pub(super) fn worst(facts: &Facts<'_>) -> Derived {
    let count = facts.entities(MEASUREMENT).count();
    let ratios: Vec<Derived> = (0..count).map(|index| retrans_ratio(facts, index)).collect();
    let from = ratios.iter().flat_map(|one| one.from.iter().copied()).collect();
    let known = ratios.iter().enumerate().filter_map(|(index, one)| match one.state {
        State::Known(Value::Number(ratio)) => Some((index, ratio)),
        _ => None,
    });
    // Of equal ones the first.
    let worst = known.reduce(|worst, one| if one.1 > worst.1 { one } else { worst });
    match worst {
        Some((index, _)) => Derived::of(State::Known(Value::Entity(Facts::entity(MEASUREMENT, index))), from),
        None if count == 0 => Derived::absent(from),
        None => Derived::unknown(from),
    }
}

fn share(facts: &Facts<'_>, index: usize) -> Derived {
    let mut from = facts.key(MEASUREMENT, index, "rate");
    let Some(one) = facts.measurement(index) else { return Derived::none() };
    let Some(at) = interface_of(facts, one) else {
        return Derived::unknown(facts.key(MEASUREMENT, index, "interface"));
    };
    from.extend(facts.key(INTERFACE, at, "ceiling.typical"));
    let typical = against(facts, at, one).map(|(ceiling, _)| ceiling.typical_bps);
    match (one.rate.known(), typical) {
        (Some(rate), Some(typical)) if typical > 0.0 => {
            Derived::of(State::Known(Value::Number(rate.0 as f64 / typical)), from)
        }
        _ => Derived::unknown(from),
    }
}

fn interface_of(facts: &Facts<'_>, one: &Measurement) -> Option<usize> {
    one.interface.known().and_then(|name| facts.topology().interface("", name))
}

/// The ceiling that a result is held against, and what binds there: that of its direction; for one flow over a bond that of one
/// member; for both directions at once what each then gets; for RDMA that of its packets. A result of unknown direction that fits
/// what is held back was most likely sent.
fn against(facts: &Facts<'_>, interface: usize, one: &Measurement) -> Option<(Ceiling, Mechanism)> {
    let both_ways = one.both_ways.known() == Some(&true);
    let rdma_mtu = one.rdma_mtu.known().map(|mtu| mtu.0.saturating_add(u64::from(RDMA_HEADERS)));
    let special = (both_ways || rdma_mtu.is_some()).then(|| {
        let mtu = facts.snapshot().interfaces[interface].mtu.known().map(|mtu| mtu.0);
        let mut asked = Asked::at(rdma_mtu.or(mtu));
        if rdma_mtu.is_some() {
            asked.traffic = Traffic::RoceV2;
        }
        if both_ways {
            asked.direction = Some(Direction::Bidirectional);
        }
        facts.ceiling_asked(interface, asked)
    });
    let found = match &special {
        Some(found) => found,
        None => facts.interface_ceiling(interface)?,
    };
    let sends = one.sends.known().copied();
    let held_back = found.combined.as_ref().filter(|whole| {
        let rate = one.rate.known().map_or(0.0, |rate| rate.0 as f64);
        sends.is_none() && found.receiving.is_some() && whole.ceiling.contains(rate)
    });
    let whole = held_back.or_else(|| found.towards(sends))?;
    match (&found.one_flow, one.streams.known()) {
        (Some(one_flow), Some(1)) => Some((one_flow.clone(), whole.binding)),
        _ => Some((whole.ceiling.clone(), whole.binding)),
    }
}

/// The best result of a direction of an interface beside its ceiling.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Which result.
    pub measurement: usize,
    /// This host sent; none where that is not known.
    pub sends: Option<bool>,
    /// The ceiling that it was held against.
    pub ceiling: Ceiling,
    /// What binds there.
    pub binding: Mechanism,
    /// Rates of all results of that direction, bit/s, in the order in which they were given.
    pub repeats: Vec<f64>,
    /// Its rate, bit/s.
    pub bps: f64,
    /// Where it stands.
    pub verdict: Verdict,
    /// Its rate over the typical ceiling.
    pub share: f64,
    /// What the windows of its flows allow, where that is less than the ceiling.
    pub window: Option<Ceiling>,
    /// Buses that the result fits, in words, where that of the card was not read: there is no verdict then.
    pub unread_bus: Option<String>,
    /// Why the comparison is weaker than it looks, in words.
    pub caveats: Vec<String>,
}

/// IPv4, UDP, transport header and invariant check of a RoCEv2 packet, bytes.
const RDMA_HEADERS: u32 = 44;

/// The verdicts, as a vocabulary of the language.
pub(super) static VERDICTS: Words =
    Words { name: "measured verdict", words: &["at_ceiling", "close", "not_the_limit", "above_model"], open: false };

impl Facts<'_> {
    /// The fastest result that was measured over an interface, judged against its ceiling.
    pub fn judged(&self, interface: usize) -> Option<Judged> {
        self.judged_directions(interface).into_iter().reduce(|best, one| if one.bps > best.bps { one } else { best })
    }

    /// The fastest result of each direction that was measured over an interface: sent, received, not known which.
    pub fn judged_directions(&self, interface: usize) -> Vec<Judged> {
        let results = self.snapshot().host.measured.known().map_or(&[][..], Vec::as_slice);
        let mine = |one: &Measurement| interface_of(self, one) == Some(interface);
        // A UDP sender offers what it was told to: its rate says nothing of what the interface could do.
        let comparable = |one: &Measurement| match one.protocol.known().map(String::as_str) {
            None | Some("tcp") => true,
            Some("rdma") => one.rdma_mtu.known().is_some(),
            Some(_) => false,
        };
        let rates = results.iter().enumerate().filter(|(_, one)| mine(one) && comparable(one));
        let rates: Vec<_> = rates.filter_map(|(at, one)| Some((at, one, one.rate.known()?.0 as f64))).collect();
        let of_direction = |sends: Option<bool>| {
            let runs: Vec<_> = rates.iter().filter(|(_, one, _)| one.sends.known().copied() == sends).collect();
            let (at, one, bps) = runs.iter().copied().reduce(|best, one| if one.2 > best.2 { one } else { best })?;
            let repeats = runs.iter().map(|run| run.2).collect();
            self.judge_one(interface, (*at, one), *bps, repeats)
        };
        [Some(true), Some(false), None].into_iter().filter_map(of_direction).collect()
    }

    fn judge_one(
        &self,
        interface: usize,
        (at, one): (usize, &Measurement),
        bps: f64,
        repeats: Vec<f64>,
    ) -> Option<Judged> {
        let (ceiling, binding) = against(self, interface, one)?;
        let buses = self.knowledge().buses();
        let judgement = judge(bps, &ceiling, buses)?;
        let sends = one.sends.known().copied();
        let is_rdma = one.rdma_mtu.known().is_some();
        let conditions = Conditions {
            direction: sends.map(|sends| if sends { Direction::Transmit } else { Direction::Receive }),
            // One queue pair of RDMA needs no core and no window.
            streams: one.streams.known().map(|streams| if is_rdma { u32::MAX } else { *streams }),
            seconds: one.duration.known().map(|duration| duration.0),
        };
        let mut caveats = [judgement.caveats, caveats(&conditions, None, buses)].concat();
        caveats.extend(self.one_thread(at, one, bps));
        let window = self.windows(interface, one, &ceiling);
        caveats.extend(window.as_ref().map(|window| window_in_words(window, bps)));
        caveats.extend(self.policed(interface, sends, bps));
        let unread_bus = self.on_unread_bus(interface, sends, bps);
        caveats.extend(unread_bus.clone());
        if let Some(taken) = self.interface_ceiling(interface).and_then(|found| found.taken_sending.clone())
            && sends != Some(false)
            && judgement.verdict == Verdict::NotTheLimit
        {
            caveats.push(format!("taken: {taken}"));
        }
        let (verdict, share) = (judgement.verdict, judgement.share_of_typical);
        Some(Judged {
            measurement: at,
            sends,
            ceiling,
            window: window.map(|window| window.ceiling),
            unread_bus,
            binding,
            repeats,
            bps,
            verdict,
            share,
            caveats,
        })
    }

    /// An iperf3 that runs all streams in one thread ends where one core ends.
    fn one_thread(&self, at: usize, one: &Measurement, bps: f64) -> Option<String> {
        let several = one.streams.known().is_some_and(|streams| *streams > 1);
        let fast = bps > self.knowledge().buses().verdict.one_thread_bps.value;
        let old = single_threaded(self, at).state == State::TRUE;
        (several && fast && old)
            .then(|| format!("iperf3 before {THREADED_IPERF3} runs all streams in one thread: one core may bind"))
    }

    /// What the windows of a result allow, where that is less than what the interface carries.
    fn windows(&self, interface: usize, one: &Measurement, ceiling: &Ceiling) -> Option<WindowOf> {
        let mtu = self.snapshot().interfaces[interface].mtu.known().map(|mtu| mtu.0);
        window_of(self, one, mtu).filter(|window| window.ceiling.typical_bps < ceiling.typical_bps)
    }

    /// Buses that a result fits, where that of the card was not read: which of them it is, or none, only root can tell.
    fn on_unread_bus(&self, interface: usize, sends: Option<bool>, bps: f64) -> Option<String> {
        let found = self.interface_ceiling(interface)?;
        let way = |direction| match direction {
            Direction::Receive => sends != Some(true),
            Direction::Transmit => sends != Some(false),
            Direction::Bidirectional => true,
        };
        let fit = found.candidates.iter().filter(|one| way(one.direction) && one.ceiling.contains(bps));
        let mut names: Vec<String> = fit
            .map(|one| match one.read_size {
                Some(size) => format!("{} with reads of {size} B", one.bus),
                None => one.bus.clone(),
            })
            .collect();
        names.dedup();
        let device = self.snapshot().interfaces[interface].device.known()?;
        (!names.is_empty()).then(|| {
            format!(
                "its bus was not read, and the result fits {}, or the processors: sudo lspci -vv -s {device} shows the bus",
                names.join(", ")
            )
        })
    }

    /// A policer that a result stands at, in words.
    fn policed(&self, interface: usize, sends: Option<bool>, bps: f64) -> Option<String> {
        let of_way = policers(&self.snapshot().interfaces[interface]).filter(|(receives, _)| sends != Some(*receives));
        let mtu = self.snapshot().interfaces[interface].mtu.known().map(|mtu| mtu.0);
        let framing = Asked::at(mtu).framing(self, 0);
        let buses = self.knowledge().buses();
        let at = of_way.map(|(_, rate)| (rate, policer(rate, &framing, buses))).find(|(_, lets)| lets.contains(bps));
        at.map(|(rate, _)| {
            format!(
                "a policer drops what comes above {}: what is left for TCP is about this, so that probably binds",
                numbers::rate(rate)
            )
        })
    }
}

fn window_in_words(window: &WindowOf, bps: f64) -> String {
    let allows = numbers::rate(window.ceiling.typical_bps);
    let milliseconds = numbers::significant(window.rtt_seconds * 1e3, 2);
    let what = if window.streams == 1 { "the window of its flow allows" } else { "the windows of its flows allow" };
    let binds = if bps >= window.ceiling.lo_bps { ", so that is what binds" } else { "" };
    format!("over a round trip of {milliseconds} ms {what} about {allows}{binds}")
}

/// The word for a verdict.
fn word(verdict: Verdict) -> Value {
    Value::Word(
        match verdict {
            Verdict::AtCeiling => "at_ceiling",
            Verdict::Close => "close",
            Verdict::NotTheLimit => "not_the_limit",
            Verdict::ModelOrInputWrong => "above_model",
        }
        .into(),
    )
}

/// Where one result stands against the ceiling of its direction; unknown where its interface has none.
fn own_verdict(facts: &Facts<'_>, index: usize) -> Derived {
    let mut from = facts.key(MEASUREMENT, index, "rate");
    let Some(one) = facts.measurement(index) else { return Derived::none() };
    let Some(at) = interface_of(facts, one) else {
        return Derived::unknown(facts.key(MEASUREMENT, index, "interface"));
    };
    from.extend(facts.key(INTERFACE, at, "ceiling.typical"));
    let ceiling = against(facts, at, one).map(|(ceiling, _)| ceiling);
    let judged = one.rate.known().zip(ceiling);
    let judged = judged.and_then(|(rate, ceiling)| judge(rate.0 as f64, &ceiling, facts.knowledge().buses()));
    Derived::of(judged.map_or(State::Unknown, |judged| State::Known(word(judged.verdict))), from)
}

/// Unknown where a bus that was not read may be behind the best result of an interface.
pub(super) fn on_known_bus(facts: &Facts<'_>, index: usize) -> Derived {
    let judged = facts.judged(index).filter(|judged| judged.unread_bus.is_some());
    match (judged, facts.device_of(index)) {
        (Some(_), Some(device)) => Derived::unknown(facts.key(DEVICE, device, "pcie.links")),
        (Some(_), None) => Derived::unknown(facts.key(INTERFACE, index, "device")),
        (None, _) => Derived::of(State::TRUE, facts.key(INTERFACE, index, "device")),
    }
}

/// Where the best result of an interface stands; absent where nobody measured.
pub(super) fn verdict(facts: &Facts<'_>, index: usize) -> Derived {
    let from = facts.key(INTERFACE, index, "ceiling.typical");
    let Some(judged) = facts.judged(index) else { return Derived::absent(from) };
    if judged.unread_bus.is_some() {
        return on_known_bus(facts, index);
    }
    let result = facts.key(MEASUREMENT, judged.measurement, "rate");
    Derived::of(State::Known(word(judged.verdict)), [from, result].concat())
}

/// Results of the host, or of one interface.
pub(super) fn list(facts: &Facts<'_>, interfaces: Option<&[usize]>) -> Derived {
    let host = &facts.snapshot().host;
    match &host.measured {
        Reading::Known(all, source) => {
            let mine = |one: &Measurement| {
                let at = one.interface.known().and_then(|name| facts.topology().interface("", name));
                interfaces.is_none_or(|wanted| at.is_some_and(|at| wanted.contains(&at)))
            };
            let list = all
                .iter()
                .enumerate()
                .filter(|(_, one)| mine(one))
                .map(|(at, _)| Value::Entity(Facts::entity(MEASUREMENT, at)));
            Derived::fact(Value::List(list.collect())).read_at(Some(*source))
        }
        Reading::Absent(source) => Derived::fact(Value::List(Vec::new().into())).read_at(Some(*source)),
        // Nobody gave a result: that is a fact, not a gap.
        Reading::Unknown(_) => Derived::fact(Value::List(Vec::new().into())),
    }
}
