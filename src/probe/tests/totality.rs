//! Decoders and parsers take any input.

use proptest::prelude::*;

use super::*;
use crate::formats;
use crate::snapshot::PciAddress;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..400), words in 0u8..40, count in 0usize..40) {
        netlink::Answer::new(Reply::Bytes(bytes.as_slice().into()));
        links::link(&bytes);
        links::address(&bytes);
        links::default_route(&bytes);
        ethtool::family(&bytes);
        ethtool::names(&bytes);
        ethtool::device(&bytes);
        ethtool::link_modes(&bytes);
        ethtool::features(&bytes);
        ethtool::rings(&bytes);
        ethtool::pause(&bytes);
        ethtool_replies::link_state(&bytes);
        ethtool_replies::channels(&bytes);
        ethtool_replies::coalesce(&bytes);
        ethtool_replies::eee(&bytes);
        ethtool_replies::fec(&bytes);
        ethtool_replies::stats(&bytes, &ethtool::sets(&bytes));
        ethtool_replies::private_flags(&bytes);
        ethtool_replies::rss(&bytes);
        link_details::xdp(&bytes);
        filters::actions(&bytes);
        dcb::pfc(&bytes);
        wireless::radio(&bytes);
        wireless::station(&bytes);
        wireless::power_save(&bytes);
        devlink::reporter(&bytes);
        devlink::package(&bytes);
        modules::bytes(&bytes);
        ioctl::hashing_entries(&bytes);
        ioctl::hashing(&bytes, u32::from(words));
        ioctl::module_length(&bytes);
        ioctl::module_bytes(&bytes);
        ethtool::family_names(&bytes);
        formats::module_memory::further(&bytes);
        bonds::bond(&bytes);
        bonds::member(&bytes);
        qdiscs::qdisc(&bytes);
        routing::route(&bytes);
        routing::rule(&bytes);
        routing::neighbours([bytes.as_slice()]);
        flows::flow(&bytes);
        ioctl::channels(&bytes);
        ioctl::coalesce(&bytes);
        ioctl::eee(&bytes);
        ioctl::fec(&bytes);
        formats::kernel_log::record(&bytes);
        ioctl::driver(&bytes);
        ioctl::count(&bytes);
        ioctl::statistics(&bytes, &bytes, count);
        ioctl::link_settings(&bytes, words);
        ioctl::settings(&bytes);
        ioctl::features(&bytes, &bytes);
        formats::pci_config::parse(&bytes);
        let blob = Blob(bytes);
        let text = serde_json::to_string(&blob).unwrap();
        prop_assert_eq!(serde_json::from_str::<Blob>(&text).unwrap(), blob);
    }

    /// Messages whose lengths are right and whose contents are not get further in.
    #[test]
    fn any_attributes_are_a_message(
        kind in 2u16..30,
        flags in any::<u16>(),
        header in 0usize..20,
        attributes in proptest::collection::vec((0u16..70, proptest::collection::vec(any::<u8>(), 0..24)), 0..12),
    ) {
        let mut payload = vec![1; header];
        for (kind, value) in attributes {
            netlink::push(&mut payload, kind, &value);
        }
        let mut message = netlink::message(kind, 0, &payload);
        message[6..8].copy_from_slice(&flags.to_ne_bytes());
        for part in netlink::Answer::new(Reply::Bytes(message.into())).parts {
            links::link(&part);
            links::default_route(&part);
            routing::route(&part);
            routing::rule(&part);
            flows::flow(&part);
            ethtool::names(&part);
            ethtool::link_modes(&part);
            ethtool::features(&part);
            ethtool_replies::fec(&part);
            ethtool_replies::eee(&part);
            ethtool_replies::stats(&part, &ethtool::sets(&part));
            qdiscs::qdisc(&part);
            filters::actions(&part);
            ethtool_replies::private_flags(&part);
            ethtool_replies::rss(&part);
            dcb::pfc(&part);
            wireless::station(&part);
            devlink::reporter(&part);
            devlink::package(&part);
        }
    }

    /// A memory of any layout, as long as it is.
    #[test]
    fn any_memory_is_a_module(
        identifier in any::<u8>(),
        mut bytes in proptest::collection::vec(any::<u8>(), 1..700),
    ) {
        bytes[0] = identifier;
        let module = formats::module_memory::parse(&formats::module_memory::Memory::flat(&bytes));
        for lane in module.iter().flat_map(|module| &module.lanes) {
            let power = [lane.received, lane.sent, lane.bias];
            prop_assert!(power.into_iter().flatten().all(f64::is_finite));
        }
    }

    #[test]
    fn any_text_is_a_file(text in "[ -~\n\t=:\\[\\]\"']{0,200}", odd in any::<String>()) {
        for text in [text.as_str(), odd.as_str()] {
            formats::assignments::parse(text);
            formats::aer::counts(text);
            formats::cpu_list::count(text);
            formats::cpu_list::members(text);
            formats::cpuinfo::parse(text);
            formats::softnet_stat::parse(text, Some(&[0]));
            formats::proc_net::pairs(text);
            formats::proc_net_stat::parse(text);
            formats::proc_rpc::client(text);
            formats::proc_stat::cpus(text).count();
            formats::softirqs::network(text);
            formats::pid_stat::parse(text);
            formats::mountstats::parse(text);
            formats::mountstats::servers(text);
            formats::interrupts::parse(text, |_, _| true);
            formats::interrupts::parse(&format!("CPU0 CPU1\n{text}"), |_, _| true);
            formats::interrupts::is_of(text, "eth0");
            formats::glob::matches(text, "eth0");
            formats::glob::matches("*a[b-d]?*", text);
            formats::cpuinfo::identity(text);
            formats::configured::sysctl::lines(text);
            formats::configured::systemd::parse(text);
            formats::configured::network_manager::connection(text);
            formats::configured::netplan::parse(text);
            formats::configured::ifupdown::parse(text);
            formats::configured::ifcfg::settings("ifcfg-x", text);
            formats::configured::udev::rules(text);
            formats::configured::tuned::profile(text);
            formats::configured::modprobe::options(text, |_| true);
            formats::configured::scripts::commands(text);
            formats::configured::scripts::unit(text);
            formats::proc_net::lines(text);
            formats::sysctl::value(text);
            for line in [text.to_owned(), format!("Feb 29 10:00:00 x kernel: {text}"), format!("2026-02-10T{text} x kernel: y")] {
                if let Some((Some(stamp), _)) = formats::kernel_log::syslog(&line) {
                    stamp.seconds(1.7e9, 3600.0);
                }
            }
            formats::kernel_log::record(format!("6,1,2,-;{text}").as_bytes());
            formats::meminfo::total(text);
            formats::pci_link::speed(text);
            formats::pci_link::width(text);
            formats::proc_status::parse(text);
            formats::uptime::seconds(text);
            PciAddress::of_path(text);
        }
    }
}
