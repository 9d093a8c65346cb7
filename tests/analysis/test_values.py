"""Values are followed by what computes them: into fusions, through loops, into quoted words."""

from __future__ import annotations

import itertools

import pytest

from hlo_widgets.analysis.decisions.log import DecisionSource, QuotedFusion
from hlo_widgets.analysis.decisions.values import (
    ChainValues,
    ValueNumbering,
    number_module,
    running_ops,
)
from hlo_widgets.analysis.decisions.values.full_window import as_reduce_and_broadcast
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import DATA, module_of

ADD = """%add (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %lr = f32[] add(%l, %r)
}
"""
PLAIN = f"""HloModule m
{ADD}
ENTRY %e (x: f32[8,256]) -> f32[8,256] {{
  %x = f32[8,256] parameter(0)
  %zero = f32[] constant(0)
  %sine = f32[8,256] sine(%x)
  %total = f32[8] reduce(%sine, %zero), dimensions={{1}}, to_apply=%add
  %wide = f32[8,256] broadcast(%total), dimensions={{0}}
  ROOT %share = f32[8,256] divide(%sine, %wide)
}}
"""
# As a TPU compiler fuses it: a reduce-window over all there is, in a fusion inside of a fusion.
FUSED = """HloModule m
%s (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %ab = f32[] add(%a, %b)
}
%inner (q: f32[8,256]) -> f32[8,256] {
  %q = f32[8,256] parameter(0)
  %no = f32[] constant(0)
  ROOT %w = f32[8,256] reduce-window(%q, %no), window={size=1x511 pad=0_0x255_255}, to_apply=%s
}
%outer (p: f32[8,256]) -> f32[8,256] {
  %p = f32[8,256] parameter(0)
  %wave = f32[8,256] sine(%p)
  %rows = f32[8,256] fusion(%wave), kind=kOutput, calls=%inner
  ROOT %ratio = f32[8,256] divide(%wave, %rows)
}
ENTRY %e (x: f32[8,256]) -> f32[8,256] {
  %x = f32[8,256] parameter(0)
  ROOT %fusion = f32[8,256] fusion(%x), kind=kLoop, calls=%outer
}
"""


def homes_after(before, after):
    """Who computes now what each op computed before."""
    old = number_module(parse_hlo_module(before))
    new = number_module(parse_hlo_module(after), old)
    return {name: new.computing(old.of(name)) for name in old.numbers}


def test_all_that_a_fusion_took_in_is_found_in_it():
    homes = homes_after(PLAIN, FUSED)
    for name in ("zero", "sine", "total", "wide", "share"):
        assert homes[name] == ("fusion",), name
    assert homes["x"] == ()  # nobody computes a parameter


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("constant(0)", "constant(1)"),
        ("sine(%p)", "cosine(%p)"),
        ("add(%a, %b)", "maximum(%a, %b)"),
        ("size=1x511 pad=0_0x255_255", "size=1x3 pad=0_0x1_1"),
    ],
)
def test_what_is_computed_otherwise_is_another_value(one, other):
    homes = homes_after(PLAIN, FUSED.replace(one, other))
    assert homes["wide"] == ()
    # The root keeps the name of nobody: it is only what its operands make it.
    assert homes["share"] == ()


def test_operands_count_by_their_places():
    assert homes_after(PLAIN, FUSED.replace("(%wave, %rows)", "(%rows, %wave)"))["share"] == ()
    assert homes_after(PLAIN, FUSED.replace("(%wave, %rows)", "(%rows, %wave)"))["wide"]


@pytest.mark.parametrize(
    ("window", "dimensions"),
    [
        ("{size=1x511 pad=0_0x255_255}", ("{1}", "{0}")),
        ("{size=15x511 pad=7_7x255_255}", ("{0,1}", "{}")),
        ("{size=1x1}", None),
        ("{size=1x256 pad=0_0x255_0}", None),
        ("{size=1x511 stride=1x2 pad=0_0x255_255}", None),
        ("{size=511 pad=255_255}", None),
        ("{}", None),
        ("{size=}", None),
    ],
)
def test_windows_over_all_there_is_are_a_reduction_that_is_broadcast(window, dimensions):
    text = FUSED.replace("{size=1x511 pad=0_0x255_255}", window)
    both = as_reduce_and_broadcast(parse_hlo_module(text).instruction("w"))
    told = both and tuple(part[-1].removeprefix("dimensions=") for part in both[:2])
    assert told == dimensions


