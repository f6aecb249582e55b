use super::*;
use crate::lang::testing::{EVERYTHING, SHELF, Shop, checked, program, with_context};
use proptest::prelude::*;

/// The first error as `text under the carets: message | help`.
fn error(source: &str) -> String {
    let errors = checked(source).expect_err(source);
    let first = &errors[0];
    let help = first.help.as_ref().map(|help| format!(" | {help}")).unwrap_or_default();
    format!("{}: {}{help}", &source[first.span.clone()], first.message)
}

#[test]
fn conditions_of_rules_are_accepted() {
    for source in [
        "shelf.locked and not shelf.lit",
        "shelf.speed < 25Gbit/s and shelf.size >= 9000B",
        "shelf.size / shelf.age > 10Gbit/s",
        "shelf.speed * 2s > shelf.size",
        "shelf.level < -12dBm or shelf.level - shelf.above.level > 3dB",
        "shelf.heat > 70C",
        "shelf.heat - 60C > 5",
        "shelf.kind == oak and pine != shelf.kind and shelf.kind not in [oak, beech]",
        "shelf.maker in [ikea, someone_else, 'any-one']",
        "shelf.label == abc or shelf.label == 'a b'",
        "shelf.version < v6.6",
        "red in shelf.colours and '10/Half' in shelf.colours",
        "size(intersect(shelf.colours, [red, green])) == 0",
        "shelf.colours == union(shelf.wanted, shelf.colours) and empty(difference(shelf.wanted, shelf.colours))",
        "shelf.above.above.depth.left > 1",
        "shelf.net.\"x-y\" == 1",
        "shelf.speed > 0",
        "0 < shelf.speed",
        "any(b.open for b in shelf.boxes if b.weight > 5)",
        "any(b in shelf.boxes if b.kind == oak and any(c in b.on.boxes if c.weight > b.weight))",
        "all(b in shelf.boxes if b.open) and any(b in shelf.boxes)",
        "sum(b.weight for b in shelf.boxes) + max(s in shelf.sizes) > min(limit, shelf.count, 0)",
        "max(b.on.speed for b in shelf.boxes) > 1Gbit/s",
        "size(distinct(b.kind for b in shelf.boxes)) > 1",
        "count(b in shelf.boxes if b.open) >= 2 and count(b.open for b in shelf.boxes) > 1",
        "any(c in shelf.colours if c == red)",
        "arm.growth > 1000 and limit <= 5%",
        "shelf.locked and (fired(shelf.over-full) or any(b in shelf.boxes if fired(box.torn)))",
        "shelf.count is known and shelf.above.count is not absent and shelf.colours is empty",
        "hue(red) == 1 and abs(-shelf.count) > 3",
        "shelf.above == shelf.above.above",
        "3 in shelf.sizes and shelf.count in [1, limit]",
        "shelf.count == 0xffff",
    ] {
        assert_eq!(program(source).result_type(), &Type::Bool, "{source}");
    }
}

#[test]
fn a_program_knows_its_type_and_what_it_reads() {
    let shop = Shop::new();
    let made = program("max(shelf.above.size, 4MiB)");
    assert_eq!(made.result_type(), &Type::number(Dim::DATA));
    assert_eq!(made.reads(), [(SHELF, shop.slot(SHELF, "size")), (SHELF, shop.slot(SHELF, "above"))]);
    assert_eq!(made.source(), "max(shelf.above.size, 4MiB)");
    assert_eq!(program("ok or fired(box.torn)").fired_rules(), ["box.torn"]);
    assert_eq!(program("shelf.size * shelf.speed").result_type(), &Type::number(Dim { data: 2, time: -1 }));
}

