//! Which rows of which blocks make up a canonical counter.

use std::collections::BTreeMap;

use super::{Counted, activity, made_up};
use crate::knowledge::schema::{DriverCounters, GenericCounter};
use crate::knowledge::{CanonicalCounter, DriverCounter, Knowledge, holes, matches, unnumbered};
use crate::reading::{Reading, SourceId};
use crate::snapshot::{Counter, CounterBlock, Growth, Host, Interface, Qdisc};

/// Groups that an interface without hardware has too.
const SOFTWARE_GROUPS: [&str; 5] = ["rtnl_link_stats64", "rtnl_link_carrier", "proc_net_dev", "qdisc", "tc_actions"];

/// One row and what is known of it.
pub(super) struct Row<'a> {
    pub(super) counter: &'a Counter,
    pub(super) width: Option<u8>,
    pub(super) instance: String,
}

/// Rows of one source that add up, or whose difference is the counter.
pub(super) struct Rows<'a> {
    source: SourceId,
    window: Option<f64>,
    plus: Vec<Row<'a>>,
    less: Vec<Row<'a>>,
    ambiguous: Option<&'a str>,
    aside: bool,
}

/// How far a row moved. A decrease is a reset, unless it is known to be so narrow that it went round; a counter that
/// was in its lower half before, or would have gone through more than half of its range, is taken for a reset.
pub(super) fn growth(counter: &Counter, width: Option<u8>) -> Option<u64> {
    match (counter.growth(), width) {
        (Growth::By(growth), _) => Some(growth),
        (Growth::Reset, Some(width @ 1..=63)) => {
            let (first, last) = ((*counter.values.first()?)?, (*counter.values.last()?)?);
            let range = 1u64 << width;
            let grown = last.wrapping_sub(first) & (range - 1);
            (first < range && first >= range / 2 && grown < range / 2).then_some(grown)
        }
        (Growth::Reset | Growth::OneSample, _) => None,
    }
}

impl<'a> Rows<'a> {
    /// Rows of a block by their names. `None` if one of them is not there.
    fn named(block: &'a CounterBlock, names: &[&str], width: Option<u8>) -> Option<Self> {
        let row = |name: &&str| block.get(name).map(|counter| Row { counter, width, instance: String::new() });
        let plus = names.iter().map(row).collect::<Option<Vec<_>>>()?;
        Some(Self::of(block, plus))
    }

    /// Rows of a block, or of several that were read at the same moments.
    pub(super) fn of(block: &'a CounterBlock, plus: Vec<Row<'a>>) -> Self {
        Self { source: block.source, window: block.window(), plus, less: Vec::new(), ambiguous: None, aside: false }
    }

    /// The sum. `None` if there is no row, or one without a value.
    pub(super) fn sum(&self) -> Option<Counted> {
        self.total_of(self.plus.iter())
    }

    /// The sum of each instance.
    pub(super) fn instances(&self) -> BTreeMap<String, Counted> {
        let mut names: Vec<&str> = self.plus.iter().map(|row| row.instance.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let of = |name: &str| self.total_of(self.plus.iter().filter(|row| row.instance == name));
        names.into_iter().filter(|name| !name.is_empty()).filter_map(|name| Some((name.into(), of(name)?))).collect()
    }

    fn total_of<'r>(&self, rows: impl Iterator<Item = &'r Row<'a>>) -> Option<Counted>
    where
        'a: 'r,
    {
        let mut counted = Counted {
            total: 0,
            growth: Some(0),
            window: self.window,
            source: self.source,
            rows: Vec::new(),
            ambiguous: self.ambiguous.map(Into::into),
            aside: self.aside,
            growth_only: false,
        };
        for row in rows {
            counted.total = counted.total.saturating_add(row.counter.total()?);
            let grown = growth(row.counter, row.width);
            counted.growth = counted.growth.zip(grown).map(|(sum, grown)| sum.saturating_add(grown));
            if counted.rows.last() != Some(&row.counter.name) {
                counted.rows.push(row.counter.name.clone());
            }
        }
        for row in &self.less {
            counted.total = counted.total.saturating_sub(row.counter.total().unwrap_or(0));
            let grown = growth(row.counter, row.width);
            counted.growth = counted.growth.zip(grown).map(|(sum, grown)| sum.saturating_sub(grown));
        }
        (!counted.rows.is_empty()).then_some(counted)
    }
}

/// A canonical counter that an interface is asked for.
pub(super) struct Ask<'a> {
    knowledge: &'a Knowledge,
    interface: &'a Interface,
    counter: &'a CanonicalCounter,
    driver: Option<&'a str>,
    known: Option<&'a DriverCounters>,
    own: Option<&'a DriverCounter>,
}

