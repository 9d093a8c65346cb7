"""Warnings about attributes: names that nobody knows, and lists that do not end well."""

from __future__ import annotations

import pytest

from hlo_widgets.hlo import parse_hlo_module, parse_hlo_modules
from tests.hlo.conftest import REPOSITORY
from tests.hlo.grammar_cases import CASES

PLAIN = "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n"


def warnings(*lines: str, header: str = PLAIN) -> tuple[str, ...]:
    return parse_hlo_module(header + "".join(f"  {line}\n" for line in lines) + "}\n").warnings


def test_each_unknown_name_is_told_once() -> None:
    (text,) = warnings(
        'a = f32[8] negate(p), speed=9, metadata={op_name="x, glow=1"}',
        "b = f32[8] abs(a), speed={8}, slow.er={ {1}, {2} }",
        "ROOT c = f32[8] sine(b), dimensions={0}",
    )
    assert text == "attributes that this reader does not know are kept as they are: speed, slow.er"


def test_the_list_of_names_is_short() -> None:
    (text,) = warnings(*(f"a{n} = f32[8] negate(p), key{n}=1" for n in range(3000)))
    assert text.endswith(": key0, key1, key2, key3, key4 and 2995 more")
    (text,) = warnings(f"a = f32[8] negate(p), {'k' * 5000}=1")
    assert len(text) < 200


def test_the_header_has_names_of_its_own() -> None:
    (text,) = warnings(
        header=PLAIN.replace("m\n", "m, is_scheduled=true, moon={1}, dimensions={0}\n")
    )
    assert text.endswith(": moon, dimensions")


def test_statements_over_many_lines_are_looked_at_too() -> None:
    (text,) = warnings("ROOT a = f32[8] negate(p),", "  speed=9,", "  dimensions={0}")
    assert text.endswith(": speed")


@pytest.mark.parametrize(
    "attributes",
    [
        "dimensions={0} junk",
        "dimensions={0}, junk",
        "dimensions={0}, , index=1",
        "dimensions={0} }{",
        "dimensions={0} index=",
        'metadata={op_name="a"} "b"',
    ],
)
def test_attributes_that_cannot_be_read_to_their_end(oracle, attributes: str) -> None:
    lines = f"a = f32[8] negate(p), {attributes}", "ROOT b = f32[8] abs(a)"
    text = PLAIN + "".join(f"  {line}\n" for line in lines) + "}\n"
    assert oracle.structure(text) is None
    module = parse_hlo_module(text)
    assert any("%a (line 5) cannot be read to their end" in one for one in module.warnings)
    assert module.instruction("a").operands == (module.instruction("p"),)


def test_broken_attributes_are_counted() -> None:
    (text,) = warnings(*(f"a{n} = f32[8] negate(p), dimensions={{0}} x" for n in range(3)))
    assert "%a0 (line 5) and of 2 more" in text


def test_what_compilers_print_is_known() -> None:
    for path in sorted((REPOSITORY / "captures").rglob("*.txt")):
        assert parse_hlo_module(path.read_text(encoding="utf-8")).warnings == ()


def test_comments_are_no_attributes() -> None:
    assert warnings("ROOT a = f32[8] negate(p) /* , speed=1 */", "// , speed=2 , dimensions") == ()
    assert warnings("ROOT a = f32[8] negate(p), dimensions={0} // , speed=1") == ()


def test_warnings_added_later_come_with_the_others() -> None:
    text = CASES["dot"] + CASES["names"]
    assert parse_hlo_module(text).warnings == (
        "the text holds more than one module; this is the first of them",
    )
    assert [module.warnings for module in parse_hlo_modules(text)] == [(), ()]


@pytest.mark.parametrize(
    "line",
    [
        '// , x={ "',
        "// , x={",
        '// , x="',
        "/* , x={ , x={ */",
        "a = f32[] b(p), x=" + "{" * 50 + "}" * 50,
    ],
)
def test_looking_at_attributes_does_not_begin_anew_at_each_line(line: str) -> None:
    # A search from every line to the end of the text would take an hour here.
    module = parse_hlo_module(PLAIN + f"{line}\n" * 20_000 + "}\n")
    assert len(module.warnings) <= 3
