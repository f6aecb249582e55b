//! `netdoctor ceiling`: how fast would an interface go, from figures alone or from a capture with readings changed.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Value as Json, json};

use super::quantities::{kernel, pcie, rate, seconds, share, size};
use super::{Output, RuleArguments, exit, what_if};
use crate::ceiling::bus;
use crate::ceiling::combine::{Mechanism, Part, Spread};
use crate::ceiling::pcie::{Hop, Path, Platform};
use crate::ceiling::question::{Answer, Question, ask};
use crate::ceiling::tcp::{LossEstimate, ReceiveBuffer, Window, loss_estimate, receive_window, send_window};
use crate::ceiling::verdict::{Judgement, Verdict, judge};
use crate::ceiling::{Ceiling, Confidence, Direction, Duplex, Framing, Traffic, Tunnel};
use crate::knowledge::Knowledge;
use crate::knowledge::buses::Buses;
use crate::lang::closest;
use crate::reading::numbers;
use crate::report::escape::visible;
use crate::report::json::pretty;

const EXAMPLES: &str = "Examples:
  netdoctor ceiling --link 100G --pcie gen3x4 --mtu 9000
  netdoctor ceiling --link 10G --pcie gen2x4 --ports 2 --direction rx
  netdoctor ceiling --link 100G --pcie gen3x16 --frame 64 --traffic l2 --driver mlx5_core
  netdoctor ceiling --link 10G --rtt 80ms --rcvbuf 6MiB --kernel v5.15
  netdoctor ceiling --link 10G --bus unknown-pci --mtu 9000 --measured 3.854G
  netdoctor ceiling --of host.json --set eth2.mtu=9000
The exit code is 0, 2 for a question that makes no sense, 3 for a capture that can't be read.";

/// Arguments of `ceiling`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Rate of the link: 100G, 2.5G
    #[arg(long, value_name = "RATE", value_parser = rate)]
    link: Option<f64>,
    /// A PCIe link between card and processor: gen3x4; once for each
    #[arg(long, value_name = "GENxLANES", value_parser = pcie)]
    pcie: Vec<(f64, u32)>,
    /// Max payload size of the PCIe path (lspci -vv, as root)
    #[arg(long, value_name = "BYTES", value_parser = power_of_two)]
    mps: Option<u32>,
    /// Max read request size of the card (lspci -vv, as root)
    #[arg(long, value_name = "BYTES", value_parser = power_of_two)]
    mrrs: Option<u32>,
    /// Kernel driver of the card, for its descriptor traffic: mlx5_core, ixgbe
    #[arg(long, value_name = "NAME")]
    driver: Option<String>,
    /// Ports of the card that share the PCIe path
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    ports: u32,
    /// Chipset uplink above the slot: dmi3, dmi4x8, amd-x570
    #[arg(long, value_name = "NAME")]
    uplink: Option<String>,
    /// Another bus: pci-x-133, usb-5g, thunderbolt3; unknown-pci lists what fits
    #[arg(long, value_name = "NAME")]
    bus: Option<String>,
    /// Largest read of a PCI-X card (MMRBC)
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(512..=4096))]
    read_size: Option<u32>,
    /// MTU of the interface
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u32).range(68..=65_536))]
    mtu: u32,
    /// Length of a frame with its check sequence, for questions about small packets
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(64..=65_558))]
    frame: Option<u32>,
    /// 802.1Q tags on each frame
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=8))]
    vlans: u32,
    /// What a rate counts
    #[arg(long, value_enum, default_value = "tcp4")]
    traffic: TrafficWord,
    /// TCP timestamps; unless told, the range covers both
    #[arg(long, value_enum)]
    timestamps: Option<Switch>,
    /// Tunnel that the payload goes through
    #[arg(long, value_enum)]
    tunnel: Option<TunnelWord>,
    /// Bytes of Geneve options
    #[arg(long, value_name = "BYTES", default_value_t = 0, requires = "tunnel", value_parser = clap::value_parser!(u32).range(0..=252))]
    options: u32,
    /// Seen from this host; unless told, the range covers rx and tx, each alone
    #[arg(long, value_enum)]
    direction: Option<DirectionWord>,
    /// Duplex mode of the link
    #[arg(long, value_enum, default_value = "full")]
    duplex: DuplexWord,
    /// Links bundled into a bond
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    bond: Option<u32>,
    /// How the bond spreads flows
    #[arg(long, value_enum, default_value = "per-flow", requires = "bond")]
    spread: SpreadWord,
    /// Parallel flows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    flows: Option<u32>,
    /// Rate of a shaper (tbf, htb, cake)
    #[arg(long, value_name = "RATE", value_parser = rate)]
    shaper: Option<f64>,
    /// Rate of a policer
    #[arg(long, value_name = "RATE", value_parser = rate)]
    policer: Option<f64>,
    /// Round-trip time; the window of a flow then counts
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    rtt: Option<f64>,
    /// Receive buffer: the third value of tcp_rmem
    #[arg(long, value_name = "SIZE", value_parser = size)]
    rcvbuf: Option<u64>,
    /// The program set the receive buffer (SO_RCVBUF), so that it does not grow
    #[arg(long, requires = "rcvbuf")]
    fixed: bool,
    /// Send buffer: the third value of tcp_wmem
    #[arg(long, value_name = "SIZE", value_parser = size)]
    sndbuf: Option<u64>,
    /// Window as `ss -ti` or a trace shows it
    #[arg(long, value_name = "SIZE", value_parser = size)]
    window: Option<u64>,
    /// Kernel of the receiver: v5.10
    #[arg(long, value_name = "VERSION", value_parser = kernel)]
    kernel: Option<(u32, u32)>,
    /// tcp_adv_win_scale of the receiver; kernels before v6.6 use it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-31..=31))]
    adv_win_scale: Option<i32>,
    /// Share of segments sent again: how much that matters is told, it is never a ceiling
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "rtt")]
    loss: Option<f64>,
    /// A measured rate, to be judged
    #[arg(long, value_name = "RATE", value_parser = rate)]
    measured: Option<f64>,
    /// The ceilings of a capture instead; - for standard input
    #[arg(long, value_name = "CAPTURE")]
    of: Option<PathBuf>,
    /// Changes a reading of the capture first: eth2.mtu=9000, 0000:01:00.0.pcie.mps=512, host.kernel=v6.6
    #[arg(long, value_name = "SUBJECT.FACT=VALUE", requires = "of")]
    set: Vec<String>,
    /// Output format
    #[arg(short, long, value_enum, default_value = "text")]
    format: Shape,
    #[command(flatten)]
    rules: RuleArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Shape {
    Text,
    Json,
}

