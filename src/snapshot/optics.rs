//! The pluggable module of a port: what it is, and what its diagnostics say (SFF-8472, SFF-8636, CMIS).

use super::section::{row, section};
use crate::reading::{Celsius, Decibel};

section! {
    /// A pluggable module. Absent where the port has no cage.
    Module {
        /// A module sits in the cage.
        present: bool,
        /// Form factor as `ethtool -m` names it: `SFP`, `QSFP28`, `QSFP-DD` ...
        identifier: String,
        /// Vendor.
        vendor: String,
        /// Part number.
        part_number: String,
        /// Compliance codes: `10G Base-SR`, `100G Base-CR4` ..., in lower case.
        compliance: Vec<String>,
        /// Nominal bit rate in Mb/s.
        bit_rate: u32,
        /// True for a passive or active copper cable.
        copper: bool,
        /// True where the module has diagnostics.
        diagnostics: bool,
        /// Temperature.
        temperature: Celsius,
        /// Supply voltage in volts.
        voltage: f64,
        /// Lanes, in their order.
        lanes: Vec<ModuleLane>,
        /// The module reports a fault of its transmitter.
        tx_fault: bool,
        /// The module reports a loss of the received signal.
        rx_los: bool,
        ;
        /// Thresholds that the vendor wrote into the module.
        thresholds = ModuleThresholds,
    }
}

row! {
    /// A lane of a module.
    ModuleLane {
        /// From 1.
        lane = u32,
        ;
        /// Received optical power; no light is minus infinity, which is written as -40 dBm.
        rx_power: Decibel,
        /// Transmitted optical power.
        tx_power: Decibel,
        /// Laser bias current in milliampere.
        bias: f64,
    }
}

section! {
    /// Thresholds of a module. All zero, or a low one above a high one, are not valid.
    ModuleThresholds {
        /// Received power, high alarm.
        rx_power_high_alarm: Decibel,
        /// Received power, low alarm.
        rx_power_low_alarm: Decibel,
        /// Received power, high warning.
        rx_power_high_warn: Decibel,
        /// Received power, low warning.
        rx_power_low_warn: Decibel,
        /// Transmitted power, high warning.
        tx_power_high_warn: Decibel,
        /// Transmitted power, low warning.
        tx_power_low_warn: Decibel,
        /// Bias current, high warning, in milliampere.
        bias_high_warn: f64,
        /// Bias current, low warning, in milliampere.
        bias_low_warn: f64,
        /// Temperature, high alarm.
        temperature_high_alarm: Celsius,
        /// Temperature, high warning.
        temperature_high_warn: Celsius,
    }
}
