//! When a finding was seen, and whether what was seen then can be behind something that was seen at another time.

use super::Reservation;
use crate::rules::arms::{ArmName, Held};
use crate::rules::evaluate::Finding;

/// Seconds in which an event of the log may bear on what follows.
const FOLLOWS: f64 = 600.0;

/// When a finding was seen. Ages are seconds before the newest sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seen {
    /// It is so: a state, a setting.
    Standing,
    /// In a test that the user made.
    Measured,
    /// It grew in the sample of this length, or between two outputs.
    Sample(f64),
    /// In the log, from the newest to the oldest event where they bear times.
    Log { newest: Option<f64>, oldest: Option<f64>, old: bool },
    /// At some time since the driver was loaded.
    SinceStart { grew: Option<f64>, stood_still: bool },
}

impl Seen {
    pub(super) fn of(finding: &Finding) -> Self {
        match &finding.arm {
            Some(held) => Self::by_arm(held),
            None if finding.senders.results.is_empty() => Self::Standing,
            None => Self::Measured,
        }
    }

    fn by_arm(held: &Held) -> Self {
        match held.name {
            ArmName::Delta | ArmName::Repeat => Self::Sample(held.window.unwrap_or(0.0)),
            ArmName::Log => Self::Log { newest: held.age, oldest: held.oldest, old: held.old },
            ArmName::Totals => Self::SinceStart { grew: held.grew, stood_still: held.not_growing },
        }
    }

    /// It was measured, and speaks of now.
    pub(super) fn is_now(self) -> bool {
        matches!(self, Self::Measured | Self::Sample(_) | Self::Log { old: false, .. })
    }
}

/// Whether the times of a cause and a symptom fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Both were seen at the same time.
    Same,
    /// They may have been.
    Perhaps,
    /// Not shown; the cause may have a part in it all the same.
    NotShown(Reservation),
    /// Shown not to.
    Never,
}

/// Whether what was seen as `cause` can be behind what was seen as `symptom`.
pub(super) fn fit(cause: Seen, symptom: Seen) -> Fit {
    use Seen::{Log, Measured, Sample, SinceStart, Standing};
    match (cause, symptom) {
        (SinceStart { .. }, SinceStart { .. }) => Fit::Same,
        // What is so now need not have been so all the time.
        (_, SinceStart { .. }) => Fit::Perhaps,
        (Standing, _) | (Sample(_) | Measured, Standing | Sample(_) | Measured) => Fit::Same,
        (SinceStart { grew, stood_still }, _) => since_start(grew, stood_still, symptom),
        // When a test was made is not known.
        (Measured, Log { .. }) | (Log { .. }, Measured) | (Log { old: true, .. }, Standing) => {
            Fit::NotShown(Reservation::OtherTime)
        }
        (Sample(length), Log { newest, .. }) => within(newest, length),
        (Log { newest, .. }, Sample(length)) => within(newest, length + FOLLOWS),
        // A state may date from an event of any age.
        (Log { newest, .. }, Standing) if newest.is_some_and(|newest| newest <= FOLLOWS) => Fit::Same,
        (Log { .. }, Standing) => Fit::Perhaps,
        (Log { newest: a_new, oldest: a_old, .. }, Log { newest: b_new, oldest: b_old, .. }) => {
            let (Some((a_new, a_old)), Some((b_new, b_old))) = (a_new.zip(a_old), b_new.zip(b_old)) else {
                return Fit::Perhaps;
            };
            // Ages fall as time goes on: the effect of an event has an age between its own and FOLLOWS less.
            let overlap = b_new <= a_old && b_old >= a_new - FOLLOWS;
            if overlap { Fit::Same } else { Fit::NotShown(Reservation::OtherTime) }
        }
    }
}

/// An event of the log against a span of time that ends now.
fn within(newest: Option<f64>, span: f64) -> Fit {
    match newest {
        None => Fit::Perhaps,
        Some(newest) if newest <= span => Fit::Same,
        Some(_) => Fit::NotShown(Reservation::OtherTime),
    }
}