/// One-to-one words for the types of the calculation.
macro_rules! words {
    ($($name:ident { $($word:ident $text:literal = $doc:literal,)+ })+) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        enum $name { $(#[doc = $doc] #[value(name = $text)] $word,)+ }
    )+};
}

words! {
    TrafficWord {
        Tcp4 "tcp4" = "TCP payload over IPv4",
        Tcp6 "tcp6" = "TCP payload over IPv6",
        Udp4 "udp4" = "UDP payload over IPv4",
        Udp6 "udp6" = "UDP payload over IPv6",
        Rocev2 "rocev2" = "RDMA payload over RoCEv2",
        L2 "l2" = "Whole frames with their check sequence",
    }
    TunnelWord {
        Vxlan "vxlan" = "VXLAN over IPv4",
        Vxlan6 "vxlan6" = "VXLAN over IPv6",
        Geneve "geneve" = "Geneve over IPv4",
        Geneve6 "geneve6" = "Geneve over IPv6",
        Gre "gre" = "GRE over IPv4",
        Wireguard "wireguard" = "WireGuard over IPv4",
        Wireguard6 "wireguard6" = "WireGuard over IPv6",
    }
    DirectionWord {
        Rx "rx" = "Into this host",
        Tx "tx" = "Out of this host",
        Bidir "bidir" = "Both at once, per direction",
    }
    DuplexWord {
        Full "full" = "Both ends may send at once",
        Half "half" = "One at a time",
    }
    Switch {
        On "on" = "In use",
        Off "off" = "Not in use",
    }
    SpreadWord {
        OneMember "one-member" = "One member at a time (active-backup)",
        PerFlow "per-flow" = "By a hash that sees ports (layer3+4)",
        PerPair "per-pair" = "By a hash of addresses alone (layer2)",
        PerPacket "per-packet" = "Packets in turn (balance-rr)",
    }
}

fn power_of_two(text: &str) -> Result<u32, String> {
    let bytes: u32 = text.parse().map_err(|_| format!("`{text}` is no number of bytes"))?;
    let possible = bytes.is_power_of_two() && (128..=4096).contains(&bytes);
    possible.then_some(bytes).ok_or_else(|| "PCIe knows 128, 256, 512, 1024, 2048 and 4096".into())
}

