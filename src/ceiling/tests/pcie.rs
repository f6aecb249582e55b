use super::super::ethernet::{Framing, Traffic};
use super::super::pcie::{Dma, Hop, Path, Platform, chipset_uplink, dma, kernel_mbps, nic, raw_bps};
use super::super::range::{Ceiling, Confidence, Direction};
use super::{buses, near};
use Direction::{Bidirectional, Receive, Transmit};

fn tcp(mtu: u32) -> Framing {
    Framing { timestamps: Some(true), ..Framing::new(mtu, Traffic::Tcp4) }
}

fn small() -> Framing {
    Framing { frame_bytes: Some(64), ..Framing::new(1500, Traffic::L2) }
}

fn known(hop: Hop, mps: u32, mtu: u32, direction: Direction) -> Ceiling {
    let hops = [hop];
    let path = Path { mps: Some(mps), mrrs: Some(512), ..Path::new(&hops) };
    nic(&path, &tcp(mtu), Some(direction), &buses()).unwrap().ceiling
}

#[test]
fn raw_rates_and_the_kernels_figure() {
    let b = buses();
    let cases = [
        (2.5, 1, 2.0, 2000),
        (5.0, 4, 16.0, 16_000),
        (8.0, 1, 7.8769, 7876),
        (8.0, 4, 31.508, 31_504),
        (8.0, 8, 63.015, 63_008),
        (16.0, 4, 63.015, 63_012),
        (8.0, 16, 126.03, 126_016),
        (16.0, 16, 252.06, 252_048),
        (32.0, 16, 504.12, 504_112),
        (64.0, 16, 944.0, 1_024_000),
    ];
    for (gigatransfers, width, gigabit, kernel) in cases {
        let hop = Hop::new(gigatransfers, width);
        near(raw_bps(hop, &b).unwrap(), gigabit * 1e9, 1e-4);
        assert_eq!(kernel_mbps(hop, &b), Some(kernel));
    }
    for (gigatransfers, width) in [(32.0, 63), (8.0, 0), (0.0, 4), (f64::NAN, 4), (7.0, 4), (-8.0, 4)] {
        assert_eq!(raw_bps(Hop::new(gigatransfers, width), &b), None);
        assert_eq!(kernel_mbps(Hop::new(gigatransfers, width), &b), None);
    }
}

/// Frame 9014 in 36 pieces of 24 bytes, completion 16 + 24, descriptor request 24 / 8, 0.25 packets the other way at 4:
/// 9922 bytes. 31.508e9 * (1 - 4 / 1538) / 8 = 3.9282e9 B/s; 395 900 frames/s of 8948 bytes: 28.34 Gb/s.
#[test]
fn worked_example() {
    let ceiling = known(Hop::new(8.0, 4), 256, 9000, Receive);
    near(ceiling.hi_bps, 28.34e9, 0.0005);
    near(ceiling.typical_bps, 0.97 * 28.34e9, 0.0005);
    near(ceiling.lo_bps, 0.93 * 28.34e9, 0.0005);
    assert_eq!(ceiling.confidence, Confidence::High);
    assert!(ceiling.assumed.is_empty());
}

/// Gen3 x8, frame 1514, payload 256, both ways: received 1514 + 6 * 24 + 40 + 3 = 1701 up, 21.375 + 3.5 down;
/// sent 1514 + 6 * 20 + 18.5 + 4 = 1656.5 down (descriptors 16 + 20 / 8), 3 * 24 + 3 + 16 + 3 = 94 up.
/// Up 1795 and 4 bytes for each of 6.5 packets down: 1821; 7.856e9 / 1821 * 1448 * 8 = 49.97 Gb/s each way.
#[test]
fn both_directions_share_each_direction_of_the_link() {
    near(known(Hop::new(8.0, 8), 256, 1500, Bidirectional).hi_bps, 49.97e9, 0.001);
    near(known(Hop::new(8.0, 8), 256, 9000, Bidirectional).hi_bps, 53.5e9, 0.003);
    near(known(Hop::new(8.0, 16), 256, 9000, Bidirectional).hi_bps, 107.0e9, 0.003);
}

