use super::*;
use crate::lang::testing::{BOX, Room, evaluated, key, number, outcome, program, set, shelf, word};
use crate::lang::value::Version;
use proptest::prelude::*;

const T: State = State::TRUE;
const F: State = State::FALSE;
const A: State = State::Absent;
const U: State = State::Unknown;

fn keys(paths: &[&str]) -> BTreeSet<Key> {
    paths.iter().map(|path| key(shelf(0), path)).collect()
}

fn item(index: u32) -> Entity {
    Entity { scope: BOX, index }
}

fn two(a: &State, b: &State) -> Room {
    Room::new().shelf("locked", a.clone()).shelf("lit", b.clone())
}

#[test]
fn and_or_and_not_follow_their_tables() {
    // a, b, a and b, a or b
    let table = [
        (T, T, T, T),
        (T, F, F, T),
        (T, A, A, T),
        (T, U, U, T),
        (F, F, F, F),
        (F, A, F, A),
        (F, U, F, U),
        (A, A, A, A),
        (A, U, U, U),
        (U, U, U, U),
    ];
    for (a, b, and, or) in table {
        for room in [two(&a, &b), two(&b, &a)] {
            assert_eq!(outcome("shelf.locked and shelf.lit", &room), and, "{a:?} and {b:?}");
            assert_eq!(outcome("shelf.locked or shelf.lit", &room), or, "{a:?} or {b:?}");
        }
    }
    for (a, not) in [(T, F), (F, T), (A, A), (U, U)] {
        assert_eq!(outcome("not shelf.locked", &two(&a, &U)), not);
    }
}

#[test]
fn absent_beats_unknown_in_comparisons_and_arithmetic() {
    let room = |a: State, b: State| Room::new().shelf("count", a).shelf("depth.left", b);
    for (a, b, wanted) in [(number(1.0), A, A), (U, A, A), (U, number(1.0), U), (A, A, A)] {
        for source in [
            "shelf.count < shelf.depth.left",
            "shelf.count + shelf.depth.left == 3",
            "max(shelf.count, shelf.depth.left) > 1",
        ] {
            assert_eq!(outcome(source, &room(a.clone(), b.clone())), wanted, "{source}");
            assert_eq!(outcome(source, &room(b.clone(), a.clone())), wanted, "{source}");
        }
    }
}

#[test]
fn values_are_compared_in_base_units() {
    let room = Room::new()
        .shelf("speed", number(1e10))
        .shelf("size", number(72_000.0))
        .shelf("age", number(0.003))
        .shelf("count", number(0.05))
        .shelf("level", number(-12.0))
        .shelf("heat", number(71.0))
        .shelf("version", State::Known(Value::Version(Version::parse("6.1.2").unwrap())))
        .shelf("kind", word("oak"))
        .shelf("colours", set(&["red", "blue"]))
        .shelf("wanted", set(&["red", "green"]))
        .shelf("label", State::Known(Value::Text("oak".into())));
    for source in [
        "shelf.speed == 10Gbit/s",
        "shelf.size == 9000B",
        "shelf.age <= 3ms",
        "shelf.count == 5%",
        "shelf.level > -12.5dBm and shelf.level - -15dBm == 3dB",
        "shelf.heat > 70C",
        "shelf.version < v6.6 and shelf.version >= v6.1",
        "shelf.kind == oak and shelf.kind == shelf.label and shelf.kind not in [pine]",
        "red in shelf.colours and green not in shelf.colours",
        "size(union(shelf.colours, shelf.wanted)) == 3",
        "intersect(shelf.colours, shelf.wanted) == intersect(shelf.colours, [red])",
        "empty(difference(shelf.colours, [red, blue]))",
        "shelf.colours is not empty",
        "shelf.speed * 2s == 20Gbit and -shelf.count < 0 and abs(-3) == 3",
        "hue(red) == 1 and max(1, 2, 3) == 3 and min(1, 2) == 1",
    ] {
        assert_eq!(outcome(source, &room), T, "{source}");
    }
    assert_eq!(outcome("hue(green) == 1", &room), U);
}