/// The word for a PCI adapter whose bus nobody noted.
const UNKNOWN_PCI: &str = "unknown-pci";

pub(super) fn run(arguments: &Arguments) -> Output {
    if let Some(capture) = &arguments.of {
        return what_if::run(capture, &arguments.set, arguments.format, &arguments.rules);
    }
    match calculate(arguments, Knowledge::embedded().buses()) {
        Ok(output) => Output::text(output),
        Err(message) => Output::failure(message, exit::USAGE),
    }
}

fn calculate(arguments: &Arguments, buses: &Buses) -> Result<String, String> {
    let hops: Vec<Hop> = arguments.pcie.iter().map(|&(speed, lanes)| Hop::new(speed, lanes)).collect();
    let question = question(arguments, &hops, buses)?;
    let answer = ask(&question, buses).map_err(|error| error.to_string())?;
    let known = Known {
        judged: arguments.measured.map(|bps| (bps, judged(bps, &answer, buses))),
        loss: arguments
            .loss
            .zip(arguments.rtt)
            .and_then(|(lost, rtt)| loss_estimate(question.framing.payload_bytes(buses) as u32, rtt, lost, buses)),
        arguments,
        question: &question,
        answer: &answer,
    };
    Ok(match arguments.format {
        Shape::Text => known.text(),
        Shape::Json => pretty(&known.json()),
    })
}

fn judged(bps: f64, answer: &Answer, buses: &Buses) -> Option<Judgement> {
    answer.combined.as_ref().and_then(|whole| judge(bps, &whole.ceiling, buses))
}

fn framing(arguments: &Arguments) -> Framing {
    let options = arguments.options;
    Framing {
        mtu: arguments.mtu,
        vlan_tags: arguments.vlans,
        traffic: match arguments.traffic {
            TrafficWord::Tcp4 => Traffic::Tcp4,
            TrafficWord::Tcp6 => Traffic::Tcp6,
            TrafficWord::Udp4 => Traffic::Udp4,
            TrafficWord::Udp6 => Traffic::Udp6,
            TrafficWord::Rocev2 => Traffic::RoceV2,
            TrafficWord::L2 => Traffic::L2,
        },
        timestamps: arguments.timestamps.map(|switch| switch == Switch::On),
        tunnel: arguments.tunnel.map(|tunnel| match tunnel {
            TunnelWord::Vxlan => Tunnel::Vxlan4,
            TunnelWord::Vxlan6 => Tunnel::Vxlan6,
            TunnelWord::Geneve => Tunnel::Geneve4 { options },
            TunnelWord::Geneve6 => Tunnel::Geneve6 { options },
            TunnelWord::Gre => Tunnel::Gre4,
            TunnelWord::Wireguard => Tunnel::Wireguard4,
            TunnelWord::Wireguard6 => Tunnel::Wireguard6,
        }),
        frame_bytes: arguments.frame,
    }
}

/// A name out of the knowledge, or which ones there are.
fn named<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Result<(), String> {
    if known.clone().any(|one| one == name) {
        return Ok(());
    }
    let near = closest(name, known.clone());
    let hint = match near.first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", known.collect::<Vec<_>>().join(", ")),
    };
    Err(format!("there is no {what} `{name}`; {hint}"))
}

