//! The host itself: kernel, system, machine, privileges.

use super::kernel::{Reply, Request, zero_ended};
use super::plan;
use super::processors;
use super::scan::Scan;
use crate::formats::{assignments, cpu_list, cpuinfo, firmware, meminfo, proc_status, uptime};
use crate::reading::{Bytes, GapKind, Reading, Seconds};

pub(super) fn collect(scan: &mut Scan<'_>) {
    kernel(scan);
    system(scan);
    machine(scan);
    figures(scan);
    container(scan);
}

fn kernel(scan: &mut Scan<'_>) {
    let [reply] = scan.batch(&[Request::new(super::Ask::Uname)]);
    let Some(bytes) = reply.bytes() else {
        let gap = scan.refusal(&reply, &plan::KERNEL, "");
        let host = &mut scan.out.host;
        (host.kernel, host.architecture, host.name) =
            (Reading::Unknown(gap), Reading::Unknown(gap), Reading::Unknown(gap));
        return;
    };
    let source = scan.call("uname");
    let mut fields = zero_ended(bytes).map(|field| String::from_utf8_lossy(field).into_owned());
    let (release, machine, name) = (fields.next(), fields.next(), fields.next());
    let release = release.and_then(|release| release.parse().ok());
    scan.out.host.kernel = scan.or_unknown(release, source, GapKind::Malformed, "release of uname");
    scan.out.host.architecture = scan.or_unknown(machine, source, GapKind::Malformed, "machine of uname");
    scan.out.host.name = scan.or_unknown(name, source, GapKind::Malformed, "node name of uname");
}

/// Operating system and platform. Marker files outrank os-release: appliances ship one of their base system, or none.
fn system(scan: &mut Scan<'_>) {
    const SYNOLOGY: &str = "/etc.defaults/VERSION";
    const QNAP: &str = "/etc/default_config/uLinux.conf";
    const QNAP_MARK: &str = "/etc/config/qpkg.conf";
    const PROXMOX: &str = "/etc/pve";
    const TRUENAS: &str = "/etc/version";
    const TRUENAS_MIDDLEWARE: &str = "/usr/bin/midclt";
    let [release, fallback, synology, synology_model, qnap, qnap_config, qnap_mark, proxmox, truenas, middleware] =
        scan.batch(&[
            Request::read("/etc/os-release"),
            Request::read("/usr/lib/os-release"),
            Request::read(SYNOLOGY),
            Request::read("/etc.defaults/synoinfo.conf"),
            Request::read(QNAP),
            Request::read("/etc/config/uLinux.conf"),
            Request::exists(QNAP_MARK),
            Request::exists(PROXMOX),
            Request::read(TRUENAS),
            Request::exists(TRUENAS_MIDDLEWARE),
        ]);
    let (reply, path) =
        if release.bytes().is_some() { (&release, "/etc/os-release") } else { (&fallback, "/usr/lib/os-release") };
    match scan.text_of(reply, path, &plan::SYSTEM, "") {
        Ok((text, source)) => {
            let rows = assignments::parse(&text);
            let get = |key| assignments::value(&rows, key).map(ToOwned::to_owned);
            scan.out.host.os = scan.or_unknown(get("PRETTY_NAME"), source, GapKind::Malformed, "no PRETTY_NAME in it");
            scan.out.host.platform = scan.or_unknown(get("ID"), source, GapKind::Malformed, "no ID in it");
        }
        Err(gap) => (scan.out.host.os, scan.out.host.platform) = (Reading::Unknown(gap), Reading::Unknown(gap)),
    }
    let text = |reply: &Reply| reply.bytes().map(|bytes| assignments::parse(&String::from_utf8_lossy(bytes)));
    if let Some(rows) = text(&synology) {
        let source = scan.file(SYNOLOGY);
        scan.out.host.platform = Reading::Known("synology_dsm".into(), source);
        if let Some(version) = assignments::value(&rows, "productversion") {
            let build = assignments::value(&rows, "buildnumber").map(|build| format!("-{build}")).unwrap_or_default();
            scan.out.host.os = Reading::Known(format!("DSM {version}{build}"), source);
        }
        let rows = text(&synology_model).unwrap_or_default();
        if let Some(model) = assignments::value(&rows, "upnpmodelname") {
            let source = scan.file("/etc.defaults/synoinfo.conf");
            scan.out.host.vendor = Reading::Known("Synology".into(), source);
            scan.out.host.product = Reading::Known(model.to_owned(), source);
        }
    } else if qnap_mark.bytes().is_some() || qnap.bytes().is_some() {
        let path = if qnap.bytes().is_some() { QNAP } else { QNAP_MARK };
        let source = scan.file(path);
        scan.out.host.platform = Reading::Known("qnap_qts".into(), source);
        // The live file knows the version that runs, the default one the model that was shipped.
        for (reply, path) in [(&qnap_config, "/etc/config/uLinux.conf"), (&qnap, QNAP)] {
            let rows: Vec<_> =
                text(reply).unwrap_or_default().into_iter().filter(|row| row.section == "System").collect();
            let source = scan.file(path);
            if let Some(version) = assignments::value(&rows, "Version") {
                let family = if version.starts_with('h') { "QuTS hero" } else { "QTS" };
                scan.out.host.os = Reading::Known(format!("{family} {version}"), source);
            }
            if let Some(model) = assignments::value(&rows, "Model") {
                scan.out.host.vendor = Reading::Known("QNAP".into(), source);
                scan.out.host.product = Reading::Known(model.to_owned(), source);
            }
            if scan.out.host.product.known().is_some() {
                break;
            }
        }
    } else if proxmox.bytes().is_some() {
        let source = scan.file(PROXMOX);
        scan.out.host.platform = Reading::Known("proxmox".into(), source);
    } else if let Some(version) = truenas
        .bytes()
        .map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned())
        .filter(|version| middleware.bytes().is_some() || version.contains("TrueNAS"))
    {
        let source = scan.file(TRUENAS);
        scan.out.host.platform = Reading::Known("truenas".into(), source);
        let named = if version.contains("TrueNAS") { version } else { format!("TrueNAS {version}") };
        scan.out.host.os = Reading::Known(named, source);
    }
}

