//! `netstat` of net-tools: interfaces (-i), statistics of the protocols (-s) and routes (-r, as `route` prints them).

pub mod interfaces;
pub mod routes;
pub mod sockets;
pub mod statistics;