fn question<'a>(arguments: &'a Arguments, hops: &'a [Hop], buses: &Buses) -> Result<Question<'a>, String> {
    let some_pci = arguments.bus.as_deref() == Some(UNKNOWN_PCI);
    if let Some(name) = arguments.bus.as_deref().filter(|_| !some_pci) {
        named("bus", name, bus::names(buses).chain([UNKNOWN_PCI]).collect::<Vec<_>>().into_iter())?;
    }
    if let Some(name) = &arguments.uplink {
        named("chipset uplink", name, buses.pcie.uplinks.keys().map(String::as_str))?;
    }
    if hops.is_empty() && (arguments.mps.is_some() || arguments.mrrs.is_some() || arguments.ports > 1) {
        return Err("--mps, --mrrs and --ports belong to a PCIe path: add --pcie, for example --pcie gen3x4".into());
    }
    if arguments.ports > 1 && arguments.link.is_none() {
        return Err("--ports belongs to a link: add --link, for example --link 10G".into());
    }
    if arguments.bond.is_some() && arguments.link.is_none() {
        return Err("--bond belongs to a link: add the rate of one member, for example --link 10G".into());
    }
    let spread = match arguments.spread {
        SpreadWord::OneMember => Spread::OneMember,
        SpreadWord::PerFlow => Spread::PerFlow,
        SpreadWord::PerPair => Spread::PerPair,
        SpreadWord::PerPacket => Spread::PerPacket,
    };
    let window = window(arguments, buses);
    if window.is_some() != arguments.rtt.is_some() && arguments.loss.is_none() {
        return Err("a window needs both: --rtt, and --rcvbuf, --sndbuf or --window".into());
    }
    let path = Path {
        mps: arguments.mps,
        mrrs: arguments.mrrs,
        driver: arguments.driver.as_deref(),
        platform: Platform::X86,
        ..Path::new(hops)
    };
    Ok(Question {
        direction: arguments.direction.map(|direction| match direction {
            DirectionWord::Rx => Direction::Receive,
            DirectionWord::Tx => Direction::Transmit,
            DirectionWord::Bidir => Direction::Bidirectional,
        }),
        link_bps: arguments.link,
        duplex: if arguments.duplex == DuplexWord::Half { Duplex::Half } else { Duplex::Full },
        bond: arguments.bond.map(|members| (members, spread)),
        path,
        ports: arguments.ports,
        bus: arguments.bus.as_deref().filter(|_| !some_pci),
        some_pci,
        read_size: arguments.read_size,
        uplink: arguments.uplink.as_deref(),
        shaper_bps: arguments.shaper,
        policer_bps: arguments.policer,
        window: window.zip(arguments.rtt),
        flows: arguments.flows,
        ..Question::new(framing(arguments), hops)
    })
}

fn window(arguments: &Arguments, buses: &Buses) -> Option<Window> {
    let receive = arguments.rcvbuf.map(|bytes| {
        let buffer = ReceiveBuffer {
            bytes,
            explicit: arguments.fixed,
            kernel: arguments.kernel,
            adv_win_scale: arguments.adv_win_scale,
            mtu: Some(arguments.mtu),
        };
        receive_window(&buffer, buses)
    });
    let send = arguments.sndbuf.map(|bytes| send_window(bytes, buses));
    let stated = arguments.window.map(|bytes| Window::stated(bytes as f64, buses));
    [receive, send, stated].into_iter().flatten().reduce(Window::narrower)
}

/// All that is shown.
struct Known<'a> {
    arguments: &'a Arguments,
    question: &'a Question<'a>,
    answer: &'a Answer,
    judged: Option<(f64, Option<Judgement>)>,
    loss: Option<LossEstimate>,
}

