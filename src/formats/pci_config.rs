//! PCI configuration space: the PCI Express capability.

/// What the PCI Express capability says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Express {
    /// Device/port type.
    pub port_type: u8,
    /// Largest payload size that the function supports, in bytes.
    pub payload_max: u32,
    /// Payload size in use, in bytes.
    pub payload: u32,
    /// Read request size in use, in bytes.
    pub read_request: u32,
    /// Relaxed ordering is enabled.
    pub relaxed_ordering: bool,
    /// Power management of the link: bit 0 for L0s, bit 1 for L1.
    pub aspm: u8,
    /// Highest speed of the link as a number of the generation, and its lanes; none for a function without a link.
    pub link_most: Option<(u8, u32)>,
    /// The same as they are now.
    pub link_now: Option<(u8, u32)>,
}

/// What a read of configuration space amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Config {
    /// The function has the capability.
    Express(Express),
    /// It has not: conventional PCI, or a device that a hypervisor emulates.
    Conventional,
    /// The kernel showed the first 64 bytes only, as it does to a user without privileges.
    Hidden,
    /// All ones: the device does not answer.
    Gone,
    /// The list of capabilities makes no sense.
    Odd,
}

const EXPRESS: u8 = 0x10;

/// Reads the first 256 bytes, or as many as were shown.
pub fn parse(bytes: &[u8]) -> Config {
    let byte = |at: usize| bytes.get(at).copied();
    let word = |at: usize| Some(u16::from_le_bytes([byte(at)?, byte(at + 1)?]));
    let (Some(vendor), Some(status), Some(mut at)) = (word(0), word(6), byte(0x34)) else { return Config::Odd };
    if vendor == 0xffff {
        return Config::Gone;
    }
    if status & 0x10 == 0 {
        return Config::Conventional;
    }
    // 48 capabilities of four bytes fill the space: more steps are a loop.
    for _ in 0..48 {
        let here = usize::from(at & 0xfc);
        if here == 0 {
            return Config::Conventional;
        }
        if here < 0x40 {
            return Config::Odd;
        }
        let (Some(id), Some(next)) = (byte(here), byte(here + 1)) else {
            return if bytes.len() <= 64 { Config::Hidden } else { Config::Odd };
        };
        if id == 0xff {
            return Config::Gone;
        }
        if id == EXPRESS {
            let (Some(flags), Some(capabilities), Some(control)) = (word(here + 2), word(here + 4), word(here + 8))
            else {
                return Config::Odd;
            };
            let size = |code: u16| (code < 6).then(|| 128u32 << code);
            let (Some(payload_max), Some(payload), Some(read_request)) =
                (size(capabilities & 7), size(control >> 5 & 7), size(control >> 12 & 7))
            else {
                return Config::Odd;
            };
            // Link Capabilities and Link Status; zero lanes: there is no link.
            let link = |word: Option<u16>| {
                let word = word?;
                let (speed, width) = ((word & 15) as u8, u32::from(word >> 4 & 63));
                (speed > 0 && width > 0).then_some((speed, width))
            };
            return Config::Express(Express {
                port_type: (flags >> 4 & 15) as u8,
                payload_max,
                payload,
                read_request,
                relaxed_ordering: control & 0x10 != 0,
                aspm: word(here + 16).map_or(0, |control| (control & 3) as u8),
                link_most: link(word(here + 12)),
                link_now: link(word(here + 18)),
            });
        }
        at = next;
    }
    Config::Odd
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Vec<u8> {
        let mut bytes = vec![0; 256];
        bytes[..2].copy_from_slice(&[0x86, 0x80]);
        bytes[6] = 0x10;
        bytes[0x34] = 0x40;
        bytes[0x40..0x42].copy_from_slice(&[0x01, 0x70]);
        bytes[0x70..0x72].copy_from_slice(&[EXPRESS, 0]);
        bytes[0x72] = 0x42; // version 2, root port
        bytes[0x74] = 0x02; // 512 bytes supported
        bytes[0x78..0x7a].copy_from_slice(&0x5030u16.to_le_bytes()); // 4096, 256, relaxed ordering
        bytes[0x7c..0x7e].copy_from_slice(&0x0083u16.to_le_bytes()); // 8 GT/s, 8 lanes
        bytes[0x80] = 0x42; // L1, common clock
        bytes[0x82..0x84].copy_from_slice(&0x1042u16.to_le_bytes()); // 5 GT/s, 4 lanes
        bytes
    }

    #[test]
    fn the_capability_is_found_behind_others() {
        let expected = Express {
            port_type: 4,
            payload_max: 512,
            payload: 256,
            read_request: 4096,
            relaxed_ordering: true,
            aspm: 2,
            link_most: Some((3, 8)),
            link_now: Some((2, 4)),
        };
        assert_eq!(parse(&space()), Config::Express(expected));
    }

    #[test]
    fn a_user_sees_64_bytes_and_that_is_no_proof_of_absence() {
        assert_eq!(parse(&space()[..64]), Config::Hidden);
        assert_eq!(parse(&space()[..32]), Config::Odd);
        assert_eq!(parse(&[]), Config::Odd);
    }

    #[test]
    fn loops_and_nonsense_end() {
        let mut looped = space();
        looped[0x41] = 0x40;
        assert_eq!(parse(&looped), Config::Odd);
        let mut low = space();
        low[0x34] = 0x08;
        assert_eq!(parse(&low), Config::Odd);
        let mut none = space();
        none[6] = 0;
        assert_eq!(parse(&none), Config::Conventional);
        let mut end = space();
        end[0x41] = 0;
        assert_eq!(parse(&end), Config::Conventional);
        assert_eq!(parse(&[0xff; 256]), Config::Gone);
        let mut edge = space();
        edge[0x41] = 0xfc;
        edge[0xfc] = EXPRESS;
        assert_eq!(parse(&edge), Config::Odd);
    }
}
