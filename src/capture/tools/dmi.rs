//! The firmware's tables: `dmidecode`, files of /sys/class/dmi/id, and the line `DMI:` of the kernel log.

use super::super::command::Command;
use super::super::site::Site;
use super::{Intake, Tool, path_value};
use crate::formats::cursor::{At, Cursor, pair};
use crate::formats::firmware::{self, Tables};

pub(super) static TOOLS: &[Tool] = &[
    Tool { name: "dmidecode", answers: |command| command.program == "dmidecode", begins, read: decoded },
    Tool {
        name: "sysfs",
        answers: |command| command.files().iter().any(|path| file(path).is_some()),
        begins: |cursor| {
            cursor.peek().and_then(|line| path_value(line.text)).is_some_and(|(path, _)| file(path).is_some())
        },
        read: files,
    },
];

/// The name of a table's text, as the files of sysfs have it.
fn file(path: &str) -> Option<&str> {
    let name = path.strip_prefix("/sys/class/dmi/id/").or_else(|| path.strip_prefix("/sys/devices/virtual/dmi/id/"))?;
    (!name.is_empty() && !name.contains(['/', '*', '?', '$', '{'])).then_some(name)
}

/// The name of sysfs for a keyword of `dmidecode -s`, or for a row of its tables below this title.
fn name_of(title: &str, key: &str) -> Option<&'static str> {
    Some(match (title, key) {
        ("", "system-manufacturer") | ("System Information", "Manufacturer") => "sys_vendor",
        ("", "system-product-name") | ("System Information", "Product Name") => "product_name",
        ("", "bios-vendor") | ("BIOS Information", "Vendor") => "bios_vendor",
        ("", "bios-version") | ("BIOS Information", "Version") => "bios_version",
        ("", "chassis-asset-tag") | ("Chassis Information", "Asset Tag") => "chassis_asset_tag",
        _ => return None,
    })
}

/// Words that makers left standing instead of a text.
const EMPTY: [&str; 6] =
    ["", "Not Specified", "Default string", "To Be Filled By O.E.M.", "System Product Name", "System manufacturer"];

fn put(intake: &mut Intake<'_>, name: &str, value: &str, line: u32) {
    let value = value.trim();
    if EMPTY.contains(&value) || value.len() > 200 {
        return;
    }
    let none = Tables::default();
    let tables = match name {
        "sys_vendor" => Tables { vendor: value, ..none },
        "product_name" => Tables { product: value, ..none },
        "bios_vendor" => Tables { bios: value, ..none },
        "bios_version" => Tables { bios_version: value, ..none },
        "chassis_asset_tag" => Tables { tag: value, ..none },
        _ => return,
    };
    let site = &mut *intake.site;
    match name {
        "sys_vendor" => site.put_host(|host| &mut host.vendor, At::new(value.to_owned(), line)),
        "product_name" => site.put_host(|host| &mut host.product, At::new(value.to_owned(), line)),
        _ => {}
    }
    // That one table names no cloud says nothing of the others.
    if let Some(cloud) = firmware::cloud(&tables) {
        site.put_host(|host| &mut host.cloud, At::new(cloud.to_owned(), line));
    }
}

fn begins(cursor: &Cursor<'_>) -> bool {
    let line = |ahead: usize, wanted: &str| cursor.peek_at(ahead).is_some_and(|line| line.text.starts_with(wanted));
    line(0, "Handle 0x") && cursor.peek().is_some_and(|line| line.text.contains(", DMI type "))
        || line(0, "System Information") && line(1, "\tManufacturer: ")
}