fn machine(scan: &mut Scan<'_>) {
    const VENDOR: &str = "/sys/class/dmi/id/sys_vendor";
    const PRODUCT: &str = "/sys/class/dmi/id/product_name";
    const MODEL: &str = "/proc/device-tree/model";
    let [vendor, product, model] = scan.batch(&[Request::read(VENDOR), Request::read(PRODUCT), Request::read(MODEL)]);
    surroundings(scan, &vendor, &product, &model);
    let word = |text: &str| Some(text.trim_end_matches('\0').trim().to_owned()).filter(|word| !word.is_empty());
    let vendor = scan.parsed(&vendor, VENDOR, &plan::FIRMWARE, "", word);
    let mut product = scan.parsed(&product, PRODUCT, &plan::FIRMWARE, "", word);
    if model.bytes().is_some() {
        let model = scan.parsed(&model, MODEL, &plan::FIRMWARE, "", word);
        product.fill(model);
    }
    scan.out.host.vendor.fill(vendor);
    scan.out.host.product.fill(product);
}

/// The cloud and the kind of case.
fn surroundings(scan: &mut Scan<'_>, vendor: &Reply, product: &Reply, model: &Reply) {
    const TABLES: &str = "/sys/class/dmi/id";
    const CHASSIS: &str = "/sys/class/dmi/id/chassis_type";
    let [bios, version, tag, chassis] = scan.batch(
        &["bios_vendor", "bios_version", "chassis_asset_tag", "chassis_type"]
            .map(|name| Request::read(format!("{TABLES}/{name}"))),
    );
    let text = |reply: &Reply| reply.bytes().map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    let texts = [vendor, product, &bios, &version, &tag].map(text);
    let [vendor_text, product_text, bios, bios_version, tag] =
        texts.each_ref().map(|text| text.as_deref().unwrap_or_default());
    let tables = firmware::Tables { vendor: vendor_text, product: product_text, bios, bios_version, tag };
    let board = text(model).filter(|model| !model.contains("dummy-virt"));
    scan.out.host.cloud = match (firmware::cloud(&tables), board) {
        (Some(cloud), _) => Reading::Known(cloud.to_owned(), scan.file(TABLES)),
        (None, _) if texts[0].is_some() || texts[1].is_some() => Reading::Absent(scan.file(TABLES)),
        // Clouds give their machines such tables; a board that names itself has none.
        (None, Some(_)) => Reading::Absent(scan.inferred("a device tree that names the board")),
        (None, None) => Reading::Unknown(scan.refusal(vendor, &plan::FIRMWARE, "")),
    };
    let number = scan.parsed(&chassis, CHASSIS, &plan::FIRMWARE, "", |text| text.trim().parse::<u32>().ok());
    scan.out.host.chassis = match number {
        Reading::Known(number, source) => {
            let word = firmware::chassis(number).map(ToOwned::to_owned);
            scan.or_unknown(word, source, GapKind::DriverUnknown, &format!("chassis_type {number}"))
        }
        Reading::Absent(source) => Reading::Absent(source),
        Reading::Unknown(gap) => Reading::Unknown(gap),
    };
}

