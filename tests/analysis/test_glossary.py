"""Compilers' shorthand in our own words."""

from __future__ import annotations

import pytest

from hlo_widgets.analysis.why import explained_terms
from tests.analysis.dumps import DATA, decisions_of


def words(*texts):
    return [term.word for term in explained_terms(texts)]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Not fusing MOF", ["MOF"]),
        ("multi-output fusion not supported by this pass", ["multi-output fusion"]),
        ("No fusing; output fusion is disabled.", ["output fusion"]),
        ("operand can not be duplicated", ["to duplicate"]),
        ("InstructionFusion with may_duplicate=1", ["to duplicate"]),
        ("JFF producer_cycles: 12041.9", ["JFF"]),
        ("No fusing: Should not fuse with elementwise", ["elementwise"]),
        ("Producer is not loop-fusible.", ["not fusible", "loop fusion", "producer, consumer"]),
        ("Not allowed at: a/b.cc:5480", ["at: file:line"]),
        ("User is connected", ["connected", "user"]),
        ("fusion.25 would introduce a cycle when fused", ["cycle"]),
        ("not fusing because there are only bitcast users", ["bitcast", "user"]),
        ("different loop shapes", ["loop shape"]),
        # Names of ops are no words.
        ("producer 'reduce_max.7'", ["producer, consumer"]),
        ("fused reduce.3 into it", []),
        ("no such thing", []),
    ],
)
def test_terms_are_found_in_the_words_and_not_in_names(text, terms):
    assert words(text) == terms


def test_each_term_is_explained_once_in_the_order_of_the_text():
    assert words("Not fusing MOF", "bitcast", "Not fusing MOF") == ["MOF", "bitcast"]
    (term,) = explained_terms(["Not fusing MOF"])
    assert str(term).startswith("MOF: multi-output fusion: one kernel that returns several")


def test_the_shorthand_of_real_compiles_is_explained():
    for path in sorted(DATA.glob("*.tar.xz")):
        for reason in decisions_of(path.name.removesuffix(".tar.xz")).by_reason:
            known = explained_terms([reason])
            assert known or "different shapes" in reason or "slower" in reason, reason