impl<'a> Ask<'a> {
    pub(super) fn new(knowledge: &'a Knowledge, interface: &'a Interface, counter: &'a CanonicalCounter) -> Self {
        let driver = interface.driver.name.known().map(String::as_str);
        let known = driver.and_then(|driver| knowledge.driver_counters(driver));
        let own = known.and_then(|known| known.canonical.get(&counter.name));
        Self { knowledge, interface, counter, driver, known, own }
    }

    /// False where only other drivers have this counter.
    pub(super) fn driver_may_have_it(&self) -> bool {
        let only = &self.counter.only;
        only.is_empty() || self.driver.is_none_or(|driver| only.iter().any(|name| name == driver))
    }

    /// The sources to be added, in the order of preference: the driver's names, the kernel field that this driver keeps it
    /// in, the generic sources.
    pub(super) fn gather(&self) -> Vec<Rows<'a>> {
        if self.counter.combine {
            let mut found = Vec::new();
            let generic = self.generic().or_else(|| self.own_rows(|own| &own.inside));
            let generic_is_missing = generic.is_none();
            found.extend(generic);
            found.extend(self.driver_rows());
            // One part alone is a proof where it is not zero, but its zero is no proof for the whole.
            if generic_is_missing && found.iter().filter_map(Rows::sum).all(|part| part.total == 0) {
                found.clear();
            }
            return found;
        }
        let found = if self.counter.generic_first {
            self.generic().or_else(|| self.driver_rows()).or_else(|| self.rtnl())
        } else {
            self.driver_rows().or_else(|| self.rtnl()).or_else(|| self.generic())
        };
        found.into_iter().collect()
    }

    /// With nothing found: true where it may exist all the same.
    pub(super) fn is_unknown(&self) -> bool {
        if self.lacks_queues() {
            return false;
        }
        if self.counter.generic.iter().any(|source| self.usable(source)) {
            return true;
        }
        if made_up(&self.interface.kind) {
            return false;
        }
        match (self.own, self.known) {
            // The list was read and the name is not in it.
            (Some(own), _) => {
                self.statistics().is_none_or(|block| block.partial)
                    || (!own.rtnl.is_empty() && self.block("rtnl_link_stats64").is_none())
            }
            (None, Some(known)) => known.by_class,
            (None, None) => true,
        }
    }

    /// True for a counter of queueing disciplines where packets wait in none.
    fn lacks_queues(&self) -> bool {
        let sources = &self.counter.generic;
        let qdiscs = self.interface.qdiscs.known();
        !sources.is_empty()
            && sources.iter().all(|source| source.group == "qdisc")
            && qdiscs.is_some_and(|all| !all.iter().any(|one| is_leaf(one, all)))
    }

    fn block(&self, group: &str) -> Option<&'a CounterBlock> {
        self.interface.counters.iter().find(|block| block.group == group)
    }

    fn statistics(&self) -> Option<&'a CounterBlock> {
        self.block("ethtool_statistics")
    }

    /// The driver's own rows by its file.
    fn driver_rows(&self) -> Option<Rows<'a>> {
        let own = self.own?;
        let mut rows = self
            .own_rows(|own| &own.add)
            .or_else(|| own.instead.iter().find_map(|pattern| self.matching(std::slice::from_ref(pattern))))?;
        rows.less = self.matching(&own.less).map_or_else(Vec::new, |less| less.plus);
        Some(rows)
    }

    fn own_rows(&self, names: fn(&DriverCounter) -> &Vec<String>) -> Option<Rows<'a>> {
        let own = self.own?;
        let mut rows = self.matching(names(own))?;
        rows.aside = own.aside;
        rows.ambiguous = self.doubt(own.ambiguous.as_deref());
        Some(rows)
    }

    fn doubt(&self, own: Option<&'a str>) -> Option<&'a str> {
        let by_class = self.known.is_some_and(|known| known.by_class);
        own.or_else(|| by_class.then_some("the driver's names were sorted by their class, not checked one by one"))
    }

    /// Rows of the driver's statistics that match one of the patterns; `None` if there is none.
    fn matching(&self, patterns: &[String]) -> Option<Rows<'a>> {
        let block = self.statistics()?;
        let plus: Vec<Row<'a>> = block
            .counters
            .iter()
            .filter_map(|counter| {
                let pattern = patterns.iter().find(|pattern| matches(pattern, unnumbered(&counter.name)))?;
                let width = if counter.growth() == Growth::Reset {
                    self.driver.and_then(|driver| self.knowledge.counter_width(driver, &counter.name))
                } else {
                    None
                };
                Some(Row { counter, width, instance: self.instance(block, pattern, counter) })
            })
            .collect();
        (!plus.is_empty()).then(|| Rows::of(block, plus))
    }

    /// The number in the name, or, where a driver repeats a name for each queue, its place among its like.
    fn instance(&self, block: &CounterBlock, pattern: &str, counter: &Counter) -> String {
        if self.counter.per.is_none() {
            return String::new();
        }
        if pattern.contains("{n}") {
            return holes(pattern, unnumbered(&counter.name));
        }
        let like = block.counters.iter().filter(|other| unnumbered(&other.name) == unnumbered(&counter.name));
        like.take_while(|other| !std::ptr::eq(*other, counter)).count().to_string()
    }

    /// The kernel's fields in which this driver keeps the counter.
    fn rtnl(&self) -> Option<Rows<'a>> {
        let own = self.own.filter(|own| !own.rtnl.is_empty())?;
        let block = self.block("rtnl_link_stats64")?;
        let names = |list: &'a [String]| list.iter().map(String::as_str).collect::<Vec<_>>();
        let mut rows = Rows::named(block, &names(&own.rtnl), None)?;
        rows.less = Rows::named(block, &names(&own.rtnl_less), None)?.plus;
        rows.ambiguous = self.doubt(own.rtnl_ambiguous.as_deref().or(own.ambiguous.as_deref()));
        rows.aside = own.aside;
        Some(rows)
    }

    /// True where this generic source may hold the counter of this interface.
    fn usable(&self, source: &GenericCounter) -> bool {
        let counter = self.counter;
        let named = |names: &[String]| self.driver.is_some_and(|driver| names.iter().any(|name| name == driver));
        if named(&counter.not_generic) || (counter.generic_unless_listed && self.known.is_some()) {
            return false;
        }
        if made_up(&self.interface.kind) {
            return SOFTWARE_GROUPS.contains(&source.group.as_str()) && !counter.generic_unless_listed;
        }
        let lacked = |set: &String| {
            let filled = self.known.and_then(|known| known.standard.as_ref());
            filled.is_some_and(|sets| !sets.contains(set)) && self.block(&source.group).is_none()
        };
        !source.set.as_ref().is_some_and(lacked)
    }

    fn generic(&self) -> Option<Rows<'a>> {
        let counter = self.counter;
        counter.generic.iter().filter(|source| self.usable(source)).find_map(|source| {
            let mut rows = if source.group == "qdisc" {
                self.leaves(source)
            } else if source.group == "interrupts" {
                let by_cpu = source.instances.as_deref().is_some_and(|pattern| pattern.starts_with("cpu"));
                activity::of_interrupts(self.interface, by_cpu)
            } else {
                of_block(self.block(&source.group)?, source)
            }?;
            let doubt = source.ambiguous.as_deref().or(counter.generic_ambiguous.as_deref());
            rows.ambiguous = rows.ambiguous.or(doubt);
            Some(rows)
        })
    }

    /// The leaves of the tree of queueing disciplines: those above them repeat their sums.
    fn leaves(&self, source: &'a GenericCounter) -> Option<Rows<'a>> {
        let Reading::Known(qdiscs, _) = &self.interface.qdiscs else { return None };
        let mut found: Option<Rows<'a>> = None;
        let mut ambiguous = false;
        for leaf in qdiscs.iter().filter(|qdisc| is_leaf(qdisc, qdiscs)) {
            let block = leaf.counters.as_ref()?;
            let counter = block.get(&source.key)?;
            ambiguous |= source.ambiguous_in.contains(&leaf.kind) && counter.total() != Some(0);
            let instance = format!("{} {}", leaf.kind, if leaf.parent == "root" { &leaf.handle } else { &leaf.parent });
            let row = Row { counter, width: source.width, instance };
            match &mut found {
                Some(rows) => rows.plus.push(row),
                None => found = Some(Rows::of(block, vec![row])),
            }
        }
        if let Some(rows) = found.as_mut().filter(|_| ambiguous) {
            rows.ambiguous = Some("active queue management drops on purpose, and these drops are counted too");
        }
        found
    }
}