/// Formula figures by direction for slow and fast links; each follows from the byte counts of the tests above.
#[test]
fn formula_by_generation_and_payload_size() {
    let cases = [
        (2.5, 1, 128, 1500, 1.56, 1.61),
        (5.0, 4, 128, 1500, 12.5, 12.9),
        (5.0, 8, 256, 9000, 28.8, 29.1),
        (8.0, 1, 128, 1500, 6.16, 6.36),
        (8.0, 4, 256, 1500, 26.7, 27.3),
        (8.0, 4, 512, 9000, 29.6, 29.7),
        (8.0, 16, 256, 1500, 107.0, 109.0),
        (16.0, 8, 128, 1500, 98.6, 101.7),
        (32.0, 16, 256, 9000, 453.0, 458.0),
    ];
    for (gigatransfers, width, mps, mtu, rx, tx) in cases {
        let hop = Hop::new(gigatransfers, width);
        near(known(hop, mps, mtu, Receive).hi_bps, rx * 1e9, 0.004);
        near(known(hop, mps, mtu, Transmit).hi_bps, tx * 1e9, 0.004);
    }
}

#[test]
fn unprivileged_range_of_a_hundred_gigabit_card_in_four_lanes() {
    let b = buses();
    let hops = [Hop::new(8.0, 4)];
    for (mtu, lo, typical, hi) in [(9000, 26.4, 28.2, 29.7), (1500, 24.9, 26.7, 28.3)] {
        let found = nic(&Path::new(&hops), &tcp(mtu), None, &b).unwrap();
        near(found.ceiling.lo_bps, lo * 1e9, 0.003);
        near(found.ceiling.typical_bps, typical * 1e9, 0.003);
        near(found.ceiling.hi_bps, hi * 1e9, 0.003);
        assert_eq!(found.ceiling.confidence, Confidence::Medium);
        let words = &found.ceiling.assumed[0];
        assert!(
            words.contains("max payload size 256 or 512 B") && words.contains("not readable without root"),
            "{words}"
        );
    }
    for driver in ["bnxt_en", "ice"] {
        let path = Path { driver: Some(driver), ..Path::new(&hops) };
        let found = nic(&path, &tcp(9000), None, &b).unwrap();
        near(found.ceiling.typical_bps, 28.2e9, 0.005);
    }
}

#[test]
fn reading_the_registers_narrows_the_range() {
    let b = buses();
    let hops = [Hop::new(8.0, 4)];
    let blind = nic(&Path::new(&hops), &tcp(9000), None, &b).unwrap().ceiling;
    let read = |mps| nic(&Path { mps: Some(mps), mrrs: Some(512), ..Path::new(&hops) }, &tcp(9000), None, &b);
    for mps in [256, 512] {
        let seen = read(mps).unwrap().ceiling;
        assert!(seen.relative_width() < blind.relative_width());
        assert!(seen.lo_bps >= blind.lo_bps && seen.hi_bps <= blind.hi_bps);
        assert_eq!(seen.confidence, Confidence::High);
    }
    near(read(256).unwrap().ceiling.hi_bps, 28.6e9, 0.002);
    near(read(512).unwrap().ceiling.lo_bps, 27.6e9, 0.002);
}

#[test]
fn payload_sizes_to_consider_follow_link_and_machine() {
    let b = buses();
    for (hop, platform, words) in [
        (Hop::new(8.0, 1), Platform::X86, "128 or 256"),
        (Hop::new(5.0, 8), Platform::X86, "128 or 256"),
        (Hop::new(16.0, 8), Platform::X86, "256 or 512"),
        (Hop::new(32.0, 4), Platform::Other, "128 or 256 or 512"),
    ] {
        let hops = [hop];
        let found = nic(&Path { platform, ..Path::new(&hops) }, &tcp(1500), Some(Receive), &b).unwrap();
        assert!(found.ceiling.assumed[0].contains(words), "{:?}", found.ceiling.assumed);
    }
}