#[test]
fn division_by_zero_is_unknown_and_needs_nothing() {
    let found = evaluated(
        "shelf.count / shelf.depth.left > 1",
        &Room::new().shelf("count", number(0.0)).shelf("depth.left", number(0.0)),
    );
    assert_eq!(found.outcome, U);
    assert!(found.needed.is_empty());
}

#[test]
fn a_value_of_the_wrong_type_is_unknown() {
    let room = Room::new().shelf("count", T).shelf("locked", number(1.0)).shelf("boxes", T);
    for source in
        ["shelf.count > 1", "shelf.locked and true", "not shelf.locked", "any(b in shelf.boxes)", "-shelf.count > 1"]
    {
        assert_eq!(outcome(source, &room), U, "{source}");
    }
}

#[test]
fn references_are_followed() {
    let up = |index| State::Known(Value::Entity(shelf(index)));
    let room = Room::new().shelf("above", up(1)).with(shelf(1), "above", A).with(shelf(1), "count", number(7.0));
    assert_eq!(outcome("shelf.above.count == 7", &room), T);
    let found = evaluated("shelf.above.above.count == 7", &room);
    assert_eq!((found.outcome, found.absent), (A, BTreeSet::from([key(shelf(1), "above")])));
    let found = evaluated("shelf.above.count == 7", &Room::new());
    assert_eq!((found.outcome, found.needed), (U, keys(&["above"])));
}

#[test]
fn quantifiers_keep_what_is_not_known() {
    let cases: &[(&str, &[State], State)] = &[
        ("any(b.open for b in shelf.boxes)", &[F, U, T], T),
        ("any(b.open for b in shelf.boxes)", &[F, U, A], U),
        ("any(b.open for b in shelf.boxes)", &[F, A], F),
        ("any(b.open for b in shelf.boxes)", &[], F),
        ("any(b in shelf.boxes)", &[U], T),
        ("all(b.open for b in shelf.boxes)", &[T, U, F], F),
        ("all(b.open for b in shelf.boxes)", &[T, U, A], U),
        ("all(b.open for b in shelf.boxes)", &[T, A], T),
        ("all(b in shelf.boxes if b.open)", &[], T),
        ("count(b in shelf.boxes if b.open)", &[T, F, A, T], number(2.0)),
        ("count(b in shelf.boxes if b.open)", &[T, U], U),
        ("count(b in shelf.boxes)", &[U, A], number(2.0)),
        ("count(b.open for b in shelf.boxes)", &[T, F, A], number(1.0)),
        ("sum(b.weight for b in shelf.boxes)", &[number(1.0), A, number(2.0)], number(3.0)),
        ("sum(b.weight for b in shelf.boxes)", &[number(1.0), U], U),
        ("sum(b.weight for b in shelf.boxes)", &[], number(0.0)),
        ("max(b.weight for b in shelf.boxes)", &[number(1.0), number(3.0)], number(3.0)),
        ("min(b.weight for b in shelf.boxes)", &[number(1.0), number(3.0)], number(1.0)),
        ("max(b.weight for b in shelf.boxes)", &[A], A),
        ("min(b.weight for b in shelf.boxes)", &[], A),
        ("min(b.weight for b in shelf.boxes)", &[U, number(1.0)], U),
        ("size(distinct(b.kind for b in shelf.boxes))", &[word("oak"), word("oak"), word("pine"), A], number(2.0)),
        ("size(distinct(b.kind for b in shelf.boxes))", &[word("oak"), U], U),
    ];
    for (source, states, wanted) in cases {
        let path = ["open", "weight", "kind"].into_iter().find(|path| source.contains(path)).unwrap_or("open");
        assert_eq!(outcome(source, &Room::new().boxes(path, states)), *wanted, "{source} {states:?}");
    }
}

