//! What programs that measure throughput print: iperf3, iperf 2, netperf, nuttcp and perftest.

pub mod iperf2;
pub mod iperf3;
pub mod netperf;
pub mod nuttcp;
pub mod perftest;
mod row;

use super::cursor::{Cursor, lines};

/// One direction of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Program: `iperf3`, `iperf`, `netperf`, `nuttcp`, `ib_write_bw` ...
    pub tool: &'static str,
    /// Line of the summary that it was read from, from 1.
    pub line: u32,
    /// Rate at the receiver (at the sender, where the receiver's is not told), bit/s.
    pub bits_per_second: f64,
    /// Length in seconds; none where the test was cut off.
    pub seconds: Option<f64>,
    /// How many intervals the rate is the average of, where the summary is missing.
    pub average_of: Option<u32>,
    /// Parallel streams.
    pub streams: u32,
    /// Segments sent again; none where the sender's system does not tell, or for UDP.
    pub retransmits: Option<u64>,
    /// Whether the end that printed this sent the data; none where that does not show.
    pub sent: Option<bool>,
    /// True for UDP.
    pub udp: bool,
    /// True where the other direction ran at the same time.
    pub both_ways: bool,
    /// A test of RDMA.
    pub rdma: Option<Rdma>,
    /// The rate was printed as MB and meant 2^20 bytes.
    pub binary_megabytes: bool,
    /// Whether the sender came to a stand; none where the intervals do not show.
    pub stand: Option<Stand>,
    /// Version of the program, for example `3.12`.
    pub version: Option<String>,
    /// Segment size in bytes.
    pub mss: Option<u64>,
    /// Buffer size that was asked for, in bytes.
    pub window: Option<u64>,
    /// Address of the end that printed this.
    pub local: Option<String>,
    /// Address of the other end.
    pub peer: Option<String>,
}

/// What a test of RDMA says of its path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rdma {
    /// Payload of one packet in bytes.
    pub mtu: Option<u32>,
    /// RDMA device, for example `mlx5_0`.
    pub device: Option<String>,
    /// Over Ethernet (RoCE); false over InfiniBand.
    pub ethernet: Option<bool>,
}

/// Whether a sender came to a stand right at the beginning of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// It went on.
    Flowed,
    /// It sent less than a megabyte and then nothing for three intervals or more, and its congestion window stood still at
    /// this many bytes, which is no more than a segment.
    Stalled(u64),
}

/// Reads the output that begins with the next line; none where that is not the beginning of one. An output may hold no
/// result: a test that failed.
pub fn take(cursor: &mut Cursor<'_>) -> Option<Vec<Run>> {
    let readers: [fn(&mut Cursor<'_>) -> Option<Vec<Run>>; 5] =
        [perftest::read, iperf3::read, iperf2::read, netperf::read, nuttcp::read];
    readers.iter().find_map(|reader| reader(cursor))
}

/// Reads all results of a text. Nothing recognised: none.
pub fn parse(text: &str) -> Vec<Run> {
    let lines = lines(text);
    let mut cursor = Cursor::new(&lines);
    let mut runs = Vec::new();
    while cursor.peek().is_some() {
        match take(&mut cursor) {
            Some(found) => runs.extend(found),
            None => {
                cursor.pass();
            }
        }
    }
    runs
}
