//! "Did you mean": the nearest of the names that exist.

/// So many suggestions are made at most.
const MOST: usize = 3;

/// The names nearest to `wanted`, best first, at most three, none that is far off.
pub fn closest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let reach = (wanted.chars().count() / 3).max(1);
    let mut near: Vec<_> = candidates
        .into_iter()
        .filter(|name| name.len().abs_diff(wanted.len()) <= 4 * reach)
        .map(|name| (distance(wanted, name), name))
        .filter(|(away, _)| *away <= reach)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// The sentence that offers the names; `None` when there are none.
pub(super) fn did_you_mean<S: AsRef<str>>(names: &[S]) -> Option<String> {
    let quoted: Vec<_> = names.iter().take(MOST).map(|name| format!("`{}`", name.as_ref())).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(", ")))
}

/// Edit distance in which a swap of neighbours is one step and a change of case is none.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let differs = usize::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_comes_first_and_far_ones_are_left_out() {
        let names = ["link.speed", "link.speeds", "link.sped", "ring.rx", "link.supported"];
        assert_eq!(closest("link.spede", names), ["link.sped", "link.speed", "link.speeds"]);
        assert!(closest("zzz", names).is_empty());
    }

    #[test]
    fn a_swap_is_one_step_and_case_is_free() {
        assert_eq!(distance("gbit", "Gbit"), 0);
        assert_eq!(distance("spede", "speed"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn offers_are_quoted() {
        assert_eq!(did_you_mean(&["a", "b"]).as_deref(), Some("did you mean `a`, `b`?"));
        assert_eq!(did_you_mean::<&str>(&[]), None);
    }
}
