//! No text, whatever it holds, makes the reader of transcripts panic, and none takes it long.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::transcript::one;

/// Lines of many tools, to be cut and mixed.
const LINES: &[&str] = &[
    "$ ip -s -s -d link",
    "$ ip -j addr",
    "$ docker exec web ip route",
    "$ for i in {1..9}; do ifconfig eth$i | grep RX; sleep 1; done",
    "$ netstat -s; nstat -az; ss -tinm; cat /proc/net/{dev,snmp,softnet_stat}",
    "$ cat /sys/class/net/eth0/{mtu,speed,statistics/rx_bytes}",
    "$ ping -M do -s 8972 192.0.2.1; tracepath h; mtr -r h",
    "$ top; mpstat -P ALL 1; vmstat 1; lscpu; free -m",
    "2: eth0@if7: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq master br0 state UP qlen 1000",
    "    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9216",
    "    vxlan id 42 remote 192.0.2.9 local 192.0.2.1 dev eth1 srcport 0 0 dstport 4789",
    "    inet 192.0.2.7/24 brd 192.0.2.255 scope global eth0",
    "    RX: bytes  packets  errors  dropped missed mcast",
    "    18446744073709551615 2 3 4 5 6",
    "[{\"ifindex\":1,\"ifname\":\"lo\",\"flags\":[\"UP\"],\"mtu\":65536,\"stats64\":{\"rx\":{\"bytes\":5}}}]",
    "default via 192.0.2.1 dev eth0 proto dhcp metric 100",
    "192.0.2.1 dev eth0 lladdr 02:00:00:00:00:05 STALE",
    "eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:01",
    "          RX packets:5 errors:4 dropped:3 overruns:2 frame:1",
    "        RX errors 0  dropped 88791  overruns 0  frame 0",
    "Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg",
    "TcpExt:",
    "    5191585 times the listen queue of a socket overflowed",
    "TcpExtListenOverflows           12178939              0.0",
    "Tcp: RtoMin RetransSegs",
    "Tcp: 200 54",
    "ESTAB    0      3899264 192.0.2.2:22       198.51.100.9:50000",
    "\t skmem:(r0,rb131072,d7) bbr rtt:20.5/3 retrans:0/12 rwnd_limited:957ms(95.7%) pacing_rate 1.2Gbps",
    "net.ipv4.tcp_rmem = 4096 131072 6291456",
    "/proc/sys/net/ipv4/tcp_sack:1",
    "/sys/class/net/eth2/statistics/rx_dropped:5",
    "0073d76b 00000000 000049ae 00000000 00000000 00000000 00000000 00000000 00000000",
    "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    "top - 17:03:41 up 5 days, 18 min,  1 user,  load average: 2.06, 1.79, 1.74",
    "%Cpu0  :  0.0 us,  1.0 sy,  0.0 ni,  2.0 id,  0.0 wa,  0.0 hi, 97.0 si,  0.0 st",
    "11:00:01 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle",
    "PING nas (192.0.2.9) 8972(9000) bytes of data.",
    " 1?: [LOCALHOST]                      pmtu 9000",
    "Architecture:        x86_64",
    "NUMA node0 CPU(s):   0-4294967295",
    "",
];

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(LINES).prop_map(str::to_owned),
        2 => (prop::sample::select(LINES), 0usize..200).prop_map(|(line, end)| line.chars().take(end).collect()),
        2 => (prop::sample::select(LINES), 0usize..80, "\\PC{0,8}").prop_map(|(line, at, noise)| {
            let (front, back): (Vec<_>, Vec<_>) = line.chars().enumerate().partition(|(place, _)| *place < at);
            let text = |chars: Vec<(usize, char)>| chars.into_iter().map(|(_, char)| char).collect::<String>();
            text(front) + &noise + &text(back)
        }),
        1 => "\\PC{0,60}",
    ]
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(lines in prop::collection::vec(line(), 0..40)) {
        let text = lines.join("\n");
        let (snapshot, understood) = one(&text);
        prop_assert!(understood.read <= understood.lines);
        // What was put together can be written and read again.
        let written = snapshot.to_json();
        prop_assert!(crate::snapshot::Snapshot::from_json(&written).is_ok());
    }
}

#[test]
#[ignore = "a matter of time"]
fn long_texts_take_a_time_in_proportion() {
    for line in LINES {
        let once = |count: usize| {
            let text = format!("{}\n{}", LINES[4], format!("{line}\n").repeat(count));
            let started = Instant::now();
            one(&text);
            started.elapsed()
        };
        once(10);
        let (short, long) = (once(2_000), once(16_000));
        // Eight times the text, with room for a machine that is busy.
        assert!(long < short * 40 + Duration::from_millis(500), "{line}: {short:?} then {long:?}");
    }
}
