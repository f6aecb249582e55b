//! Codes of SFF-8024 and what they mean, in the words of ethtool.

/// Form factor.
pub(super) fn identifier(code: u8) -> Option<&'static str> {
    Some(match code {
        0x01 => "GBIC",
        0x02 => "soldered",
        0x03 => "SFP",
        0x06 => "XFP",
        0x0b => "DWDM-SFP",
        0x0c => "QSFP",
        0x0d => "QSFP+",
        0x11 => "QSFP28",
        0x18 => "QSFP-DD",
        0x19 => "OSFP",
        0x1b => "DSFP",
        0x1e => "QSFP+ or later with CMIS",
        0x1f => "SFP-DD",
        0x20 => "SFP+ or later with CMIS",
        _ => return None,
    })
}

/// Extended compliance.
pub(super) fn extended(code: u8) -> Option<&'static str> {
    Some(match code {
        0x01 => "100g aoc or 25gaui c2m aoc with worst ber of 5x10^(-5)",
        0x02 => "100g base-sr4 or 25gbase-sr",
        0x03 => "100g base-lr4 or 25gbase-lr",
        0x04 => "100g base-er4 or 25gbase-er",
        0x05 => "100g base-sr10",
        0x06 => "100g cwdm4 msa with fec",
        0x07 => "100g psm4 parallel smf",
        0x08 => "100g acc or 25gaui c2m acc with worst ber of 5x10^(-5)",
        0x09 => "100g cwdm4 msa without fec",
        0x0b => "100g base-cr4 or 25g base-cr ca-l",
        0x0c => "25g base-cr ca-s",
        0x0d => "25g base-cr ca-n",
        0x10 => "40g base-er4",
        0x11 => "4x10g base-sr",
        0x12 => "40g psm4 parallel smf",
        0x16 => "10g base-t with sfi electrical interface",
        0x17 => "100g clr4",
        0x18 => "100g aoc or 25gaui c2m aoc with worst ber of 10^(-12)",
        0x19 => "100g acc or 25gaui c2m acc with worst ber of 10^(-12)",
        0x1a => "100ge-dwdm2",
        0x1b => "100g 1550nm wdm (4 wavelengths)",
        0x1c => "10gbase-t short reach (30 meters)",
        0x1d => "5gbase-t",
        0x1e => "2.5gbase-t",
        0x1f => "40g swdm4",
        0x20 => "100g swdm4",
        0x21 => "100g pam4 bidi",
        0x25 => "100gbase-dr (clause 140), caui-4 (no fec)",
        0x26 => "100g-fr or 100gbase-fr1 (clause 140), caui-4 (no fec)",
        0x27 => "100g-lr or 100gbase-lr1 (clause 140), caui-4 (no fec)",
        0x40 => "50gbase-cr, 100gbase-cr2, or 200gbase-cr4",
        0x41 => "50gbase-sr, 100gbase-sr2, or 200gbase-sr4",
        _ => return None,
    })
}

/// True for the connectors of a copper cable: pigtail and no separable connector are also those of active optical ones.
pub(super) fn is_copper_connector(code: u8) -> bool {
    code == 0x21
}

/// Names of the bits that are set, from the highest on.
pub(super) fn named(byte: u8, names: [Option<&'static str>; 8]) -> impl Iterator<Item = &'static str> {
    let set = move |(at, name): (usize, Option<&'static str>)| name.filter(|_| byte & (0x80 >> at) != 0);
    names.into_iter().enumerate().filter_map(set)
}
