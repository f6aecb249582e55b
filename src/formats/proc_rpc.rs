//! /proc/net/rpc/nfs: what the NFS client asked in all.

/// Calls and those that were sent again, under the names of `nfsstat -c`.
pub fn client(text: &str) -> Option<[(&'static str, u64); 2]> {
    let line = text.lines().find_map(|line| line.strip_prefix("rpc "))?;
    let mut figures = line.split_ascii_whitespace().map(|figure| figure.parse::<u64>().ok());
    Some([("calls", figures.next()??), ("retrans", figures.next()??)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_stand_before_retransmissions() {
        assert_eq!(client("net 0 0 0 0\nrpc 5218 3 5230\nproc4 3 1 2 3\n"), Some([("calls", 5218), ("retrans", 3)]));
        for bad in ["", "rpc\n", "rpc 5\n", "rpc x 1\n"] {
            assert_eq!(client(bad), None, "{bad}");
        }
    }
}
