use super::super::combine::{Mechanism, Spread};
use super::super::pcie::Hop;
use super::super::question::{Question, ask};
use super::super::tcp::Window;
use super::super::{Direction, Framing, Traffic, Tunnel};
use super::{buses, near};

fn tcp(mtu: u32) -> Framing {
    Framing { timestamps: Some(true), ..Framing::new(mtu, Traffic::Tcp4) }
}

/// The storage box with a 100 Gb/s card in Gen3 x4.
#[test]
fn the_slowest_part_binds() {
    let b = buses();
    let hops = [Hop::new(16.0, 16), Hop::new(8.0, 4)];
    let answer = ask(&Question { link_bps: Some(1e11), ..Question::new(tcp(9000), &hops) }, &b).unwrap();
    let whole = answer.combined.unwrap();
    assert_eq!((whole.binding, answer.parts.len()), (Mechanism::Pcie, 2));
    near(whole.ceiling.typical_bps, 28.2e9, 0.003);
    // 28.2e9 / 8 / 8948.
    near(answer.packets_per_second.unwrap(), 393.9e3, 0.003);
}

/// 64-byte frames on 10 Gb/s: 14.88 million a second.
#[test]
fn small_frames_in_packets_per_second() {
    let small = Framing { frame_bytes: Some(64), ..Framing::new(1500, Traffic::L2) };
    let answer = ask(&Question { link_bps: Some(1e10), ..Question::new(small, &[]) }, &buses()).unwrap();
    near(answer.packets_per_second.unwrap(), 14.881e6, 0.0001);
}

#[test]
fn ports_of_a_card_share_its_path() {
    let b = buses();
    let hops = [Hop::new(5.0, 4)];
    let asked = |ports| ask(&Question { link_bps: Some(1e10), ports, ..Question::new(tcp(1500), &hops) }, &b).unwrap();
    let two = asked(2).together.unwrap();
    assert!(two.shared_binds && two.together.hi_bps < 13.9e9);
    assert!(asked(1).together.is_none());
    assert_eq!(asked(2).combined.unwrap().binding, Mechanism::Link, "each port alone is fine");
}

#[test]
fn other_parts_bind_in_their_turn() {
    let b = buses();
    let base = || Question { link_bps: Some(1e11), ..Question::new(tcp(1500), &[]) };
    let binding = |question: &Question<'_>| ask(question, &b).unwrap().combined.unwrap().binding;
    assert_eq!(binding(&Question { bus: Some("usb-10g"), ..base() }), Mechanism::Usb);
    assert_eq!(binding(&Question { bus: Some("thunderbolt3"), ..base() }), Mechanism::Thunderbolt);
    assert_eq!(binding(&Question { bus: Some("pci-x-133"), ..base() }), Mechanism::Pci);
    assert_eq!(binding(&Question { uplink: Some("dmi3"), ..base() }), Mechanism::Shared);
    assert_eq!(binding(&Question { shaper_bps: Some(1e9), ..base() }), Mechanism::Shaper);
    assert_eq!(binding(&Question { policer_bps: Some(1e9), ..base() }), Mechanism::Shaper);
    let window = Window::stated(65_536.0, &b);
    assert_eq!(binding(&Question { window: Some((window, 0.02)), ..base() }), Mechanism::Window);
}

/// 64 KiB over 20 ms are 26.2 Mb/s, of four flows 104.9 Mb/s; 94.15 Gb/s are out of reach above 5.6 microseconds.
#[test]
fn windows_multiply_with_flows() {
    let b = buses();
    let of = |flows| {
        let window = Some((Window::stated(65_536.0, &b), 0.02));
        ask(&Question { link_bps: Some(1e11), window, flows, ..Question::new(tcp(1500), &[]) }, &b).unwrap()
    };
    near(of(None).combined.unwrap().ceiling.typical_bps, 26.21e6, 0.001);
    near(of(Some(4)).combined.unwrap().ceiling.typical_bps, 104.9e6, 0.001);
    near(of(None).window_binds_above_seconds.unwrap(), 5.57e-6, 0.001);
}

#[test]
fn one_flow_of_a_bond() {
    let b = buses();
    let of = |flows| {
        let bond = Some((2, Spread::PerFlow));
        let answer = ask(&Question { link_bps: Some(1e10), bond, flows, ..Question::new(tcp(1500), &[]) }, &b).unwrap();
        answer.combined.unwrap().ceiling.typical_bps
    };
    near(of(Some(1)), 9.415e9, 0.001);
    near(of(Some(4)), 9.415e9 * 1.875, 0.001);
}

/// Which parallel bus it was nobody noted: candidates and no choice.
#[test]
fn an_unknown_bus_has_no_ceiling() {
    let question = Question { link_bps: Some(1e10), some_pci: true, ..Question::new(tcp(9000), &[]) };
    let answer = ask(&question, &buses()).unwrap();
    assert!(answer.combined.is_none() && answer.packets_per_second.is_none());
    let fits: Vec<&str> =
        answer.candidates.iter().filter(|one| one.ceiling.contains(3.854e9)).map(|one| one.bus.as_str()).collect();
    assert!(fits.contains(&"pci-x-133") && fits.contains(&"pci-x-66"));
}

#[test]
fn questions_without_an_answer_say_why() {
    let b = buses();
    let why = |question: &Question<'_>| ask(question, &b).unwrap_err().to_string();
    assert!(why(&Question::new(tcp(1500), &[])).contains("nothing to calculate with"));
    let cramped = Framing { tunnel: Some(Tunnel::Vxlan6), ..tcp(100) };
    assert!(why(&Question { link_bps: Some(1e9), ..Question::new(cramped, &[]) }).contains("no room"));
    assert!(why(&Question { bus: Some("isa"), ..Question::new(tcp(1500), &[]) }).contains("no bus `isa`"));
    assert!(why(&Question { uplink: Some("isa"), ..Question::new(tcp(1500), &[]) }).contains("uplink"));
    let asleep = [Hop::new(32.0, 63)];
    assert!(why(&Question::new(tcp(1500), &asleep)).contains("x63"));
    let window = Some((Window::stated(1.0, &b), f64::NAN));
    assert!(why(&Question { window, ..Question::new(tcp(1500), &[]) }).contains("round-trip"));
}

#[test]
fn directions_are_told_apart() {
    let b = buses();
    let hops = [Hop::new(8.0, 8)];
    let at = |direction| {
        let question = Question { direction: Some(direction), ..Question::new(tcp(1500), &hops) };
        ask(&question, &b).unwrap().combined.unwrap().ceiling.typical_bps
    };
    assert!(at(Direction::Bidirectional) < at(Direction::Receive));
}
