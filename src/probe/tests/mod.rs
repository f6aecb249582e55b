//! Tests that need more than one part, a recording or this machine.

use super::*;

mod live;
