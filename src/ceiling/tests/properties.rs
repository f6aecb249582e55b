use proptest::prelude::*;

use super::super::bus::{pci, usb};
use super::super::combine::group;
use super::super::ethernet::{Duplex, Framing, Traffic, Tunnel, link};
use super::super::pcie::{Dma, Hop, Path, Platform, by_payload_size, dma, nic};
use super::super::question::{Question, ask};
use super::super::range::{Ceiling, Direction};
use super::buses;
use crate::knowledge::buses::Buses;

const GENERATIONS: [f64; 6] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];

fn not_lower(better: &Ceiling, worse: &Ceiling) -> Result<(), TestCaseError> {
    // One part in 1e12 for the order of additions.
    let holds = |a: f64, b: f64| a >= b * (1.0 - 1e-12);
    prop_assert!(
        holds(better.lo_bps, worse.lo_bps)
            && holds(better.typical_bps, worse.typical_bps)
            && holds(better.hi_bps, worse.hi_bps),
        "{better:?}\nis below\n{worse:?}"
    );
    Ok(())
}

fn traffic() -> impl Strategy<Value = Traffic> {
    prop::sample::select(vec![Traffic::Tcp4, Traffic::Tcp6, Traffic::Udp4, Traffic::Udp6, Traffic::RoceV2, Traffic::L2])
}

fn direction() -> impl Strategy<Value = Option<Direction>> {
    prop::option::of(prop::sample::select(vec![Direction::Receive, Direction::Transmit, Direction::Bidirectional]))
}

fn size() -> impl Strategy<Value = Option<u32>> {
    prop::option::of(prop::sample::select(vec![128, 256, 512, 1024, 2048, 4096]))
}

fn driver() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(vec!["ixgbe", "mlx5_core", "bnxt_en", "ice", "unheard-of"]))
}

fn platform() -> impl Strategy<Value = Platform> {
    prop::sample::select(vec![Platform::X86, Platform::Other])
}

prop_compose! {
    fn framing()(mtu in 68u32..16_000, vlan_tags in 0u32..3, traffic in traffic(), timestamps in any::<Option<bool>>(),
                 frame_bytes in prop::option::of(64u32..2000)) -> Framing {
        Framing { mtu, vlan_tags, traffic, timestamps, tunnel: None, frame_bytes }
    }
}

fn tunnel() -> impl Strategy<Value = Option<Tunnel>> {
    let options = 0u32..253;
    prop::option::of(prop_oneof![
        prop::sample::select(vec![
            Tunnel::Vxlan4,
            Tunnel::Vxlan6,
            Tunnel::Gre4,
            Tunnel::Ipip4,
            Tunnel::Wireguard4,
            Tunnel::Wireguard6
        ]),
        options.clone().prop_map(|options| Tunnel::Geneve4 { options }),
        options.prop_map(|options| Tunnel::Geneve6 { options }),
    ])
}

#[derive(Debug, Clone)]
struct Rest {
    mps: Option<u32>,
    mrrs: Option<u32>,
    driver: Option<&'static str>,
    platform: Platform,
    direction: Option<Direction>,
    compressed: bool,
}

prop_compose! {
    fn rest()(mps in size(), mrrs in size(), driver in driver(), platform in platform(), direction in direction(),
              compressed in any::<bool>()) -> Rest {
        Rest { mps, mrrs, driver, platform, direction, compressed }
    }
}

