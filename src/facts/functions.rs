//! Functions that know networks, for the expression language.

use crate::lang::{Dim, Function, Type, Value};

use super::fact::Fact;
use crate::snapshot::LinkModes;

/// Speed that a link mode name begins with, in bit/s: `100000baseSR4/Full` is 100e9, `2500baseX/Full` is 2.5e9.
pub fn mode_speed(mode: &str) -> Option<f64> {
    let (megabits, _) = mode.split_once("base")?;
    let digits: &str = megabits.strip_suffix('G').unwrap_or(megabits);
    let number: f64 = digits.parse().ok()?;
    Some(if digits.len() == megabits.len() { number * 1e6 } else { number * 1e9 })
}

fn fastest(arguments: &[Value]) -> Option<Value> {
    let [Value::Set(modes)] = arguments else { return None };
    let speeds = modes.iter().filter_map(|mode| mode_speed(mode));
    speeds.reduce(f64::max).map(Value::Number)
}

pub(super) fn functions() -> Vec<Function> {
    vec![Function { name: "fastest", params: vec![LinkModes::kind()], result: Type::number(Dim::RATE), apply: fastest }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_of_a_mode_stands_in_its_name() {
        assert_eq!(mode_speed("100000baseSR4/Full"), Some(100e9));
        assert_eq!(mode_speed("10baseT/Half"), Some(10e6));
        assert_eq!(mode_speed("2500baseX/Full"), Some(2.5e9));
        assert_eq!(mode_speed("Autoneg"), None);
        assert_eq!(mode_speed("Pause"), None);
    }
}