ANEW = """HloModule m
ENTRY %e (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %wave = f32[4] sine(%x)
  ROOT %out = f32[4] negate(%wave)
}
"""


def test_an_op_that_was_written_anew_is_known_by_both_ways():
    first = number_module(parse_hlo_module(ANEW))
    # The pass says that the sine of %half is the %wave of before.
    anew = ANEW.replace("sine(%x)", "sine(%half)")
    anew = anew.replace("  %wave =", "  %half = f32[4] cosine(%x)\n  %wave =")
    second = number_module(parse_hlo_module(anew), first)
    fused = """HloModule m
%body (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %c = f32[4] cosine(%p)
  %s = f32[4] sine(%c)
  ROOT %n = f32[4] negate(%s)
}
ENTRY %e (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  ROOT %fusion = f32[4] fusion(%x), kind=kLoop, calls=%body
}
"""
    third = number_module(parse_hlo_module(fused), second)
    for name in ("wave", "out"):
        assert third.computing(first.of(name)) == third.computing(second.of(name)) == ("fusion",)


def test_numbers_of_one_value_stay_together_in_whatever_order_that_comes_out():
    numbering = ValueNumbering()
    a, b, c, d = (numbering.of_key(letter) for letter in "abcd")
    numbering.unite(c, d)
    numbering.unite(b, a)
    assert numbering.first(d) == c
    numbering.unite(d, b)
    assert {numbering.first(number) for number in (a, b, c, d)} == {a}
    assert set(numbering.alike(c)) == {a, b, c, d}
    assert numbering.of_key("d") == a