impl Rest {
    fn at(&self, hop: Hop, framing: &Framing, b: &Buses) -> Ceiling {
        let hops = [hop];
        let path = Path {
            mps: self.mps,
            mrrs: self.mrrs,
            driver: self.driver,
            platform: self.platform,
            compressed_completions: self.compressed,
            ..Path::new(&hops)
        };
        nic(&path, framing, self.direction, b).unwrap().ceiling
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn more_lanes_never_lower_a_ceiling(generation in 0usize..6, a in 1u32..=32, b in 1u32..=32, framing in framing(), rest in rest()) {
        let k = buses();
        let at = |width| rest.at(Hop::new(GENERATIONS[generation], width), &framing, &k);
        not_lower(&at(a.max(b)), &at(a.min(b)))?;
    }

    #[test]
    fn a_higher_generation_never_lowers_a_ceiling(a in 0usize..6, b in 0usize..6, width in 1u32..=32, framing in framing(), rest in rest()) {
        let k = buses();
        let at = |generation: usize| rest.at(Hop::new(GENERATIONS[generation], width), &framing, &k);
        not_lower(&at(a.max(b)), &at(a.min(b)))?;
    }

    #[test]
    fn a_larger_payload_size_never_lowers_a_ceiling(a in 7u32..=12, b in 7u32..=12, generation in 0usize..6, framing in framing(), rest in rest()) {
        let k = buses();
        let at = |power: u32| Rest { mps: Some(1 << power), ..rest.clone() }.at(Hop::new(GENERATIONS[generation], 4), &framing, &k);
        not_lower(&at(a.max(b)), &at(a.min(b)))?;
        let hops = [Hop::new(GENERATIONS[generation], 4)];
        for operation in [Dma::Write, Dma::Read] {
            let engine = |power: u32| dma(&Path { mps: Some(1 << power), mrrs: rest.mrrs, ..Path::new(&hops) }, operation, &k).unwrap().ceiling;
            not_lower(&engine(a.max(b)), &engine(a.min(b)))?;
        }
    }

    /// On the link a larger MTU never carries less. Where timestamps are not known, `hi` is without them: no exception.
    #[test]
    fn a_larger_mtu_never_lowers_a_link(a in 68u32..16_000, b in 68u32..16_000, framing in framing()) {
        let k = buses();
        let at = |mtu| link(1e10, &Framing { mtu, frame_bytes: None, ..framing }, Duplex::Full, &k);
        let (small, large) = (at(a.min(b)), at(a.max(b)));
        // An RDMA packet has one of five sizes, and between them the wire carries the same.
        not_lower(&large, &small)?;
    }

    /// A tunnel, a tag and a longer header only ever take: what is left never grows by them, and grows with the MTU.
    #[test]
    fn tunnels_and_tags_never_raise_a_ceiling(a in 68u32..16_000, b in 68u32..16_000, tunnel in tunnel(), framing in framing()) {
        let k = buses();
        prop_assume!(framing.traffic != Traffic::L2); // counts tags and headers as well
        let bare = Framing { frame_bytes: None, ..framing };
        let at = |framing: Framing| link(1e10, &framing, Duplex::Full, &k);
        let inside = |mtu| Framing { mtu, tunnel, ..bare };
        not_lower(&at(Framing { tunnel: None, ..inside(a) }), &at(inside(a)))?;
        not_lower(&at(inside(a)), &at(Framing { vlan_tags: bare.vlan_tags + 1, ..inside(a) }))?;
        not_lower(&at(inside(a.max(b))), &at(inside(a.min(b))))?;
        let half = link(1e10, &inside(a), Duplex::Half, &k);
        prop_assert!(half.hi_bps <= at(inside(a)).hi_bps);
    }

    /// Parts stand in series: another part never raises the whole, and the whole never exceeds any part.
    #[test]
    fn another_part_never_raises_the_whole(width in 1u32..=32, speed in 1e8..1e12f64, set in 1e6..1e12f64, framing in framing()) {
        let k = buses();
        prop_assume!(framing.payload_bytes(&k) > 0.0);
        let hops = [Hop::new(8.0, width)];
        let bare = Question { link_bps: Some(speed), ..Question::new(framing, &[]) };
        let whole = |question: &Question<'_>| ask(question, &k).unwrap();
        let alone = whole(&bare).combined.unwrap().ceiling;
        let more = whole(&Question { path: Path::new(&hops), shaper_bps: Some(set), ..bare.clone() });
        let parts = more.parts;
        let ceiling = more.combined.unwrap().ceiling;
        not_lower(&alone, &ceiling)?;
        prop_assert!(parts.iter().all(|part| ceiling.hi_bps <= part.ceiling.hi_bps && ceiling.typical_bps <= part.ceiling.typical_bps));
    }

    /// On PCIe a frame one byte longer than whole pieces starts another piece with its own header, so the rate is a
    /// sawtooth over the MTU and "larger is never lower" is false for neighbours. What does hold: among frames that
    /// fill their pieces the longer one never carries less, because the costs per frame are spread over more bytes ...
    #[test]
    fn among_frames_that_fill_their_pieces_longer_is_never_lower(a in 1u32..=32, b in 1u32..=32, generation in 0usize..6, rest in rest()) {
        let k = buses();
        let piece = rest.mps.unwrap_or(512).max(rest.mrrs.unwrap_or(512));
        let at = |pieces: u32| {
            let framing = Framing { timestamps: Some(true), ..Framing::new(piece * pieces - 14, Traffic::Tcp4) };
            rest.at(Hop::new(GENERATIONS[generation], 4), &framing, &k)
        };
        not_lower(&at(a.max(b)), &at(a.min(b)))?;
    }

    /// ... and a frame of twice the length never carries less, wherever the teeth are: it needs at most twice the
    /// pieces, and the headers inside it and the costs per frame only once.
    #[test]
    fn a_frame_of_twice_the_length_is_never_lower(mtu in 68u32..9000, generation in 0usize..6, rest in rest(), timestamps in any::<bool>()) {
        let k = buses();
        let at = |mtu| {
            let framing = Framing { timestamps: Some(timestamps), ..Framing::new(mtu, Traffic::Tcp4) };
            rest.at(Hop::new(GENERATIONS[generation], 4), &framing, &k)
        };
        not_lower(&at(2 * mtu + 14), &at(mtu))?;
    }

    /// What root reads narrows a range and never leaves it.
    #[test]
    fn a_payload_size_that_is_read_narrows_the_range(generation in 0usize..6, width in 1u32..=32, framing in framing(), rest in rest()) {
        let k = buses();
        let hops = [Hop::new(GENERATIONS[generation], width)];
        let path = Path { mrrs: rest.mrrs, driver: rest.driver, platform: rest.platform, ..Path::new(&hops) };
        let whole = nic(&path, &framing, rest.direction, &k).unwrap().ceiling;
        let each = by_payload_size(&path, &framing, rest.direction, &k);
        prop_assert!(each.len() >= 2);
        for (size, one) in &each {
            // The lower end of an upper bound is a share of it, and falls with it.
            let lo = whole.upper_bound_only || one.upper_bound_only || whole.lo_bps <= one.lo_bps * (1.0 + 1e-12);
            prop_assert!(lo && one.hi_bps <= whole.hi_bps * (1.0 + 1e-12), "{size}: {one:?} of {whole:?}");
            prop_assert!(one.confidence >= whole.confidence);
        }
        let read = Path { mps: Some(256), ..path };
        prop_assert!(by_payload_size(&read, &framing, rest.direction, &k).is_empty(), "nothing is left to read");
    }

    /// Together never more than what is shared, and never more than the sum of what each could do alone.
    #[test]
    fn a_group_never_exceeds_what_it_shares(hop in 1e6f64..1e12, members in prop::collection::vec(1e6f64..1e12, 1..8)) {
        let range = |bps: f64| Ceiling::from_bounds(0.9 * bps, 0.95 * bps, bps);
        let (shared, members): (Ceiling, Vec<Ceiling>) = (range(hop), members.into_iter().map(range).collect());
        let together = group(&shared, &members).together;
        prop_assert!(together.hi_bps <= shared.hi_bps && together.hi_bps <= members.iter().map(|m| m.hi_bps).sum::<f64>() * (1.0 + 1e-12));
        prop_assert!(together.lo_bps <= together.typical_bps && together.typical_bps <= together.hi_bps);
    }

    #[test]
    fn never_above_the_protocol_maximum(generation in 0usize..6, width in 1u32..=32, framing in framing(), rest in rest()) {
        prop_assume!(framing.traffic != Traffic::L2); // counts the check sequence, which stays in the adapter
        let k = buses();
        let ceiling = rest.at(Hop::new(GENERATIONS[generation], width), &framing, &k);
        let g = &k.pcie.generations[generation];
        let raw = g.gigatransfers * 1e9 * f64::from(g.encoded) / f64::from(g.on_wire) * f64::from(width);
        let mps = f64::from(rest.mps.unwrap_or(512));
        let most = raw * mps / (mps + f64::from(g.header_3dw + g.tlp_framing));
        prop_assert!(ceiling.hi_bps <= most, "{} above {most}", ceiling.hi_bps);
        let wire = link(1e10, &framing, Duplex::Full, &k);
        prop_assert!(wire.hi_bps <= 1e10 * framing.largest_payload_bytes(&k) / framing.wire_bytes(&k) * (1.0 + 1e-12));
        for name in k.usb.buses.keys() {
            prop_assert!(usb(name, &framing, &k).unwrap().hi_bps <= k.usb.buses[name].signalling_bps);
        }
        for (name, bus) in &k.pci.buses {
            let gross = f64::from(bus.bits) * bus.megahertz * 1e6;
            prop_assert!(pci(name, &framing, None, rest.direction, &k).unwrap().hi_bps <= gross);
        }
    }

    #[test]
    fn ranges_are_ordered_and_finite(gigatransfers in any::<f64>(), width in any::<u32>(), mtu in any::<u32>(), vlan_tags in any::<u32>(),
                                     frame in any::<Option<u32>>(), traffic in traffic(), mps in any::<Option<u32>>(), mrrs in any::<Option<u32>>()) {
        let k = buses();
        let hops = [Hop::new(gigatransfers, width), Hop::new(8.0, 4)];
        let framing = Framing { vlan_tags, frame_bytes: frame, ..Framing::new(mtu, traffic) };
        let path = Path { mps, mrrs, ..Path::new(&hops) };
        let c = nic(&path, &framing, None, &k).unwrap().ceiling;
        prop_assert!(0.0 <= c.lo_bps && c.lo_bps <= c.typical_bps && c.typical_bps <= c.hi_bps && c.hi_bps.is_finite());
    }
}