/// What was counted since the driver was loaded against what was seen now.
fn since_start(grew: Option<f64>, stood_still: bool, symptom: Seen) -> Fit {
    let grows = grew.is_some_and(|grew| grew > 0.0);
    match symptom {
        _ if stood_still => Fit::Never,
        Seen::Standing => Fit::Perhaps,
        Seen::Sample(_) | Seen::Measured if grows => Fit::Perhaps,
        _ => Fit::NotShown(Reservation::SinceStart),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINCE: Fit = Fit::NotShown(Reservation::SinceStart);
    const ELSEWHEN: Fit = Fit::NotShown(Reservation::OtherTime);

    fn since(grew: Option<f64>) -> Seen {
        Seen::SinceStart { grew, stood_still: false }
    }

    fn log(newest: f64, oldest: f64) -> Seen {
        Seen::Log { newest: Some(newest), oldest: Some(oldest), old: false }
    }

    #[test]
    fn what_was_seen_since_boot_explains_the_sample_only_if_it_grew_there() {
        for symptom in [Seen::Sample(3.0), Seen::Measured] {
            assert_eq!(fit(since(None), symptom), SINCE, "{symptom:?}");
            assert_eq!(fit(since(Some(0.0)), symptom), SINCE, "{symptom:?}");
            assert_eq!(fit(since(Some(1.0)), symptom), Fit::Perhaps, "{symptom:?}");
            assert_eq!(fit(Seen::SinceStart { grew: Some(0.0), stood_still: true }, symptom), Fit::Never);
            assert_eq!(fit(Seen::Sample(3.0), symptom), Fit::Same);
            assert_eq!(fit(Seen::Standing, symptom), Fit::Same);
        }
        assert_eq!(fit(since(None), since(None)), Fit::Same);
        assert_eq!(fit(since(None), Seen::Standing), Fit::Perhaps);
        assert_eq!(fit(Seen::SinceStart { grew: Some(0.0), stood_still: true }, Seen::Standing), Fit::Never);
        assert_eq!(fit(Seen::Sample(3.0), since(None)), Fit::Perhaps, "what grows now need not be what grew before");
        assert_eq!(fit(since(Some(5.0)), log(5.0, 50.0)), SINCE);
    }

    #[test]
    fn events_explain_what_follows_within_minutes_and_nothing_before_them() {
        let hour = 3600.0;
        for (what, cause, symptom, expected) in [
            ("the same hour", log(hour, 2.0 * hour), log(hour, 2.0 * hour), Fit::Same),
            ("five minutes later", log(hour, hour), log(hour - 300.0, hour - 300.0), Fit::Same),
            ("an hour later", log(2.0 * hour, 2.0 * hour), log(hour, hour), ELSEWHEN),
            ("a second before", log(hour, hour), log(hour + 1.0, hour + 1.0), ELSEWHEN),
            ("one of several after it", log(hour, hour), log(hour - 60.0, 5.0 * hour), Fit::Same),
            ("no times", Seen::Log { newest: None, oldest: None, old: false }, log(hour, hour), Fit::Perhaps),
        ] {
            assert_eq!(fit(cause, symptom), expected, "{what}");
        }
        assert_eq!(fit(log(610.0, 9000.0), Seen::Sample(10.0)), Fit::Same);
        assert_eq!(fit(log(611.0, 9000.0), Seen::Sample(10.0)), ELSEWHEN);
        assert_eq!(fit(Seen::Sample(10.0), log(10.0, 9000.0)), Fit::Same);
        assert_eq!(fit(Seen::Sample(10.0), log(11.0, 9000.0)), ELSEWHEN, "the log tells what came before the sample");
    }

    #[test]
    fn a_state_may_date_from_an_event_of_the_log() {
        assert_eq!(fit(log(60.0, 9000.0), Seen::Standing), Fit::Same);
        assert_eq!(fit(log(7200.0, 9000.0), Seen::Standing), Fit::Perhaps);
        let old = Seen::Log { newest: Some(1e7), oldest: Some(2e7), old: true };
        assert_eq!(fit(old, Seen::Standing), ELSEWHEN);
        assert!(!old.is_now() && log(1.0, 1.0).is_now() && !since(Some(9.0)).is_now() && !Seen::Standing.is_now());
    }
}