impl Known<'_> {
    fn json(&self) -> Json {
        let answer = self.answer;
        let mut json = json!({
            "schema": "netdoctor.ceiling/1",
            "parts": answer.parts.iter().map(|part| range(part.mechanism.name(), &part.ceiling)).collect::<Vec<_>>(),
        });
        if let Some(whole) = &answer.combined {
            let ceiling = &whole.ceiling;
            json["binding"] = whole.binding.name().into();
            json["too_close_to_tell"] = whole.too_close_to_tell.iter().map(|part| part.name()).collect();
            json["lo_bps"] = ceiling.lo_bps.into();
            json["typical_bps"] = ceiling.typical_bps.into();
            json["hi_bps"] = ceiling.hi_bps.into();
            json["assumed"] = ceiling.assumed.clone().into();
            json["confidence"] = word(ceiling.confidence).into();
            json["upper_bound_only"] = ceiling.upper_bound_only.into();
        }
        if let Some(packets) = answer.packets_per_second {
            json["packets_per_second"] = packets.into();
        }
        if let Some(group) = &answer.together {
            json["together"] = range("shared", &group.together);
            json["together"]["ports"] = self.question.ports.into();
            json["together"]["shared_binds"] = group.shared_binds.into();
        }
        if !answer.candidates.is_empty() {
            let measured = self.arguments.measured;
            let candidates = answer.candidates.iter().map(|one| {
                let mut json = range(&one.bus, &one.ceiling);
                json["read_size"] = one.read_size.into();
                json["direction"] = direction(one.direction).into();
                if let Some(bps) = measured {
                    json["fits"] = one.ceiling.contains(bps).into();
                }
                json
            });
            json["candidates"] = candidates.collect();
        }
        if let Some(seconds) = answer.window_binds_above_seconds {
            json["window_binds_above_seconds"] = seconds.into();
        }
        if let Some(loss) = &self.loss {
            json["at_this_loss"] =
                json!({"lo_bps": loss.lo_bps, "formula_bps": loss.formula_bps, "hi_bps": loss.hi_bps});
        }
        if let Some((bps, judged)) = &self.judged {
            json["measured_bps"] = (*bps).into();
            if let Some(judged) = judged {
                json["verdict"] = verdict_word(judged.verdict).into();
                json["share_of_typical"] = judged.share_of_typical.into();
            }
        }
        json
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let answer = self.answer;
        match &answer.combined {
            Some(whole) => {
                let ceiling = &whole.ceiling;
                let binds = self.part_text(whole.binding);
                if ceiling.upper_bound_only {
                    out += &format!(
                        "at most {}: {binds} binds; an upper bound that no measurement supports\n",
                        numbers::rate(ceiling.hi_bps)
                    );
                } else {
                    out += &format!(
                        "{}, typically {}: {binds} binds\n",
                        in_words(ceiling),
                        numbers::rate(ceiling.typical_bps)
                    );
                }
                if !whole.too_close_to_tell.is_empty() {
                    let others: Vec<String> =
                        whole.too_close_to_tell.iter().map(|other| self.part_text(*other)).collect();
                    out += &format!("too close to tell from it: {}\n", others.join(", "));
                }
            }
            None => out += "the bus is not known, so no ceiling can be told: these are the candidates\n",
        }
        out += &format!("counted: {}\n\n", self.counted());
        let width = answer.parts.iter().map(|part| self.part_text(part.mechanism).len()).max().unwrap_or(0);
        for part in &answer.parts {
            let binds = answer.combined.as_ref().is_some_and(|whole| whole.binding == part.mechanism);
            out += &self.line(part, width, binds);
        }
        if let Some(packets) = answer.packets_per_second {
            out += &format!("  packets: {} per second at the typical rate\n", scaled(packets));
        }
        out += &self.rest();
        out += &self.notes();
        out
    }

    fn line(&self, part: &Part, width: usize, binds: bool) -> String {
        let mark = if binds { "  <- binds" } else { "" };
        let (ceiling, name) = (&part.ceiling, self.part_text(part.mechanism));
        format!("  {name:<width$}  {:>16}  typically {}{mark}\n", in_words(ceiling), numbers::rate(ceiling.typical_bps))
    }

    /// Ports together, candidates, window, loss, verdict.
    fn rest(&self) -> String {
        let (mut out, answer) = (String::new(), self.answer);
        if let Some(group) = &answer.together {
            let why =
                if group.shared_binds { "the PCIe path is what they share" } else { "the PCIe path carries them all" };
            out += &format!("  {} ports together: {}; {why}\n", self.question.ports, in_words(&group.together));
        }
        for one in &answer.candidates {
            let read = one.read_size.map(|size| format!(", reads of {size} B")).unwrap_or_default();
            let fits = self.arguments.measured.filter(|bps| one.ceiling.contains(*bps)).map_or("", |_| "  <- fits");
            let name = format!("{}, {}{read}", one.bus, direction(one.direction));
            out += &format!("  {name:<36}  {}{fits}\n", in_words(&one.ceiling));
        }
        if !answer.candidates.is_empty() {
            out += "  or the processors of that time; as root, lspci -vv shows the bus and the read size\n";
        }
        if let Some(seconds) = answer.window_binds_above_seconds {
            out += &format!("  one flow: the window binds above a round trip of {}\n", time(seconds));
        }
        if let Some(loss) = &self.loss {
            let (lo, hi) = (numbers::rate(loss.lo_bps), numbers::rate(loss.hi_bps));
            out += &format!(
                "  at this loss one flow may fall to somewhere between {lo} and {hi}: an order of magnitude, no ceiling\n"
            );
        }
        match &self.judged {
            Some((bps, Some(judged))) => {
                let percent = numbers::significant(judged.share_of_typical * 100.0, 3);
                let binding = answer.combined.as_ref().map_or_else(String::new, |whole| self.part_text(whole.binding));
                let says = match judged.verdict {
                    Verdict::AtCeiling => {
                        format!("at the ceiling: {binding} binds, and changing anything else cannot help")
                    }
                    Verdict::Close => format!("{binding} probably binds, with a few per cent lost elsewhere"),
                    Verdict::NotTheLimit => format!("{binding} is NOT what limits it"),
                    Verdict::ModelOrInputWrong => "more than possible: an input above is wrong".into(),
                };
                out += &format!("\nmeasured {} is {percent} % of typical: {says}\n", numbers::rate(*bps));
            }
            Some((bps, None)) if !answer.candidates.is_empty() => {
                let fit = answer.candidates.iter().filter(|one| one.ceiling.contains(*bps)).count();
                out += &format!("\nmeasured {}: {fit} candidates fit, so there is no verdict\n", numbers::rate(*bps));
            }
            _ => {}
        }
        out
    }

    fn notes(&self) -> String {
        let ceilings: Vec<&Ceiling> = self.answer.parts.iter().map(|part| &part.ceiling).collect();
        let mut out = String::new();
        for (title, pick) in [("assumed", (|c| &c.assumed) as fn(&Ceiling) -> &Vec<String>), ("note", |c| &c.notes)] {
            let mut told: Vec<&str> = Vec::new();
            for text in ceilings.iter().flat_map(|ceiling| pick(ceiling)) {
                if !told.contains(&text.as_str()) {
                    told.push(text);
                    out += &format!("{title}: {}\n", visible(text));
                }
            }
        }
        if let Some(whole) = &self.answer.combined {
            out += &format!("confidence: {}\n", word(whole.ceiling.confidence));
        }
        if out.is_empty() { out } else { format!("\n{out}") }
    }

    fn part_text(&self, mechanism: Mechanism) -> String {
        let arguments = self.arguments;
        match mechanism {
            Mechanism::Link => match (arguments.link, arguments.bond) {
                (Some(bps), Some(members)) => format!("bond of {members} x {}", numbers::rate(bps)),
                (Some(bps), None) => format!("{} link", numbers::rate(bps)),
                (None, _) => "link".into(),
            },
            Mechanism::Pcie => arguments
                .pcie
                .iter()
                .min_by(|a, b| (a.0 * f64::from(a.1)).total_cmp(&(b.0 * f64::from(b.1))))
                .map_or_else(|| "PCIe".into(), |&(speed, lanes)| format!("PCIe {speed} GT/s x{lanes}")),
            Mechanism::Shared => format!("uplink {}", arguments.uplink.as_deref().unwrap_or_default()),
            Mechanism::Pci | Mechanism::Usb | Mechanism::Thunderbolt => arguments.bus.clone().unwrap_or_default(),
            Mechanism::Shaper if arguments.shaper.is_none() => "policer".into(),
            Mechanism::Shaper => "shaper".into(),
            Mechanism::Window => match arguments.flows {
                Some(flows) if flows > 1 => format!("windows of {flows} flows"),
                _ => "window of one flow".into(),
            },
        }
    }

    fn counted(&self) -> String {
        let framing = &self.question.framing;
        let what = match framing.traffic {
            Traffic::Tcp4 => "TCP payload over IPv4",
            Traffic::Tcp6 => "TCP payload over IPv6",
            Traffic::Udp4 => "UDP payload over IPv4",
            Traffic::Udp6 => "UDP payload over IPv6",
            Traffic::RoceV2 => "RDMA payload over RoCEv2",
            Traffic::L2 => "whole frames",
        };
        let packets = match framing.frame_bytes {
            Some(bytes) => format!("in frames of {bytes} B"),
            None => format!("at MTU {}", framing.mtu),
        };
        let way = self.question.direction.map_or("receiving or sending", direction);
        format!("{what} {packets}, {way}")
    }
}

