//! Sessions with a real kernel, recorded into fixtures. Names, addresses and what tells of its owner are replaced.

use super::*;

/// Records this machine into the fixture: `cargo test --lib record_this_machine -- --ignored`, as root.
#[test]
#[ignore = "writes the fixture"]
fn record_this_machine() {
    let mut recording = session(&Options { interval_ms: 200, ..Options::default() });
    "A virtio guest, Linux 6.18, read as root on 2026-12-01 with two samples 0.2 s apart. Host name, \
     hardware and IP addresses and the chain of parent processes are replaced, the processor's description is cut."
        .clone_into(&mut recording.about);
    write(&recording, concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/netlink/virtio-vm.json"));
}

/// Records this machine into the file that RECORDING names, with ABOUT as the description, two samples INTERVAL
/// milliseconds apart. See tests/vm/record.sh.
#[test]
#[ignore = "writes a file"]
fn record_a_session() {
    let given = |name: &str| std::env::var(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut recording = session(&Options { interval_ms: given("INTERVAL").parse().unwrap(), ..Options::default() });
    recording.about = given("ABOUT");
    write(&recording, &given("RECORDING"));
}

/// One exchange a line, so that a difference can be read.
fn write(recording: &Recording, path: &str) {
    let text = serde_json::to_string(recording).unwrap().replace("{\"ask\":", "\n{\"ask\":");
    std::fs::write(path, text + "\n").unwrap();
}

fn session(options: &Options) -> Recording {
    let mut recorder = Recorder::new(Isolated::new("/"));
    let snapshot = collect(&mut recorder, options, &mut |_| {});
    let mut recording = recorder.into_recording();
    recording.exchanges.retain(|exchange| match &exchange.ask {
        Ask::Read { path, .. } => {
            let path = path.text();
            !path.ends_with("/status") || path == "/proc/self/status"
        }
        Ask::Variable { process, .. } => *process <= 1,
        _ => true,
    });
    let addresses = hardware_addresses(&snapshot);
    for exchange in &mut recording.exchanges {
        let Reply::Bytes(Blob(bytes)) = &mut exchange.reply else { continue };
        if let Some(public) = public(&exchange.ask.to_string(), bytes, &snapshot) {
            *bytes = public;
        }
        for (from, to) in &addresses {
            while let Some(at) = bytes.windows(from.len()).position(|window| window == &from[..]) {
                bytes[at..at + to.len()].copy_from_slice(to);
            }
        }
    }
    recording
}

/// What may be shown of an answer, where that is not all of it.
fn public(ask: &str, bytes: &[u8], snapshot: &Snapshot) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    let lines = |keep: &dyn Fn(&str) -> bool| text.lines().filter(|line| keep(line)).collect::<Vec<_>>();
    Some(match ask {
        "read of /proc/self/status" => {
            let kept = lines(&|line| line.starts_with("CapEff") || line.starts_with("Name"));
            format!("{}\nPPid:\t1\n", kept.join("\n")).into_bytes()
        }
        "read of /proc/cpuinfo" => {
            let kept = lines(&|line| line.starts_with("processor") || line.starts_with("flags"));
            (kept.join("\n") + "\n").into_bytes()
        }
        "read of /dev/kmsg" => {
            // What tells how the machine is run is left out; a few lines of others show that they are passed over.
            let names = snapshot.interfaces.iter().map(|interface| interface.name.as_str());
            let marks: Vec<&str> =
                names.chain(["virtio_net", "TCP", "IPv6", "audit", "NET: ", "pci_bus", "Freeing"]).collect();
            let mut kept = lines(&|line| marks.iter().any(|mark| line.contains(mark)) && !line.contains("Command"));
            kept.drain(..kept.len().saturating_sub(60));
            (kept.join("\n") + "\n").into_bytes()
        }
        "read of /proc/1/sched" => b"init (1, #threads: 1)\n".to_vec(),
        "uname" => {
            let fields: Vec<&[u8]> = kernel::zero_ended(bytes).collect();
            let release = fields[0].split(|byte| *byte == b'-').next().unwrap();
            [release, fields[1], b"fixture", b""].join(&0)
        }
        "RTM_GETADDR" | "RTM_GETROUTE" => {
            let mut bytes = bytes.to_vec();
            anonymise_addresses(&mut bytes);
            bytes
        }
        _ => return None,
    })
}

/// Hardware addresses, and those of the range for documentation that replace them.
fn hardware_addresses(snapshot: &Snapshot) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut replace: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for interface in &snapshot.interfaces {
        let index = *interface.index.known().unwrap() as u8;
        for (text, last) in [(&interface.address, index), (&interface.permanent_address, index | 0x80)] {
            let Some(text) = text.known() else { continue };
            let bytes: Vec<u8> = text.split(':').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
            let is_public = bytes.iter().all(|byte| *byte == 0) || bytes.starts_with(&[2, 0, 0x5e, 0, 0x53]);
            if !is_public && replace.iter().all(|(known, _)| *known != bytes) {
                replace.push((bytes, vec![2, 0, 0x5e, 0, 0x53, last]));
            }
        }
    }
    replace
}

/// Replaces IPv4 addresses by 192.0.2.x and IPv6 ones by 2001:db8::x, apart from loopback.
fn anonymise_addresses(bytes: &mut [u8]) {
    let ends: Vec<(usize, usize, u16)> = {
        let mut at = 0;
        let mut ends = Vec::new();
        for message in netlink::messages(bytes) {
            ends.push((at, at + message.whole.len(), message.kind));
            at += message.whole.len().next_multiple_of(4);
        }
        ends
    };
    for (start, end, kind) in ends {
        let (header, kinds): (usize, &[u16]) = match kind {
            20 => (8, &[1, 2, 4]),
            24 => (12, &[1, 5, 7]),
            _ => continue,
        };
        let mut at = start + 16 + header;
        while at + 4 <= end {
            let length = usize::from(netlink::u16_at(bytes, at).unwrap());
            let attribute = netlink::u16_at(bytes, at + 2).unwrap();
            let value = &mut bytes[at + 4..at + length];
            if kinds.contains(&attribute) && value.len() == 4 && value[0] != 127 {
                value[..3].copy_from_slice(&[192, 0, 2]);
            } else if kinds.contains(&attribute) && value.len() == 16 && value[..15] != [0; 15] {
                value[..15].copy_from_slice(&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            }
            at += length.max(4).next_multiple_of(4);
        }
    }
}