#[test]
fn errors_point_at_the_place_and_say_what_to_write() {
    for (source, wanted) in [
        ("shelf.sped > 1", "sped: shelf has no fact `sped` | did you mean `shelf.speed`?"),
        ("shelf.above.left > 1", "left: shelf has no fact `left` | did you mean `shelf.above.depth.left`?"),
        ("locked", "locked: unknown name `locked` | did you mean `shelf.locked`?"),
        ("kind == oak", "kind: unknown name `kind` | did you mean `shelf.kind`?"),
        ("shelv.locked", "shelv.locked: unknown name `shelv.locked` | did you mean `shelf.locked`?"),
        ("limt > 1", "limt: unknown name `limt` | did you mean `limit`?"),
        ("shelf.kind == oack", "oack: `oack` is not a kind of wood | did you mean `oak`?"),
        ("shelf.kind in [oak, steel]", "steel: `steel` is not a kind of wood | it is one of oak|pine|beech"),
        (
            "shelf.speed < 10Gbit",
            "shelf.speed < 10Gbit: cannot compare `number in bit/s` with `number in bit` | `shelf.speed` is in bit/s: write 10Gbit/s",
        ),
        (
            "shelf.age > 5",
            "shelf.age > 5: cannot compare `number in s` with `plain number` | `shelf.age` is in s: write a number such as 3ms or 24h",
        ),
        (
            "5s < shelf.count",
            "5s < shelf.count: cannot compare `number in s` with `plain number` | `shelf.count` has no unit",
        ),
        (
            "shelf.level + 1dB > -3dBm",
            "shelf.level + 1dB: cannot add `level in dBm` and `plain number` | levels in dBm and temperatures can only be compared and subtracted",
        ),
        ("shelf.speed + shelf.size > 0", "shelf.speed + shelf.size: cannot add `number in bit/s` and `number in bit`"),
        (
            "shelf.kind < oak",
            "shelf.kind < oak: type `one of oak|pine|beech` has no order | numbers and versions can be compared by `<` and `>`; use `==` or `in`",
        ),
        (
            "shelf.count and shelf.lit",
            "shelf.count: `and` joins conditions, but `shelf.count` has type `plain number` | compare it with something",
        ),
        ("shelf.kind == 3", "shelf.kind == 3: cannot compare `one of oak|pine|beech` with `plain number`"),
        ("shelf.colours == red", "red: unknown name `red`"),
        ("shelf.kind in oak", "oak: unknown name `oak` | did you mean `ok`?"),
        (
            "shelf.count in shelf.lit",
            "shelf.lit: `in` needs a list or a set, but `shelf.lit` has type `true or false` | write `x in [a, b]`",
        ),
        (
            "shelf.boxes.open",
            "shelf.boxes.open: `shelf.boxes` has type `list of: reference` and no `open` | go over its elements: any(x.open for x in shelf.boxes)",
        ),
        (
            "not fired(box.torn)",
            "fired(box.torn): `fired` can only make a condition true | use it by itself, under `and`, `or` and `any`; to give way to another rule use `instead_of`",
        ),
        (
            "fired(box.torn) == true",
            "fired(box.torn): `fired` can only make a condition true | use it by itself, under `and`, `or` and `any`; to give way to another rule use `instead_of`",
        ),
        (
            "all(b in shelf.boxes if fired(box.torn))",
            "fired(box.torn): `fired` can only make a condition true | use it by itself, under `and`, `or` and `any`; to give way to another rule use `instead_of`",
        ),
        ("fired(box.worn)", "box.worn: no rule `box.worn` | did you mean `box.torn`?"),
        ("fastest(shelf.colours) > 1", "fastest: no function `fastest`"),
        ("siz(shelf.colours) > 1", "siz: no function `siz` | did you mean `size`?"),
        ("hue(red, green)", "hue(red, green): `hue` takes 1 arguments, not 2"),
        (
            "hue(shelf.lit) == 1",
            "shelf.lit: `hue` needs `one of red|green|blue|10/Half` here, but this has type `true or false`",
        ),
        (
            "any(a in shelf.boxes if any(b in shelf.boxes if any(c in shelf.boxes if c.open)))",
            "any: quantifiers stand at most 2 deep | name the inner one in `let`",
        ),
        (
            "sum(b in shelf.boxes) > 1",
            "b: `sum` needs numbers, but this has type `reference` | write sum(x.value for x in list)",
        ),
        ("all(b in shelf.boxes)", "all(b in shelf.boxes): `all` needs a condition | write all(x in list if condition)"),
        ("(shelf.count + 1) is known", "(shelf.count + 1): only a fact can be asked whether it is known"),
        (
            "shelf.count is empty",
            "shelf.count is empty: type `plain number` is never empty | lists, sets and texts can be empty",
        ),
        ("b.open and any(b in shelf.boxes if b.open)", "b.open: unknown name `b.open`"),
    ] {
        assert_eq!(error(source), wanted);
    }
}

#[test]
fn carets_stand_under_the_error_in_its_file() {
    let file = "- id: x\n  when: shelf.locked and shelf.speed < 10Gbit\n";
    let start = file.find("shelf").unwrap();
    let source = file[start..].trim_end();
    let shown = checked(source).unwrap_err()[0].render("rules/x.yaml", file, start);
    let wanted = "\
error: cannot compare `number in bit/s` with `number in bit`
 --> rules/x.yaml:2:26
  |
2 |   when: shelf.locked and shelf.speed < 10Gbit
  |                          ^^^^^^^^^^^^^^^^^^^^
  |
  = help: `shelf.speed` is in bit/s: write 10Gbit/s";
    assert_eq!(shown, wanted);
}

#[test]
fn independent_errors_are_reported_together() {
    let errors = checked("shelf.sped > 1 and shelf.kind == oack or limt = 3").unwrap_err();
    assert_eq!(errors.len(), 4, "{errors:?}");
}

#[test]
fn questions_about_knowledge_have_their_place() {
    let error = |source| with_context(Allow::default(), |context| check(source, context)).unwrap_err()[0].clone();
    assert_eq!(error("shelf.count is known").help.unwrap(), "`is known` belongs to `requires`");
    assert_eq!(error("shelf.count is not unknown").help.unwrap(), "`is unknown` belongs to `severity_when`");
    assert_eq!(error("fired(box.torn)").message, "`fired` is not allowed here");
    assert!(with_context(Allow::default(), |context| check("shelf.count is absent", context)).is_ok());
}

#[test]
fn dimensions_cannot_overflow() {
    let product = vec!["shelf.size"; 50].join(" * ");
    assert!(checked(&product).is_ok());
    let squared = format!("({product}) * ({product}) * ({product})");
    assert!(error(&squared).contains("cannot multiply"));
}

proptest! {
    #[test]
    fn any_run_of_tokens_is_answered(parts in prop::collection::vec(prop::sample::select(vec![
        "shelf", ".", "kind", "boxes", "count", "(", ")", "[", "]", ",", "and", "or", "not", "in", "is", "known",
        "any(", "max(", "size(", "for", "b", "if", "fired(", "box.torn", "1", "5%", "v6.6", "'t'", "<", "==", "=",
        "-", "*", "shelf.kind", "shelf.boxes", "shelf.count", "b.open", "oak", "10Gbit/s", "true", "limit",
    ]), 0..40)) {
        let source = parts.join(" ");
        if let Err(errors) = with_context(EVERYTHING, |context| check(&source, context)) {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.span.end <= source.len());
            }
        }
    }
}