fn range(name: &str, ceiling: &Ceiling) -> Json {
    json!({
        "name": name,
        "lo_bps": ceiling.lo_bps,
        "typical_bps": ceiling.typical_bps,
        "hi_bps": ceiling.hi_bps,
        "assumed": ceiling.assumed,
        "notes": ceiling.notes,
        "confidence": word(ceiling.confidence),
    })
}

fn in_words(ceiling: &Ceiling) -> String {
    let low = ceiling.confidence == Confidence::Low;
    numbers::rate_range(ceiling.lo_bps, ceiling.typical_bps, ceiling.hi_bps, low)
}

fn word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Receive => "receiving",
        Direction::Transmit => "sending",
        Direction::Bidirectional => "both at once, per direction",
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::AtCeiling => "at_ceiling",
        Verdict::Close => "close",
        Verdict::NotTheLimit => "not_the_limit",
        Verdict::ModelOrInputWrong => "above_model",
    }
}

/// "14.9 million", "812 thousand".
fn scaled(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{} million", numbers::significant(n / 1e6, 3)),
        n if n >= 1e3 => format!("{} thousand", numbers::significant(n / 1e3, 3)),
        n => numbers::significant(n, 3),
    }
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{} ms", numbers::significant(seconds * 1e3, 3))
    } else {
        format!("{} s", numbers::significant(seconds, 3))
    }
}