#[test]
fn sixteen_lanes_of_gen4_never_bind_a_hundred_gigabit_port() {
    for mps in [128, 256, 512] {
        for mtu in [1500, 9000] {
            for direction in [Receive, Transmit, Bidirectional] {
                assert!(known(Hop::new(16.0, 16), mps, mtu, direction).lo_bps > 1e11);
            }
        }
    }
}

/// Frame of 60 bytes without check sequence, profile of 64-byte entries, Gen3 x16 (15.713e9 B/s):
/// 60 + 24 + 64 + 24 + 3 + 1 = 176 bytes received: 89.3 Mpps; the published run reached 87.
#[test]
fn small_frames_are_bound_by_descriptors() {
    let b = buses();
    let hops = [Hop::new(8.0, 16)];
    let mpps = |driver, direction| {
        let path = Path { driver: Some(driver), mps: Some(256), mrrs: Some(512), ..Path::new(&hops) };
        nic(&path, &small(), Some(direction), &b).unwrap().ceiling.hi_bps / 64.0 / 8.0 / 1e6
    };
    near(mpps("mlx5_core", Receive), 89.3, 0.002);
    near(mpps("mlx5_core", Transmit), 99.7, 0.005);
    near(mpps("mlx5_core", Bidirectional), 74.4, 0.005);
    near(mpps("ixgbe", Receive), 122.8, 0.005);
    near(mpps("ixgbe", Transmit), 146.0, 0.005);
    near(mpps("ixgbe", Bidirectional), 88.0, 0.005);
}

#[test]
fn small_frames_with_an_unknown_driver_cover_every_family() {
    let b = buses();
    let hops = [Hop::new(8.0, 16)];
    let path = Path { mps: Some(256), ..Path::new(&hops) };
    let unknown = nic(&path, &small(), Some(Receive), &b).unwrap().ceiling;
    for driver in b.pcie.drivers.keys() {
        let known = nic(&Path { driver: Some(driver), ..path }, &small(), Some(Receive), &b).unwrap().ceiling;
        assert!(unknown.lo_bps <= known.lo_bps && unknown.hi_bps >= known.typical_bps, "{driver}");
    }
    assert!(unknown.assumed.iter().any(|a| a.contains("driver")));
}

#[test]
fn drivers_without_a_profile_are_an_assumption() {
    let b = buses();
    let hops = [Hop::new(8.0, 8)];
    let path = Path { mps: Some(256), mrrs: Some(512), driver: Some("sfc"), ..Path::new(&hops) };
    let found = nic(&path, &tcp(1500), Some(Receive), &b).unwrap();
    assert_eq!((found.profile.as_str(), found.ceiling.confidence), ("intel16", Confidence::Medium));
    assert!(found.ceiling.assumed[0].contains("sfc"));
}

#[test]
fn the_slowest_hop_is_named_and_impossible_ones_are_told() {
    let b = buses();
    let tunnel = Hop { tunnel: true, ..Hop::new(2.5, 4) };
    let hops = [Hop::new(16.0, 16), Hop::new(32.0, 63), tunnel, Hop::new(8.0, 4), Hop::new(8.0, 4)];
    let found = nic(&Path { mps: Some(256), mrrs: Some(512), ..Path::new(&hops) }, &tcp(9000), None, &b).unwrap();
    assert_eq!(found.slowest_hop, 3);
    near(found.raw_bps, 31.508e9, 1e-4);
    assert_eq!(found.discarded.len(), 2);
    assert!(found.discarded[0].contains("x63") && found.discarded[1].contains("tunnel"));
    assert_eq!(found.ceiling.confidence, Confidence::Medium, "the hop that could not be read is an assumption");
    // By bandwidth, not by generation: x2 of Gen4 carries what x4 of Gen3 does, x8 of Gen1 less than x1 of Gen5.
    let mixed = [Hop::new(32.0, 1), Hop::new(2.5, 8)];
    assert_eq!(nic(&Path::new(&mixed), &tcp(1500), None, &b).unwrap().slowest_hop, 1);
    assert_eq!(nic(&Path::new(&[]), &tcp(1500), None, &b).unwrap_err().to_string(), "no PCIe link is known");
    assert!(nic(&Path::new(&hops[1..3]), &tcp(1500), None, &b).unwrap_err().to_string().contains("x63"));
}

