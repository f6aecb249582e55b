//! Wireless cards that the kernel log speaks of without naming an interface: by the radio or by the PCI function.

use std::collections::BTreeMap;

use super::site::Site;
use crate::knowledge::{EventOf, Knowledge};
use crate::reading::{Reading, SourceId};
use crate::snapshot::{Interface, InterfaceKind, PciAddress, STAND_IN};

/// What the log named, with the line of the first word on it.
#[derive(Debug, Default)]
pub(super) struct Radios {
    /// Radios: `phy0`.
    pub phys: BTreeMap<String, u32>,
    /// Drivers of wireless cards.
    pub drivers: BTreeMap<String, u32>,
}

/// A wireless card of which no interface is known.
#[derive(Default)]
struct Card {
    line: u32,
    phy: Option<String>,
    address: Option<PciAddress>,
    driver: Option<String>,
}

/// Ties the radio and the function to the one wireless interface, or makes stand-ins where the log tells an event of a card
/// that has none.
pub(super) fn finish(site: &mut Site) {
    let radios = std::mem::take(&mut site.radios);
    let functions: Vec<(PciAddress, Option<String>, Option<SourceId>)> = site
        .pci
        .all()
        .filter(|(_, function)| function.is_wireless())
        .map(|(address, function)| (address, function.told_by.known().cloned(), function.told_by.source()))
        .collect();
    if radios.phys.is_empty() && radios.drivers.is_empty() && functions.is_empty() {
        return;
    }
    let is_wireless = |interface: &&mut Interface| {
        interface.namespace.is_empty()
            && (interface.kind.known() == Some(&InterfaceKind::Wifi)
                || interface.name.starts_with("wl")
                || interface.driver.name.known().is_some_and(|driver| Knowledge::embedded().is_wireless(driver)))
    };
    let source = site.inferred("the kernel log, and that there is one wireless card");
    let one_card = functions.len() <= 1 && radios.phys.len() <= 1;
    let mut held: Vec<&mut Interface> = site.snapshot.interfaces.iter_mut().filter(is_wireless).collect();
    if let [only] = held.as_mut_slice() {
        if one_card {
            if let Some((address, ..)) = functions.first() {
                only.device.fill(Reading::Known(*address, source));
            }
            if let Some(phy) = radios.phys.keys().next() {
                only.wireless.phy.fill(Reading::Known(phy.clone(), source));
            }
        }
        return;
    }
    if !held.is_empty() {
        return;
    }
    let driver = Some(&radios.drivers).filter(|drivers| drivers.len() == 1).and_then(|drivers| drivers.keys().next());
    let line_of =
        |site: &Site, source: Option<SourceId>| match source.map(|source| site.snapshot.origins.source_of(source)) {
            Some(crate::reading::Source::Capture { line, .. }) => *line,
            _ => 0,
        };
    let cards: Vec<Card> = if one_card {
        let function = functions.first();
        let line = function.map_or(0, |(.., source)| line_of(site, *source));
        let first = [radios.phys.values().next(), radios.drivers.values().next(), Some(&line)];
        vec![Card {
            line: first.into_iter().flatten().copied().filter(|line| *line > 0).min().unwrap_or(0),
            phy: radios.phys.keys().next().cloned(),
            address: function.map(|(address, ..)| *address),
            driver: function.and_then(|(_, driver, _)| driver.clone()).or_else(|| driver.cloned()),
        }]
    } else {
        let of_function = functions.iter().map(|(address, driver, source)| Card {
            line: line_of(site, *source),
            address: Some(*address),
            driver: driver.clone(),
            ..Card::default()
        });
        of_function.collect()
    };
    for card in cards.into_iter().filter(|card| card.line > 0) {
        if site.log.tells(|text| card.is_told_of(text)) {
            card.stand_in(site, source);
        }
    }
}

impl Card {
    /// True for a line that tells an event of this card.
    fn is_told_of(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let has = |word: &str| text.split([' ', ':', ',']).any(|held| held == word);
        let names = self.phy.as_deref().is_some_and(has)
            || self.driver.as_deref().is_some_and(has)
            || self.address.is_some_and(|address| text.contains(&address.to_string()));
        let events = Knowledge::embedded().log_events();
        names
            && events.iter().any(|event| event.of != EventOf::Host && event.event != "link_up" && event.matches(&lower))
    }

    /// Makes an interface that says where the card was met.
    fn stand_in(self, site: &mut Site, source: SourceId) {
        let interface = site.interface(&format!("{STAND_IN}{}", self.line));
        interface.kind = Reading::Known(InterfaceKind::Wifi, source);
        if let Some(phy) = self.phy {
            interface.wireless.phy = Reading::Known(phy, source);
        }
        if let Some(address) = self.address {
            interface.device = Reading::Known(address, source);
        }
        if let Some(driver) = self.driver {
            interface.driver.name = Reading::Known(driver, source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::transcript::one;
    use crate::snapshot::InterfaceKind;

    #[test]
    fn a_card_without_an_interface_has_a_stand_in() {
        let pci = "# dmesg\n[  118.3] mt7921e 0000:02:00.0: ASIC revision: 79610010\n\
            [  119.3] mt7921e 0000:02:00.0: Message 00020002 (seq 4) timeout\n[  119.9] ieee80211 phy0: Hardware restart was requested\n";
        let (snapshot, _) = one(pci);
        let [card] = snapshot.interfaces.as_slice() else { panic!("one interface") };
        assert_eq!((card.name.as_str(), card.kind.known()), ("unnamed:2", Some(&InterfaceKind::Wifi)));
        assert_eq!(card.device.known().unwrap().to_string(), "0000:02:00.0");
        assert_eq!(
            (card.wireless.phy.known().unwrap().as_str(), card.driver.name.known().unwrap().as_str()),
            ("phy0", "mt7921e")
        );
        assert_eq!(snapshot.devices[0].class.known(), Some(&0x0280));
        assert_eq!(snapshot.host.log.known().unwrap().len(), 3);
        let sdio = "# dmesg\n[   94.9] brcmfmac: brcmf_fil_cmd_data: bus is down\n[  322.4] ieee80211 phy0: brcmf_fw_crashed: Firmware has halted or crashed\n";
        let (snapshot, _) = one(sdio);
        assert_eq!(
            (snapshot.interfaces.len(), snapshot.interfaces[0].wireless.phy.known().unwrap().as_str()),
            (1, "phy0")
        );
    }

    #[test]
    fn quiet_cards_and_known_interfaces_need_none() {
        let (snapshot, _) = one("# dmesg\n[    5.1] iwlwifi 0000:02:00.0: loaded firmware version 77.2df8986f.0\n");
        assert!(snapshot.interfaces.is_empty() && snapshot.devices.len() == 1);
        let text = "# iw dev wlan0 get power_save\nPower save: on\n# dmesg\n[    5.1] iwlwifi 0000:02:00.0: Microcode SW error detected. Restarting 0x0.\n";
        let (snapshot, _) = one(text);
        let [card] = snapshot.interfaces.as_slice() else { panic!("one interface") };
        assert_eq!((card.name.as_str(), card.device.known().unwrap().to_string().as_str()), ("wlan0", "0000:02:00.0"));
        let two =
            "# dmesg\n[  1.0] ath9k 0000:02:00.0: x\n[  2.0] mt7915e 0000:03:00.0: Message 00020002 (seq 4) timeout\n";
        let names: Vec<_> = one(two).0.interfaces.iter().map(|one| one.device.known().unwrap().to_string()).collect();
        assert_eq!(names, ["0000:03:00.0"]);
    }
}
