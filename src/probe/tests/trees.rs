//! Hosts that this machine is not, as replies made by hand.