#[test]
fn impossible_register_values_count_as_not_read() {
    let b = buses();
    let hops = [Hop::new(8.0, 4)];
    let blind = nic(&Path::new(&hops), &tcp(9000), None, &b).unwrap();
    for bad in [0, 1, 255, 8192, u32::MAX] {
        let path = Path { mps: Some(bad), mrrs: Some(bad), ..Path::new(&hops) };
        assert_eq!(nic(&path, &tcp(9000), None, &b).unwrap(), blind);
    }
}

/// Completions cut at 64 bytes cost 20 for each: 9014 in 141 pieces instead of 36.
#[test]
fn old_root_complexes_cut_completions() {
    let b = buses();
    let hops = [Hop::new(8.0, 4)];
    let path = Path { mps: Some(256), mrrs: Some(512), read_completion_boundary: Some(64), ..Path::new(&hops) };
    near(nic(&path, &tcp(9000), Some(Transmit), &b).unwrap().ceiling.hi_bps, 23.6e9, 0.005);
    near(nic(&path, &tcp(9000), Some(Receive), &b).unwrap().ceiling.hi_bps, 28.34e9, 0.002);
}

/// Gen4 x16: 252.06e9 * (1 - 4 / 1538) = 251.4e9; written 256 / 280 of it, read 256 / (276 + 4 * 256 / 512).
#[test]
fn dma_engines() {
    let b = buses();
    let hops = [Hop::new(16.0, 16)];
    let path = Path { mps: Some(256), mrrs: Some(512), ..Path::new(&hops) };
    near(dma(&path, Dma::Write, &b).unwrap().ceiling.hi_bps, 229.9e9, 0.001);
    near(dma(&path, Dma::Read, &b).unwrap().ceiling.hi_bps, 231.5e9, 0.001);
    let blind = dma(&Path::new(&hops), Dma::Write, &b).unwrap().ceiling;
    assert_eq!(blind.assumed.len(), 1);
}

/// 16 lanes: 944e9 of packets; 1514 + 12 * 16 + 16 + 16 + 2 = 1740 bytes: 785.6 Gb/s.
#[test]
fn gen6_is_an_upper_bound() {
    let ceiling = known(Hop::new(64.0, 16), 128, 1500, Receive);
    near(ceiling.hi_bps, 785.6e9, 0.0005);
    assert!(ceiling.upper_bound_only && ceiling.confidence == Confidence::Low);
    assert_eq!(ceiling.typical_bps, ceiling.hi_bps);
}

#[test]
fn compressed_completions_are_an_upper_bound_that_holds() {
    let b = buses();
    let hops = [Hop::new(8.0, 16)];
    let path = Path { driver: Some("mlx5_core"), compressed_completions: true, ..Path::new(&hops) };
    let found = nic(&path, &small(), Some(Receive), &b).unwrap();
    assert!(found.ceiling.upper_bound_only);
    assert_eq!(found.profile, "mlx64c");
    assert!(found.ceiling.hi_bps > 115e6 * 64.0 * 8.0, "115 Mpps was published");
}

#[test]
fn chipset_uplinks_are_said_to_be_shared() {
    let b = buses();
    let ceiling = chipset_uplink("dmi3", &tcp(1500), None, &b).unwrap();
    assert!(ceiling.notes.iter().any(|n| n.contains("shared")) && ceiling.confidence == Confidence::Low);
    near(ceiling.typical_bps, 26e9, 0.05);
    assert_eq!(chipset_uplink("nubus", &tcp(1500), None, &b), None);
}