fn figures(scan: &mut Scan<'_>) {
    const ONLINE: &str = "/sys/devices/system/cpu/online";
    const STATUS: &str = "/proc/self/status";
    const XEN: &str = "/proc/xen/capabilities";
    let [info, online, memory, up, status, hypervisor, xen] = scan.batch(&[
        Request::read("/proc/cpuinfo"),
        Request::read(ONLINE),
        Request::read("/proc/meminfo"),
        Request::read("/proc/uptime"),
        Request::read(STATUS),
        Request::read("/sys/hypervisor/type"),
        Request::read(XEN),
    ]);
    processors::identity(scan, &info);
    let cpuinfo_of = |text: &str| Some(cpuinfo::parse(text)).filter(|info| info.processors > 0);
    let info = scan.parsed(&info, "/proc/cpuinfo", &plan::VIRTUAL, "", cpuinfo_of);
    let cpus = scan.parsed(&online, ONLINE, &plan::PROCESSORS, "", cpu_list::count);
    scan.out.host.cpus = cpus;
    scan.out.host.cpus.fill(info.map(|info| info.processors));
    let memory = scan.parsed(&memory, "/proc/meminfo", &plan::MEMORY, "", meminfo::total);
    scan.out.host.memory = memory.map(|bytes| Bytes(*bytes));
    let up = scan.parsed(&up, "/proc/uptime", &plan::UPTIME, "", uptime::seconds);
    scan.out.host.uptime = up.map(|seconds| Seconds(*seconds));
    let effective = |text: &str| proc_status::parse(text).effective;
    let capabilities = scan.parsed(&status, STATUS, &plan::PRIVILEGE, "", effective);
    let needed = proc_status::CAP_NET_ADMIN | proc_status::CAP_SYS_ADMIN;
    scan.out.host.privileged = capabilities.map(|effective| effective & needed == needed);
    // The control domain of Xen runs under the hypervisor, but owns the hardware.
    if xen.bytes().is_some_and(|text| text.starts_with(b"control_d")) {
        scan.out.host.is_guest = Reading::Known(false, scan.file(XEN));
        return;
    }
    scan.out.host.is_guest = match (&info, hypervisor.bytes()) {
        (_, Some(_)) => {
            let source = scan.file("/sys/hypervisor/type");
            Reading::Known(true, source)
        }
        (Reading::Known(info, source), None) => match info.hypervisor {
            Some(guest) => Reading::Known(guest, *source),
            None => Reading::Unknown(scan.gap(GapKind::Failed, "/proc/cpuinfo lists no x86 flags", &plan::VIRTUAL, "")),
        },
        (Reading::Unknown(gap), None) => Reading::Unknown(*gap),
        (Reading::Absent(source), None) => Reading::Absent(*source),
    };
}

fn container(scan: &mut Scan<'_>) {
    const MARKS: [&str; 3] = ["/run/.containerenv", "/.dockerenv", "/run/systemd/container"];
    let [podman, docker, systemd, variable, scheduler] = scan.batch(&[
        Request::exists(MARKS[0]),
        Request::exists(MARKS[1]),
        Request::exists(MARKS[2]),
        Request::new(super::Ask::Variable { process: 1, name: "container".into() }),
        Request::read("/proc/1/sched"),
    ]);
    let unsure = [&podman, &docker, &systemd]
        .into_iter()
        .find(|reply| !matches!(reply, Reply::Bytes(_) | Reply::Error { errno: libc::ENOENT | libc::ENOTDIR, .. }))
        .cloned();
    let marked = [podman, docker, systemd].iter().position(|reply| reply.bytes().is_some());
    // The first line is `init (1, #threads: 1)`: the number is that of the outer namespace.
    let outer = scheduler.bytes().and_then(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().next()?.split_once('(')?.1.split_once(',')?.0.trim().parse::<u32>().ok()
    });
    let (found, from) = if let Some(at) = marked {
        (true, MARKS[at])
    } else if variable.bytes().is_some_and(|name| !name.is_empty()) {
        (true, "/proc/1/environ")
    } else if outer.is_some_and(|pid| pid != 1) {
        (true, "/proc/1/sched")
    } else {
        (false, "/run and /proc/1 hold no mark of a container")
    };
    if let (false, Some(reply)) = (found, unsure) {
        scan.out.host.is_container = Reading::Unknown(scan.refusal(&reply, &plan::VIRTUAL, ""));
        return;
    }
    let source = if found { scan.file(from) } else { scan.inferred(from) };
    scan.out.host.is_container = Reading::Known(found, source);
}