/// True for a discipline in which packets to send wait and on which nothing hangs.
pub(in crate::facts) fn is_leaf(qdisc: &Qdisc, all: &[Qdisc]) -> bool {
    let major = |name: &str| match name.split(':').next() {
        None | Some("") => "0".to_owned(),
        Some(major) => major.to_owned(),
    };
    if matches!(qdisc.kind.as_str(), "ingress" | "clsact" | "noqueue") || qdisc.parent == "ingress" {
        return false;
    }
    let own = major(&qdisc.handle);
    let is_root = qdisc.parent == "root";
    // The handle 0: is that of every qdisc which nobody named; then the root has the children.
    if own == "0" && !is_root {
        return true;
    }
    !all.iter().any(|other| {
        !std::ptr::eq(other, qdisc)
            && !matches!(other.parent.as_str(), "root" | "ingress" | "clsact")
            && other.parent.contains(':')
            && major(&other.parent) == own
    })
}

/// The rows of a generic source in its block: its instances where they are told apart, else the sum.
fn of_block<'a>(block: &'a CounterBlock, source: &GenericCounter) -> Option<Rows<'a>> {
    if let Some(pattern) = &source.instances {
        let plus: Vec<Row<'a>> = block
            .counters
            .iter()
            .filter(|counter| matches(pattern, unnumbered(&counter.name)))
            .map(|counter| Row { counter, width: source.width, instance: holes(pattern, &counter.name) })
            .collect();
        if !plus.is_empty() {
            return Some(Rows::of(block, plus));
        }
    }
    let mut names = vec![source.key.as_str()];
    names.extend(source.plus.iter().map(String::as_str));
    Rows::named(block, &names, source.width)
}