#[test]
fn a_list_that_is_not_known_makes_the_quantifier_so() {
    for fold in [
        "any(b.open for b in shelf.boxes)",
        "all(b.open for b in shelf.boxes)",
        "sum(b.weight for b in shelf.boxes) > 1",
    ] {
        let found = evaluated(fold, &Room::new());
        assert_eq!((found.outcome, found.needed), (U, keys(&["boxes"])), "{fold}");
        let found = evaluated(fold, &Room::new().shelf("boxes", A));
        assert_eq!((found.outcome, found.absent), (A, keys(&["boxes"])), "{fold}");
    }
}

#[test]
fn an_unknown_filter_counts_only_where_the_rest_could() {
    let room = |full: State, open: State| Room::new().boxes("open", &[open]).with(item(0), "full", full);
    let any = "any(b.open for b in shelf.boxes if b.full)";
    let all = "all(b.open for b in shelf.boxes if b.full)";
    for (full, open, of_any, of_all) in
        [(U, T, U, T), (U, F, F, U), (U, A, F, T), (U, U, U, U), (F, U, F, T), (A, T, F, T), (T, U, U, U), (T, F, F, F)]
    {
        assert_eq!(outcome(any, &room(full.clone(), open.clone())), of_any, "any {full:?} {open:?}");
        assert_eq!(outcome(all, &room(full.clone(), open.clone())), of_all, "all {full:?} {open:?}");
    }
}

#[test]
fn quantifiers_see_the_ones_around_them() {
    let room = Room::new().boxes("weight", &[number(1.0), number(2.0)]);
    assert_eq!(outcome("any(a in shelf.boxes if all(b.weight <= a.weight for b in shelf.boxes))", &room), T);
    assert_eq!(outcome("any(a in shelf.boxes if all(b.weight < a.weight for b in shelf.boxes))", &room), F);
}

#[test]
fn membership_in_a_list_with_unknown_items() {
    let room = Room::new().shelf("count", number(2.0)).shelf("depth.right", A);
    assert_eq!(outcome("shelf.count in [2, shelf.depth.left]", &room), T);
    assert_eq!(outcome("shelf.count not in [3, shelf.depth.left]", &room), U);
    assert_eq!(outcome("shelf.count in [3, shelf.depth.right]", &room), F);
    assert_eq!(evaluated("shelf.count in [3, shelf.depth.left]", &room).needed, keys(&["depth.left"]));
    assert_eq!(outcome("shelf.depth.left in [1]", &room), U);
}

#[test]
fn needed_holds_only_what_could_decide() {
    let room = Room::new().shelf("locked", F).shelf("count", number(3.0)).shelf("depth.right", A);
    for (source, wanted, needed) in [
        ("shelf.lit and shelf.locked", F, &[][..]),
        ("shelf.lit or shelf.locked", U, &["lit"]),
        ("shelf.lit or shelf.count == 3", T, &[]),
        ("shelf.lit and shelf.depth.left > 3 and shelf.count > 1", U, &["lit", "depth.left"]),
        ("shelf.lit or (shelf.depth.left > 3 and shelf.locked)", U, &["lit"]),
        ("shelf.depth.left + shelf.size / 1B > shelf.count", U, &["depth.left", "size"]),
        ("shelf.depth.left > shelf.depth.right", A, &[]),
        ("not (shelf.lit and shelf.count == 3)", U, &["lit"]),
    ] {
        let found = evaluated(source, &room);
        assert_eq!(found.outcome, wanted, "{source}");
        assert_eq!(found.needed, keys(needed), "{source}");
    }
    let boxes = Room::new().boxes("open", &[F, U, U]).with(item(1), "full", F);
    let found = evaluated("any(b.open and b.full for b in shelf.boxes)", &boxes);
    assert_eq!(found.needed, BTreeSet::from([key(item(2), "open"), key(item(2), "full")]));
}

#[test]
fn an_unknown_condition_that_cannot_become_true_names_the_absent_facts() {
    let room = Room::new().shelf("depth.right", A).shelf("locked", F);
    for (source, wanted, absent) in [
        ("shelf.lit and shelf.depth.right > 1", U, &["depth.right"][..]),
        ("(shelf.lit and shelf.depth.right > 1) or shelf.locked", U, &["depth.right"]),
        ("shelf.lit or shelf.depth.right > 1", U, &[]),
        ("not (shelf.lit and shelf.depth.right > 1)", U, &[]),
        ("shelf.depth.right > 1 or shelf.locked", A, &["depth.right"]),
    ] {
        let found = evaluated(source, &room);
        assert_eq!((found.outcome, found.absent), (wanted, keys(absent)), "{source}");
    }
}

