use super::super::range::Confidence;
use super::super::tcp::{ReceiveBuffer, Window, loss_estimate, receive_window, send_window};
use super::{buses, near};

fn buffer(bytes: u64, kernel: (u32, u32)) -> ReceiveBuffer {
    ReceiveBuffer { bytes, explicit: false, kernel: Some(kernel), adv_win_scale: Some(1), mtu: Some(1500) }
}

const SIX_MIB: u64 = 6 << 20;

/// Half of 6 MiB is 3 145 728 bytes: over 1, 10 and 100 ms that is 25.2, 2.52 and 0.252 Gb/s.
#[test]
fn window_over_round_trip() {
    let b = buses();
    let window = receive_window(&buffer(SIX_MIB, (5, 15)), &b);
    for (rtt, gigabit) in [(0.001, 25.17), (0.01, 2.517), (0.1, 0.2517)] {
        near(window.over(rtt).unwrap().typical_bps, gigabit * 1e9, 0.001);
    }
    let wan = window.over(0.08).unwrap();
    near(wan.lo_bps, 0.2957e9, 0.001);
    near(wan.hi_bps, 0.3146e9, 0.001);
    assert_eq!(wan.confidence, Confidence::High);
    // Unscaled window over 20 ms.
    near(Window::stated(65_536.0, &b).over(0.02).unwrap().typical_bps, 26.2e6, 0.001);
    assert_eq!(window.over(0.0), None);
    assert_eq!(window.over(f64::NAN), None);
}

#[test]
fn round_trip_at_which_the_window_binds() {
    let window = receive_window(&buffer(SIX_MIB, (5, 15)), &buses());
    near(window.binding_rtt_seconds(1e10).unwrap(), 0.002_517, 0.001);
    near(window.binding_rtt_seconds(1e11).unwrap(), 0.000_252, 0.002);
    assert_eq!(window.binding_rtt_seconds(0.0), None);
}

#[test]
fn share_of_the_buffer_by_kernel() {
    let b = buses();
    let share = |b_: &ReceiveBuffer| receive_window(b_, &b).typical_bytes / b_.bytes as f64;
    let modern = buffer(1 << 20, (6, 18));
    near(share(&modern), 0.62, 1e-9);
    near(share(&ReceiveBuffer { mtu: Some(9000), ..modern }), 0.71, 1e-9);
    near(share(&ReceiveBuffer { adv_win_scale: Some(-2), ..modern }), 0.62, 1e-9);
    let old = buffer(1 << 20, (6, 5));
    near(share(&old), 0.5, 1e-9);
    near(share(&ReceiveBuffer { adv_win_scale: Some(2), ..old }), 0.75, 1e-9);
    near(share(&ReceiveBuffer { adv_win_scale: Some(-2), ..old }), 0.25, 1e-9);
    let stuck = ReceiveBuffer { explicit: true, ..buffer(1 << 20, (6, 8)) };
    assert!(receive_window(&stuck, &b).lo_bytes < 0.25 * stuck.bytes as f64);
    let unknown = receive_window(&ReceiveBuffer { kernel: None, ..modern }, &b);
    assert_eq!(unknown.assumed.len(), 1);
    assert_eq!(unknown.over(0.01).unwrap().confidence, Confidence::Medium);
}

#[test]
fn the_narrower_of_both_ends_counts() {
    let b = buses();
    let receive = receive_window(&buffer(SIX_MIB, (6, 18)), &b);
    let send = send_window(1 << 20, &b);
    let both = receive.clone().narrower(send.clone());
    assert_eq!(both.typical_bytes, send.typical_bytes);
    assert_eq!(both, send.narrower(receive));
}

/// 1448 * 8 / 0.1 * 1.22 / 0.01 = 14.1 Mb/s.
#[test]
fn loss_matters_but_is_no_ceiling() {
    let b = buses();
    let estimate = loss_estimate(1448, 0.1, 1e-4, &b).unwrap();
    near(estimate.formula_bps, 14.1e6, 0.005);
    assert!(estimate.matters(1e9) && !estimate.matters(1e6));
    assert!(estimate.lo_bps < estimate.formula_bps && estimate.hi_bps > estimate.formula_bps);
    assert_eq!(loss_estimate(1448, 0.1, 0.0, &b), None);
    assert_eq!(loss_estimate(1448, 0.0, 0.1, &b), None);
}
