//! What stands on what: the bond on its members, the VLAN on its parent. Built once for a snapshot.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::snapshot::Snapshot;

/// Interfaces by what they stand on, as positions in the snapshot.
pub(super) struct Stack {
    /// Directly below each interface.
    below: Vec<BTreeSet<usize>>,
    /// True for interfaces with a device of their own.
    hardware: Vec<bool>,
    /// Itself and all that is below, as far as anybody asked.
    known: RefCell<BTreeMap<usize, Rc<BTreeSet<usize>>>>,
    /// The hardware of that, likewise.
    known_hardware: RefCell<BTreeMap<usize, Rc<BTreeSet<usize>>>>,
}

impl Stack {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let interfaces = &snapshot.interfaces;
        let mut by_name: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (index, one) in interfaces.iter().enumerate() {
            by_name.entry((&one.namespace, &one.name)).or_insert(index);
        }
        let mut below = vec![BTreeSet::new(); interfaces.len()];
        for (index, one) in interfaces.iter().enumerate() {
            let named = |name: &str| by_name.get(&(one.namespace.as_str(), name)).copied();
            let members = one.stack.members.known().into_iter().flatten().map(String::as_str);
            let bonded = one.bond.members.known().into_iter().flatten().map(|member| member.name.as_str());
            let parent = one.stack.parent.known().map(String::as_str);
            below[index].extend(members.chain(bonded).chain(parent).filter_map(named));
            if let Some(master) = one.stack.master.known().and_then(|name| named(name)) {
                below[master].insert(index);
            }
        }
        let hardware = interfaces.iter().map(|one| one.device.known().is_some()).collect();
        Self { below, hardware, known: RefCell::default(), known_hardware: RefCell::default() }
    }

    /// An interface and all that it stands on.
    pub(super) fn down_from(&self, interface: usize) -> Rc<BTreeSet<usize>> {
        if let Some(known) = self.known.borrow().get(&interface) {
            return Rc::clone(known);
        }
        let mut all = BTreeSet::new();
        let mut open = vec![interface];
        // Names that were read at different moments may point in a ring: each interface is visited once.
        while let Some(next) = open.pop() {
            if all.insert(next) {
                open.extend(self.below.get(next).into_iter().flatten());
            }
        }
        let all = Rc::new(all);
        self.known.borrow_mut().insert(interface, Rc::clone(&all));
        all
    }

    /// The hardware that an interface stands on; the interface itself where there is none.
    pub(super) fn hardware_of(&self, interface: usize) -> Rc<BTreeSet<usize>> {
        if let Some(known) = self.known_hardware.borrow().get(&interface) {
            return Rc::clone(known);
        }
        let below = self.down_from(interface);
        let mut found: BTreeSet<usize> = below.iter().copied().filter(|index| self.is_hardware(*index)).collect();
        if found.is_empty() {
            found.insert(interface);
        }
        let found = Rc::new(found);
        self.known_hardware.borrow_mut().insert(interface, Rc::clone(&found));
        found
    }

    /// True for an interface with a device of its own: virtual ones carry again what their ports carry.
    pub(super) fn is_hardware(&self, interface: usize) -> bool {
        self.hardware.get(interface).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stack of these interfaces, and their names in the order of the snapshot.
    fn stack(interfaces: &str) -> (Stack, Vec<String>) {
        let text = format!(r#"{{"schema": "netdoctor.snapshot/1", "interfaces": [{interfaces}]}}"#);
        let snapshot = Snapshot::from_json(&text).unwrap();
        let names = snapshot.interfaces.iter().map(|one| one.namespace.clone() + &one.name).collect();
        (Stack::of(&snapshot), names)
    }

    fn named(
        (stack, names): &(Stack, Vec<String>),
        of: &str,
        get: fn(&Stack, usize) -> BTreeSet<usize>,
    ) -> Vec<String> {
        let at = names.iter().position(|name| name == of).unwrap();
        get(stack, at).iter().map(|index| names[*index].clone()).collect()
    }

    fn down(all: &(Stack, Vec<String>), of: &str) -> Vec<String> {
        named(all, of, |stack, at| (*stack.down_from(at)).clone())
    }

    #[test]
    fn a_vlan_stands_on_its_bond_and_on_the_members_of_that() {
        let all = stack(
            r#"{"name": "eth0", "device": ["0000:01:00.0", "assumed"], "stack": {"master": ["bond0", "assumed"]}},
               {"name": "eth1", "device": ["0000:02:00.0", "assumed"]},
               {"name": "bond0", "bond": {"members": [[{"name": "eth1"}], "assumed"]}},
               {"name": "bond0.5", "stack": {"parent": ["bond0", "assumed"]}},
               {"name": "br0", "stack": {"members": [["bond0.5", "veth0"], "assumed"]}},
               {"name": "veth0"}"#,
        );
        assert_eq!(down(&all, "eth0"), ["eth0"]);
        assert_eq!(down(&all, "bond0"), ["bond0", "eth0", "eth1"], "each of master and member list is enough");
        assert_eq!(down(&all, "bond0.5"), ["bond0", "bond0.5", "eth0", "eth1"]);
        assert_eq!(down(&all, "br0"), ["bond0", "bond0.5", "br0", "eth0", "eth1", "veth0"]);
        assert_eq!(named(&all, "br0", |stack, at| (*stack.hardware_of(at)).clone()), ["eth0", "eth1"]);
        assert_eq!(named(&all, "veth0", |stack, at| (*stack.hardware_of(at)).clone()), ["veth0"], "nothing below it");
    }

    #[test]
    fn names_are_those_of_a_namespace_and_rings_end() {
        let all = stack(
            r#"{"name": "eth0"},
               {"name": "eth0", "namespace": "blue", "stack": {"parent": ["v", "assumed"]}},
               {"name": "v", "namespace": "blue", "stack": {"parent": ["eth0", "assumed"]}}"#,
        );
        assert_eq!(down(&all, "eth0"), ["eth0"]);
        assert_eq!(down(&all, "blueeth0"), ["blueeth0", "bluev"]);
        assert_eq!(down(&all, "bluev"), ["blueeth0", "bluev"]);
    }
}