#[test]
fn questions_about_knowledge_are_always_answered() {
    let room = Room::new().shelf("count", number(1.0)).shelf("age", A);
    for (path, known, unknown, absent) in [("count", T, F, F), ("age", F, F, T), ("speed", F, T, F)] {
        assert_eq!(outcome(&format!("shelf.{path} is known"), &room), known);
        assert_eq!(outcome(&format!("shelf.{path} is unknown"), &room), unknown);
        assert_eq!(outcome(&format!("shelf.{path} is absent"), &room), absent);
        assert_eq!(outcome(&format!("shelf.{path} is not absent"), &room), if absent == T { F } else { T });
    }
}

#[test]
fn variables_bring_what_they_rest_on() {
    let made = program("arm.growth > limit and ok");
    let missing = Evaluation { needed: keys(&["age"]), touched: keys(&["age", "lit"]), ..U.into() };
    let given = [number(3.0).into(), missing, T.into()];
    let found = made.evaluate_traced(&Room::new(), &[shelf(0)], &given);
    assert_eq!((found.outcome, found.needed, found.touched), (U, keys(&["age"]), keys(&["age", "lit"])));
    assert_eq!(made.evaluate(&Room::new(), &[shelf(0)], &[]).outcome, U);
}

#[test]
fn rules_fire_three_valued() {
    let mut room = Room::new().shelf("lit", F);
    assert_eq!(outcome("shelf.lit or fired(box.torn)", &room), U);
    room.fired.insert("box.torn".into(), true);
    assert_eq!(outcome("shelf.lit or fired(box.torn)", &room), T);
}

#[test]
fn touched_holds_what_was_read_and_only_when_asked() {
    let room = Room::new().shelf("locked", T);
    let made = program("shelf.locked or shelf.lit");
    assert_eq!(made.evaluate_traced(&room, &[shelf(0)], &[]).touched, keys(&["locked"]));
    assert!(made.evaluate(&room, &[shelf(0)], &[]).touched.is_empty());
}

/// Conditions over a shelf, or over a box `b` on it.
fn condition(inside: bool) -> BoxedStrategy<String> {
    let mut leaves = vec![
        "shelf.locked",
        "shelf.lit",
        "shelf.count > 2",
        "shelf.depth.left / shelf.count < 1",
        "shelf.kind == oak",
        "shelf.kind in [pine, shelf.above.kind]",
        "shelf.above.locked",
        "max(shelf.count, shelf.depth.left) == 2",
        "red in intersect(shelf.colours, shelf.wanted)",
        "size(shelf.colours) == 1",
        "shelf.colours is empty",
        "ok",
    ];
    if inside {
        leaves.extend(["b.open", "b.full", "b.weight > shelf.count", "b.kind != oak", "b.on.lit", "b.weight == 2"]);
    }
    let leaf = prop::sample::select(leaves).prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, move |part| {
        let pair = (part.clone(), part.clone());
        let joined = prop_oneof![
            pair.clone().prop_map(|(a, b)| format!("({a} and {b})")),
            pair.prop_map(|(a, b)| format!("({a} or {b})")),
            part.prop_map(|a| format!("not ({a})")),
        ];
        if inside {
            return joined.boxed();
        }
        let pair = (condition(true), condition(true));
        let fold = prop::sample::select(vec![
            "any({} for b in shelf.boxes if {})",
            "all({} for b in shelf.boxes if {})",
            "count(b in shelf.boxes if ({}) or ({})) == 1",
            "sum(b.weight for b in shelf.boxes if ({}) and ({})) > 2",
            "max(b.weight for b in shelf.boxes if not ({}) or {}) > 1",
            "size(distinct(b.kind for b in shelf.boxes if ({}) == ({}))) > 1",
        ]);
        let folded = (fold, pair).prop_map(|(fold, (a, b))| fold.replacen("{}", &a, 1).replacen("{}", &b, 1));
        prop_oneof![2 => joined, 1 => folded].boxed()
    })
    .boxed()
}