/// A canonical counter of the host.
pub(super) fn of_host<'a>(host: &'a Host, counter: &'a CanonicalCounter) -> Option<Rows<'a>> {
    counter.generic.iter().find_map(|source| {
        let block = host.counters.known().and_then(|blocks| blocks.iter().find(|block| block.group == source.group));
        let mut rows = match block {
            Some(block) => of_block(block, source),
            None => activity::of_cpus(host, source),
        }?;
        rows.ambiguous = source.ambiguous.as_deref().or(counter.generic_ambiguous.as_deref());
        Some(rows)
    })
}

/// A canonical counter of a PCI function: errors of one kind, each by its own name.
pub(super) fn of_device<'a>(block: &'a CounterBlock, counter: &CanonicalCounter) -> Option<Rows<'a>> {
    let kind = counter.generic.first()?.group.strip_prefix("aer_")?;
    let is_of = |name: &str| name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('.'));
    let plus = block.counters.iter().filter(|row| is_of(&row.name));
    let plus: Vec<Row<'a>> = plus.map(|counter| Row { counter, width: None, instance: String::new() }).collect();
    (!plus.is_empty()).then(|| Rows::of(block, plus))
}

/// The sum of rows of the driver's statistics that match one of the patterns; `None` if there is none.
pub(super) fn sum_of(block: &CounterBlock, patterns: &[String]) -> Option<Counted> {
    let plus: Vec<Row<'_>> = block
        .counters
        .iter()
        .filter(|counter| patterns.iter().any(|pattern| matches(pattern, unnumbered(&counter.name))))
        .map(|counter| Row { counter, width: None, instance: String::new() })
        .collect();
    Rows::of(block, plus).sum()
}
