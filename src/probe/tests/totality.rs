//! Decoders and parsers take any input.

use proptest::prelude::*;

use super::*;
use crate::formats;

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
        ioctl::driver(&bytes);
        ioctl::count(&bytes);
        ioctl::statistics(&bytes, &bytes, count);
        ioctl::link_settings(&bytes, words);
        ioctl::settings(&bytes);
        ioctl::features(&bytes, &bytes);
        pci_config::parse(&bytes);
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
            ethtool::names(&part);
            ethtool::link_modes(&part);
            ethtool::features(&part);
        }
    }

    #[test]
    fn any_text_is_a_file(text in "[ -~\n\t=:\\[\\]\"']{0,200}", odd in any::<String>()) {
        for text in [text.as_str(), odd.as_str()] {
            formats::assignments::parse(text);
            formats::cpu_list::count(text);
            formats::cpuinfo::parse(text);
            formats::meminfo::total(text);
            formats::pci_link::speed(text);
            formats::pci_link::width(text);
            formats::proc_status::parse(text);
            formats::uptime::seconds(text);
            pci::owner(text);
        }
    }
}