fn reading(values: Vec<State>) -> impl Strategy<Value = State> {
    prop_oneof![6 => prop::sample::select(values), 1 => Just(A), 1 => Just(U)]
}

/// A world of two shelves and three boxes.
fn world() -> impl Strategy<Value = Room> {
    let entity = |e: Entity| State::Known(Value::Entity(e));
    let boxes = (0..3).map(|index| Value::Entity(item(index))).collect::<Vec<_>>();
    let numbers = || vec![number(0.0), number(1.0), number(2.0), number(3.0)];
    let kinds = || vec![word("oak"), word("pine")];
    let sets = || vec![set(&[]), set(&["red"]), set(&["red", "green"])];
    let mut domain = vec![(shelf(0), "boxes", vec![State::Known(Value::List(boxes.into()))])];
    for one in [shelf(0), shelf(1)] {
        domain.extend([
            (one, "locked", vec![T, F]),
            (one, "lit", vec![T, F]),
            (one, "count", numbers()),
            (one, "depth.left", numbers()),
            (one, "kind", kinds()),
            (one, "colours", sets()),
            (one, "wanted", sets()),
            (one, "above", vec![entity(shelf(1))]),
        ]);
    }
    for one in (0..3).map(item) {
        domain.extend([
            (one, "open", vec![T, F]),
            (one, "full", vec![T, F]),
            (one, "weight", numbers()),
            (one, "kind", kinds()),
            (one, "on", vec![entity(shelf(0)), entity(shelf(1))]),
        ]);
    }
    let keys: Vec<_> = domain.iter().map(|(entity, path, _)| key(*entity, path)).collect();
    let states: Vec<_> = domain.into_iter().map(|(_, _, values)| reading(values)).collect();
    states.prop_map(move |states| Room { facts: keys.iter().copied().zip(states).collect(), ..Room::new() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn removing_readings_only_makes_an_outcome_unknown(
        source in condition(false),
        room in world(),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        ok in prop::sample::select(vec![T, F]),
    ) {
        prop_assume!(source.len() < 2000);
        let made = program(&source);
        let given = |state: State| [U.into(), U.into(), Evaluation::from(state)];
        let full = made.evaluate(&room, &[shelf(0)], &given(ok.clone()));
        let mut less = room.clone();
        let all: Vec<_> = room.facts.keys().copied().collect();
        let gone: BTreeSet<Key> = removed.iter().map(|index| all[index.index(all.len())]).collect();
        less.facts.retain(|key, state| !gone.contains(key) || *state == A);
        let poorer = made.evaluate(&less, &[shelf(0)], &given(ok));
        prop_assert!(poorer.outcome == U || poorer.outcome == full.outcome, "{source}: {full:?} {poorer:?}");
        prop_assert!(poorer.outcome == U || poorer.needed.is_empty());
        for key in &poorer.needed {
            prop_assert_eq!(less.facts.get(key).unwrap_or(&U), &U, "{} needs a reading it has", &source);
        }
    }

    #[test]
    fn an_outcome_named_out_of_reach_stays_so(source in condition(false), room in world(), rest in world()) {
        let made = program(&source);
        let given = [U.into(), U.into(), Evaluation::from(U)];
        let poor = made.evaluate(&room, &[shelf(0)], &given);
        let mut filled = room.clone();
        for (key, state) in &mut filled.facts {
            if *state == U {
                *state = rest.facts[key].clone();
            }
        }
        let rich = made.evaluate(&filled, &[shelf(0)], &given);
        prop_assert!(poor.outcome == U || poor.outcome == rich.outcome);
        if poor.outcome == U && !poor.absent.is_empty() {
            prop_assert!(rich.outcome != T, "{source}");
        }
    }
}
