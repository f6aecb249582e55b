//! What the protocols of the host know: flows, routes, neighbours, tables and mounts.

use super::counters::CounterBlock;
use super::section::{row, section};
use crate::reading::{BitsPerSecond, Bytes, Seconds};

/// The address in an end of a connection such as `192.0.2.1:22` or `[2001:db8::1]:443`.
pub fn address_of(end: &str) -> &str {
    let address = end.rsplit_once(':').map_or(end, |(address, _)| address);
    address.trim_start_matches('[').trim_end_matches(']')
}

row! {
    /// A TCP connection (sock_diag, `ss -tin`).
    Flow {
        /// Own address and port.
        local = String,
        /// Address and port of the other end.
        peer = String,
        ;
        /// Interface that its route leaves by.
        interface: String,
        /// Congestion control.
        congestion: String,
        /// Smoothed round trip time.
        rtt: Seconds,
        /// Least round trip time.
        min_rtt: Seconds,
        /// Segment size.
        mss: Bytes,
        /// Path MTU.
        pmtu: Bytes,
        /// Congestion window in segments.
        cwnd: u32,
        /// Segments sent again since it was opened.
        retransmits: u64,
        /// Segments sent.
        segments_out: u64,
        /// Bytes that the other end acknowledged.
        bytes_acked: u64,
        /// Bytes received.
        bytes_received: u64,
        /// Time that it had something to send.
        busy: Seconds,
        /// Time that the window of the other end held it back.
        rwnd_limited: Seconds,
        /// Time that its own send buffer held it back.
        sndbuf_limited: Seconds,
        /// Rate at which data was last delivered.
        delivery_rate: BitsPerSecond,
        /// Rate to which it is paced.
        pacing_rate: BitsPerSecond,
        /// The program gave it too little to send.
        app_limited: bool,
        /// Receive buffer.
        receive_buffer: Bytes,
        /// Send buffer.
        send_buffer: Bytes,
        /// The program set its buffers, so that the kernel does not tune them.
        buffer_locked: bool,
        /// Packets that its socket dropped.
        drops: u64,
        /// Bytes that the program has not read yet.
        receive_queue: Bytes,
        /// Segments that are on their way and not acknowledged.
        unacked: u32,
        /// Times in a row that its retransmission timer ran out without an answer.
        backoff: u32,
        /// Its counters at each sample, times in microseconds: `bytes_acked bytes_received segments_out retransmits busy
        /// rwnd_limited sndbuf_limited`.
        samples: CounterBlock,
    }
}

row! {
    /// A TCP socket that waits for connections (sock_diag, `ss -ltnm`).
    Listener {
        /// Own address and port.
        local = String,
        ;
        /// Program that holds it.
        program: String,
        /// Connections that wait to be accepted.
        waiting: u32,
        /// Most connections that may wait.
        most: u32,
        /// Receive buffer that its connections begin with.
        receive_buffer: Bytes,
        /// Send buffer that its connections begin with.
        send_buffer: Bytes,
    }
}

row! {
    /// A UDP socket (`ss -uanm`, /proc/net/udp).
    UdpSocket {
        /// Own address and port.
        local = String,
        ;
        /// Program that holds it.
        program: String,
        /// Bytes that the program has not read yet.
        receive_queue: Bytes,
        /// Receive buffer.
        receive_buffer: Bytes,
        /// Datagrams that found no room since it was opened.
        drops: u64,
    }
}

row! {
    /// A route.
    Route {
        /// `default` or a network such as `192.0.2.0/24`.
        destination = String,
        ;
        /// Interfaces that it leaves by; several for multipath.
        interfaces: Vec<String>,
        /// Next hop, the first of several; absent for a network that is attached.
        gateway: String,
        /// Table, by name or number.
        table: String,
        /// Metric.
        metric: u32,
        /// Own address that it prefers.
        source: String,
        /// MTU that it sets; absent where it sets none.
        mtu: Bytes,
        /// Initial congestion window that it sets; absent where it sets none.
        initcwnd: u32,
        /// Initial receive window that it sets; absent where it sets none.
        initrwnd: u32,
    }
}

section! {
    /// Neighbour tables.
    Neighbours {
        /// Entries for IPv4 that count against `gc_thresh3`: permanent ones and multicast addresses do not.
        v4: u32,
        /// Entries for IPv6, likewise.
        v6: u32,
        /// Entries that never answered.
        failed: u32,
    }
}

section! {
    /// The way to the one other end that somebody asked about.
    Peer {
        /// Its address.
        address: String,
        /// Interface that packets to it leave by; absent where there is no route.
        interface: String,
        /// Own address that they bear.
        source: String,
        /// Next hop; absent where it is on the same link.
        gateway: String,
        /// Largest packet that the route takes, by itself or by what the kernel learned of the path; absent where only the
        /// interface limits it.
        mtu: Bytes,
        /// State of the next hop in the neighbour table: `reachable`, `stale`, `failed` ...; absent without an entry.
        neighbour: String,
        /// Its hardware address.
        neighbour_address: String,
    }
}

section! {
    /// Connection tracking. Absent where it is not loaded.
    Conntrack {
        /// Entries.
        count: u64,
        /// Most entries.
        max: u64,
        /// Hash buckets.
        buckets: u64,
    }
}

row! {
    /// An NFS mount.
    NfsMount {
        /// Where it is mounted.
        path = String,
        ;
        /// Server and export.
        export: String,
        /// Address of the server.
        server: String,
        /// Interface that the route to it leaves by, where the kernel was asked for it.
        interface: String,
        /// Version, for example `4.2`.
        version: String,
        /// Transport: `tcp`, `udp`, `rdma`.
        transport: String,
        /// Connections.
        nconnect: u32,
        /// Largest read request.
        rsize: Bytes,
        /// Largest write request.
        wsize: Bytes,
        /// Requests.
        operations: u64,
        /// Requests sent again.
        retransmissions: u64,
    }
}