/// `dmidecode -s KEYWORD` prints the text alone, else there are titles and indented rows.
fn decoded(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let keyword = intake.command.and_then(|command| {
        let mut words = command.arguments.iter().skip_while(|word| *word != "-s" && *word != "--string");
        words.next()?;
        words.next().cloned()
    });
    while cursor.take_if(|text| text.starts_with('#').then_some(())).is_some() {}
    if let Some(keyword) = keyword {
        let value = cursor.take_if(|text| (!text.trim().is_empty() && text.len() < 200).then(|| text.to_owned()));
        if let (Some(value), Some(name)) = (value, name_of("", &keyword)) {
            put(intake, name, &value.value, value.line);
        }
        return;
    }
    let mut title = String::new();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        let text = line.text;
        let is_title =
            || text.ends_with(" Information") || text.starts_with("Handle 0x") || text.starts_with("# dmidecode");
        if text.starts_with(['\t', ' ']) {
            if let Some((key, value)) = pair(text)
                && let Some(name) = name_of(&title, key)
            {
                put(intake, name, value, line.number);
            }
        } else if is_title() || text.starts_with("Getting SMBIOS data") || text.starts_with("SMBIOS ") {
            text.trim().clone_into(&mut title);
        } else {
            break;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
}

fn files(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let command = intake.command.cloned();
    let paths = command.as_ref().map(Command::files).unwrap_or_default();
    let mut next = paths.iter().filter_map(|path| file(path));
    while let Some(line) = cursor.peek() {
        let named = path_value(line.text).and_then(|(path, value)| Some((file(path)?, value)));
        let Some((name, value)) = named.or_else(|| {
            let plain = !line.text.trim().is_empty() && line.text.len() < 200;
            plain.then(|| Some((next.next()?, line.text)))?
        }) else {
            break;
        };
        cursor.take();
        if super::super::site::refusal(value).is_none() {
            put(intake, name, value, line.number);
        }
    }
}

/// `DMI: Dell Inc. PowerEdge R640/0H28RR, BIOS 2.10.2 02/24/2021`: vendor and product stand behind each other, and so the
/// line tells of a cloud alone.
pub(super) fn hear(site: &mut Site, message: &str, line: u32) {
    let Some((machine, bios)) = message.strip_prefix("DMI: ").and_then(|rest| rest.split_once(", BIOS ")) else {
        return;
    };
    let front = machine.split('/').next().unwrap_or_default();
    let ends = front.char_indices().filter(|(_, char)| *char == ' ').map(|(at, _)| at).take(16);
    let parted = ends.map(|at| (&front[..at], &front[at + 1..]));
    let cloud = std::iter::once((front, "")).chain(parted).find_map(|(vendor, product)| {
        firmware::cloud(&Tables { vendor, product, bios, bios_version: bios, ..Tables::default() })
    });
    if let Some(cloud) = cloud {
        site.put_host(|host| &mut host.cloud, At::new(cloud.to_owned(), line));
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;

    #[test]
    fn a_cloud_by_whatever_table_names_it() {
        for text in [
            "$ sudo dmidecode -s system-product-name\nGoogle Compute Engine\n",
            "$ cat /sys/class/dmi/id/product_name\nGoogle Compute Engine\n",
            "$ grep . /sys/class/dmi/id/*\n/sys/class/dmi/id/product_name:Google Compute Engine\n/sys/class/dmi/id/board_name:x\n",
            "# dmidecode -t system\n# dmidecode 3.3\nGetting SMBIOS data from sysfs.\nSMBIOS 2.4 present.\n\nHandle 0x0100, DMI type 1, 27 bytes\n\
             System Information\n\tManufacturer: Google\n\tProduct Name: Google Compute Engine\n\tVersion:  \n\n",
            "$ dmesg\n[    0.000000] DMI: Google Google Compute Engine/Google Compute Engine, BIOS Google 01/01/2011\n",
        ] {
            let (snapshot, understood) = one(text);
            assert_eq!(snapshot.host.cloud.known().map(String::as_str), Some("gcp"), "{text}");
            assert_eq!(understood.left, [], "{text}");
        }
        let of_dell = "$ cat /sys/class/dmi/id/{sys_vendor,product_name}\nDell Inc.\nPowerEdge R640\n\
            $ dmesg\n[    0.000000] DMI: Dell Inc. PowerEdge R640/0H28RR, BIOS 2.10.2 02/24/2021\n";
        let (snapshot, _) = one(of_dell);
        let host = &snapshot.host;
        assert_eq!(
            (host.vendor.known().unwrap().as_str(), host.product.known().unwrap().as_str()),
            ("Dell Inc.", "PowerEdge R640")
        );
        assert!(host.cloud.is_unasked());
        assert_eq!(
            one("$ dmesg\n[    0.0] DMI: Xen HVM domU, BIOS 4.11.amazon 08/24/2006\n").0.host.cloud.known().unwrap(),
            "aws"
        );
        let (snapshot, _) =
            one("$ sudo dmidecode -s chassis-asset-tag\nNot Specified\n$ sudo dmidecode -s system-product-name\n");
        assert!(snapshot.host.cloud.is_unasked() && snapshot.host.product.is_unasked());
    }
}