TWO = """HloModule m
ENTRY %e (x: f32[4,4]) -> (f32[4,4], f32[4,4]) {
  %x = f32[4,4]{1,0} parameter(0)
  %token = token[] after-all()
  %other = token[] after-all()
  LINES
  ROOT %t = (f32[4,4], f32[4,4]) tuple(%a, %b)
}
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("%a = f32[4,4]{1,0} constant({...})", "%b = f32[4,4]{1,0} constant({...})"),
        ("%a = f32[4,4]{1,0} copy(%x)", "%b = f32[4,4]{0,1} bitcast(%x)"),
        ("%a = f32[4,4]{1,0} bitcast(%x)", "%b = f32[4,4]{0,1} bitcast(%x)"),
        (
            '%a = f32[4,4] custom-call(%x), custom_call_target="k", backend_config="one"',
            '%b = f32[4,4] custom-call(%x), custom_call_target="k", backend_config="two"',
        ),
        (
            '%a = f32[4,4] custom-call(), custom_call_target="k", custom_call_has_side_effect=true',
            '%b = f32[4,4] custom-call(), custom_call_target="k", custom_call_has_side_effect=true',
        ),
        (
            "%a = f32[4,4] rng(%x, %x), distribution=rng_uniform",
            "%b = f32[4,4] rng(%x, %x), distribution=rng_uniform",
        ),
        ("%a = (f32[4,4], token[]) infeed(%token)", "%b = (f32[4,4], token[]) infeed(%other)"),
    ],
)
def test_what_looks_alike_and_may_differ_is_not_one_value(first, second):
    values = number_module(parse_hlo_module(TWO.replace("LINES", f"{first}\n  {second}")))
    assert values.of("a") != values.of("b")


def test_a_copy_of_a_constant_that_is_printed_without_its_elements_is_the_same_one():
    first, second = "%a = f32[4,4] constant({...})", "%a.clone.1 = f32[4,4] constant({...})"
    text = TWO.replace("LINES", f"{first}\n  {second}").replace("%b)", "%a.clone.1)")
    values = number_module(parse_hlo_module(text))
    assert values.of("a") == values.of("a.clone.1")


def test_a_name_that_stands_for_what_another_one_did_is_followed_by_what_it_does():
    before = TWO.replace("LINES", "%a = f32[4,4] sine(%x)\n  %b = f32[4,4] sine(%a)")
    # The pass says that %b is the sine of %x now, which %a was before.
    after = before.replace("sine(%a)", "sine(%x)")
    old = number_module(parse_hlo_module(before))
    new = number_module(parse_hlo_module(after), old)
    assert new.of("b") == old.of("a")
    assert new.computing(old.of("b")) == ()


LOOP = """HloModule m
%body (s: (f32[4], s32[])) -> (f32[4], s32[]) {
  %s = (f32[4], s32[]) parameter(0)
  %v = f32[4] get-tuple-element(%s), index=0
  %i = s32[] get-tuple-element(%s), index=1
  %wave = f32[4] sine(%v)
  ROOT %next = (f32[4], s32[]) tuple(%wave, %i)
}
%more (s2: (f32[4], s32[])) -> pred[] {
  %s2 = (f32[4], s32[]) parameter(0)
  %n = s32[] get-tuple-element(%s2), index=1
  ROOT %less = pred[] compare(%n, %n), direction=LT
}
ENTRY %e (x: f32[4], k: s32[]) -> f32[4] {
  %x = f32[4] parameter(0)
  %k = s32[] parameter(1)
  %start = (f32[4], s32[]) tuple(%x, %k)
  %loop = (f32[4], s32[]) while(%start), condition=%more, body=%body
  ROOT %out = f32[4] get-tuple-element(%loop), index=0
}
"""


def test_the_body_of_a_loop_is_known_by_who_reads_the_loop():
    # A loop that carries one more value is a new op with new bodies.
    wider = LOOP.replace("(f32[4], s32[])", "(f32[4], s32[], f32[])")
    wider = wider.replace("tuple(%wave, %i)", "tuple(%wave, %i, %c)")
    wider = wider.replace("  %wave =", "  %c = f32[] get-tuple-element(%s), index=2\n  %wave =")
    wider = wider.replace("tuple(%x, %k)", "tuple(%x, %k, %q)")
    wider = wider.replace("  %start =", "  %q = f32[] constant(2)\n  %start =")
    for name in ("body", "more", "wave", "less", "loop"):
        wider = wider.replace(f"%{name}", f"%wide.{name}")
    old = number_module(parse_hlo_module(LOOP))
    new = number_module(parse_hlo_module(wider), old)
    assert new.renamed == {"loop": "wide.loop"}
    assert new.places["wide.body"] == "body"
    assert new.computing(old.of("wave")) == ("wide.wave",)
    assert new.computing(old.of("less")) == ("wide.less",)
    assert new.roots["body"] == "next"


def test_what_a_loop_carries_in_another_place_is_not_taken_for_what_was_there():
    lost = LOOP.replace("(f32[4], s32[])", "(s32[])").replace("tuple(%wave, %i)", "tuple(%i)")
    lost = lost.replace(
        "s32[] get-tuple-element(%s), index=1", "s32[] get-tuple-element(%s), index=0"
    )
    lost = lost.replace(
        "  %v = f32[4] get-tuple-element(%s), index=0\n  %wave = f32[4] sine(%v)\n", ""
    )
    lost = lost.replace("%i", "%j").replace("tuple(%x, %k)", "tuple(%k)")
    old = number_module(parse_hlo_module(LOOP))
    new = number_module(parse_hlo_module(lost), old)
    assert new.of("j") not in {old.of(name) for name in old.numbers}
    assert new.places["body"] != "body"


def test_no_two_computations_of_a_module_are_one_place():
    # A second loop behind the first: it is read by who read that.
    more = LOOP.replace("%body", "%body2").replace("%more", "%more2")
    second = more[more.index("%body2 (") : more.index("ENTRY")]
    for name in ("s", "v", "i", "wave", "next", "s2", "n", "less"):
        second = second.replace(f"%{name} ", f"%{name}.2 ").replace(f"%{name})", f"%{name}.2)")
        second = second.replace(f"%{name},", f"%{name}.2,")
    loop2 = "  %loop2 = (f32[4], s32[]) while(%loop), condition=%more2, body=%body2\n  ROOT"
    after = LOOP.replace("ENTRY", f"{second}ENTRY").replace("  ROOT %out", f"{loop2} %out")
    after = after.replace(
        "get-tuple-element(%loop), index=0\n}", "get-tuple-element(%loop2), index=0\n}"
    )
    old = number_module(parse_hlo_module(LOOP))
    new = number_module(parse_hlo_module(after), old)
    assert new.renamed == {}
    assert (new.places["body"], new.places["body2"]) == ("body", "body2")
    assert new.computing(old.of("wave")) == ("wave",)


QUOTED = QuotedFusion(
    "%trial = f32[8,256] fusion(%sine, %zero), kind=kLoop, calls=%trial_body",
    """%trial_body (p0: f32[8,256], p1: f32[]) -> f32[8,256] {
  %p0 = f32[8,256] parameter(0)
  %p1 = f32[] parameter(1)
  %r = f32[8] reduce(%p0, %p1), dimensions={1}, to_apply=%add
  ROOT %b = f32[8,256] broadcast(%r), dimensions={0}
}""",
)


def quoted_homes(fusion):
    values = ChainValues()
    for text in (PLAIN, FUSED):
        values.add(parse_hlo_module(text))
    texts = {"trial": fusion.text, "sine": "%sine = f32[8,256] cosine(%x)"}
    return values.homes_of_quoted(
        DecisionSource("log", "a log", (), texts=texts, fusions={"trial": fusion})
    )


def test_a_fusion_that_no_module_has_is_found_by_what_the_compiler_quoted_of_it():
    # It computes what %wide does, which %wide itself is the first to compute.
    assert quoted_homes(QUOTED) == {"trial": ("wide",)}


@pytest.mark.parametrize(
    "body", ["", "%trial_body {", QUOTED.body.replace("{1}", "{0}"), "HloModule x"]
)
def test_a_quoted_body_that_is_cut_or_another_one_finds_nothing(body):
    assert quoted_homes(QUOTED._replace(body=body)) == {}


NAMES = sorted(path.name.removesuffix(".tar.xz") for path in DATA.glob("*.tar.xz"))


@pytest.mark.parametrize("name", NAMES)
def test_every_op_of_a_real_module_is_numbered_and_finds_itself(name):
    values = number_module(module_of(name))
    for op in running_ops(module_of(name)):
        computes = values.computing(values.of(op.name))
        hands_on = op.opcode in ("parameter", "tuple", "get-tuple-element", "bitcast")
        assert op.name in computes or hands_on or op.opcode.startswith("copy"), op.text


def test_computations_that_apply_each_other_a_thousandfold_are_left_alone():
    parts = ["HloModule m", "%f0 (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}"]
    parts += [
        f"%f{number} (p: f32[]) -> f32[] {{\n  %p = f32[] parameter(0)\n"
        f"  ROOT %m = f32[] map(%p), dimensions={{}}, to_apply=%f{number - 1}\n}}"
        for number in range(1, 1500)
    ]
    parts.append(
        "ENTRY %e (x: f32[4]) -> f32[4] {\n  %x = f32[4] parameter(0)\n"
        "  ROOT %r = f32[4] map(%x), dimensions={0}, to_apply=%f1499\n}"
    )
    assert number_module(parse_hlo_module("\n".join(parts))).of("r") is not None


def test_fusions_that_share_bodies_a_thousandfold_are_not_looked_into_for_ever():
    # Each level calls the next one twice: 2 to the power of 15 ways down.
    parts = ["HloModule m", "%f0 (p: f32[4]) -> f32[4] {\n  ROOT %p = f32[4] parameter(0)\n}"]
    for level, inner in itertools.pairwise(range(15, -1, -1)):
        number = 15 - inner
        parts.append(
            f"%f{number} (p: f32[4]) -> f32[4] {{\n  %p = f32[4] parameter(0)\n"
            f"  %a{level} = f32[4] fusion(%p), kind=kLoop, calls=%f{number - 1}\n"
            f"  ROOT %b{level} = f32[4] fusion(%a{level}), kind=kLoop, calls=%f{number - 1}\n}}"
        )
    parts.append(
        "ENTRY %e (x: f32[4]) -> f32[4] {\n  %x = f32[4] parameter(0)\n"
        "  ROOT %r = f32[4] fusion(%x), kind=kLoop, calls=%f15\n}"
    )
    module = parse_hlo_module("\n".join(parts))
    numbering = ValueNumbering()
    values = number_module(module, numbering)
    assert set(values.numbers) == {"x", "r"}
    assert numbering.of_key("one more") < 8 * 50
