use super::super::bus::{named, names, pci, pci_candidates, pcix_dma, thunderbolt, usb, usb_name};
use super::super::ethernet::{Framing, Traffic};
use super::super::pcie::Dma;
use super::super::range::{Confidence, Direction};
use super::{buses, near};

fn tcp(mtu: u32) -> Framing {
    Framing { timestamps: Some(true), ..Framing::new(mtu, Traffic::Tcp4) }
}

/// 4096 bytes are 512 clocks of 8 bytes, 4 more for the burst, 60 (450 ns) more for a read: 8.533 Gb/s times
/// 512 / 516 and 512 / 576. At 100 MHz the same 450 ns are 45 clocks.
#[test]
fn pcix_bursts() {
    let b = buses();
    let hi = |bus, operation| pcix_dma(bus, 4096, operation, &b).unwrap().hi_bps;
    near(hi("pci-x-133", Dma::Write), 8.467e9, 0.001);
    near(hi("pci-x-133", Dma::Read), 7.585e9, 0.001);
    near(hi("pci-x-100", Dma::Read), 5.841e9, 0.001);
    assert_eq!(pcix_dma("pci-32-33", 4096, Dma::Read, &b), None);
}

#[test]
fn pcix_adapters() {
    let b = buses();
    let typical = |bus, read, direction| pci(bus, &tcp(9000), Some(read), Some(direction), &b).unwrap().typical_bps;
    near(typical("pci-x-133", 4096, Direction::Transmit), 6.8e9, 0.01);
    near(typical("pci-x-133", 512, Direction::Transmit), 3.97e9, 0.01);
    near(typical("pci-x-133", 4096, Direction::Receive), 7.9e9, 0.01);
    near(typical("pci-x-66", 4096, Direction::Receive), 3.92e9, 0.02);
    assert!(typical("pci-x-133", 4096, Direction::Bidirectional) < 3.95e9, "one bus carries both");
    let unknown = pci("pci-x-133", &tcp(9000), None, Some(Direction::Transmit), &b).unwrap();
    assert_eq!((unknown.assumed.len(), unknown.confidence), (1, Confidence::Medium));
}

#[test]
fn conventional_pci() {
    let b = buses();
    let plain = pci("pci-32-33", &tcp(1500), None, None, &b).unwrap();
    near(plain.typical_bps, 0.39e9, 0.03);
    assert!(plain.lo_bps > 0.25e9 && plain.hi_bps < 0.91e9);
    assert_eq!(plain.confidence, Confidence::Low);
}

/// 3.854 Gb/s at MTU 9000 from a card whose bus nobody noted.
#[test]
fn an_unknown_bus_gives_candidates_and_no_choice() {
    let b = buses();
    let all = pci_candidates(&tcp(9000), &b);
    let fits: Vec<_> = all.iter().filter(|c| c.ceiling.contains(3.854e9)).collect();
    let has = |bus: &str, read, direction| {
        fits.iter().any(|c| c.bus == bus && c.read_size == read && c.direction == direction)
    };
    assert!(has("pci-x-133", Some(512), Direction::Transmit));
    assert!(has("pci-x-66", None, Direction::Receive));
    assert!(fits.len() < all.len());
    assert!(!fits.iter().any(|c| c.bus.starts_with("pci-32")));
}

/// 5 Gb/s * 8 / 10 * 1024 / 1068 * 1448 / 1538 = 3.61.
#[test]
fn usb_adapters() {
    let b = buses();
    let five = usb("usb-5g", &tcp(1500), &b).unwrap();
    near(five.hi_bps, 3.61e9, 0.001);
    assert!(five.contains(3.4e9) && five.contains(3.53e9) && !five.contains(4.7e9));
    let ten = usb("usb-10g", &tcp(1500), &b).unwrap();
    assert!(ten.contains(6.2e9) && ten.contains(7.3e9));
    assert!(usb("usb-20g", &tcp(1500), &b).unwrap().hi_bps > 9.4e9);
    let two = usb("usb-480m", &tcp(1500), &b).unwrap();
    assert!(two.lo_bps > 0.25e9 && two.hi_bps < 0.35e9);
    assert_eq!((usb_name(5000.0, &b), usb_name(480.0, &b)), (Some("usb-5g"), Some("usb-480m")));
    assert_eq!(usb_name(12.0, &b), None);
}

#[test]
fn thunderbolt_tunnels() {
    let b = buses();
    let three = thunderbolt("thunderbolt3", &tcp(1500), &b).unwrap();
    near(three.typical_bps, 21.0e9, 0.005);
    assert!(three.contains(20.7e9) && three.contains(20.5e9));
    assert_eq!(thunderbolt("usb4", &tcp(1500), &b), None, "nothing is claimed about other controllers");
}

#[test]
fn every_bus_can_be_asked_for_by_name() {
    let b = buses();
    let all: Vec<_> = names(&b).collect();
    assert!(all.contains(&"pci-x-133") && all.contains(&"usb-5g") && all.contains(&"thunderbolt3"));
    assert!(all.iter().all(|name| named(name, &tcp(1500), None, &b).is_some()));
    assert_eq!(named("isa", &tcp(1500), None, &b), None);
}
