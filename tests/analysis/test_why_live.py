"""The same questions of live compiles: program, `explain=True`, answer."""

from __future__ import annotations

import pytest

import hlo_widgets as hw
from tests.analysis.live import explained
from tests.analysis.why_cases import (
    BETWEEN,
    BY_WORDS,
    EXPENSIVE_ON_TPU,
    PRICED,
    PRICED_ON_TPU,
    SLOWER_ON_GPU,
    STRUCTURAL,
    check_price_on_tpu,
)

# The kept dumps were made with shardings of outputs, for which the compiler numbers copies anew.
_NAMES = {("mlp.v6e", "copy.2"): "copy"}


def ask(name, a, b):
    return hw.why_not_fused(explained(name), _NAMES.get((name, a), a), b)


def texts(answer, mark):
    return [item.text for item in answer.evidence if item.mark == mark]


def test_the_softmax_is_blocked_at_its_input_by_the_copy_into_vmem():
    answer = ask("row_softmax.v6e", "x", "fusion.1")
    assert answer.kind == "blocked"
    assert answer.blockers == ("copy-start", "copy-done")
    assert "S(1)" in answer.headline


def test_the_maximum_and_the_sum_of_the_softmax_are_structural():
    answer = ask("row_softmax.v6e", "reduce_max.7", "fusion.1")
    assert answer.kind == "structural"
    assert "One pass over the data cannot hold both" in answer.headline
    assert texts(answer, "inferred")[0].startswith("reduce_max.7 folds 512 elements")


def test_the_exponential_of_the_softmax_is_computed_twice_and_has_a_cost():
    answer = ask("row_softmax.v6e", "fusion.1", "fusion")
    (told,) = (text for text in texts(answer, "inferred") if "is computed in" in text)
    assert told.startswith("exponential is computed in fusion.1 and in fusion")
    assert "524,288 evaluations more, instead of 4,194,304 bytes" in told
    assert "fusion.1 6,212 cycles, fusion 8,740 cycles" in told


@pytest.mark.slow
@pytest.mark.parametrize(("name", "a", "b", "words"), STRUCTURAL)
def test_structural(name, a, b, words):
    answer = ask(name, a, b)
    assert answer.kind == "structural"
    assert any(words in text for text in texts(answer, "inferred")), answer
    assert answer.needed_fusion


@pytest.mark.slow
@pytest.mark.parametrize(("name", "a", "b", "words"), BETWEEN)
def test_blocked_by_what_stands_between(name, a, b, words):
    answer = ask(name, a, b)
    assert answer.kind == "blocked"
    assert answer.blockers
    assert words in answer.headline


@pytest.mark.slow
@pytest.mark.parametrize(("name", "a", "b", "words"), BY_WORDS)
def test_blocked_in_the_compilers_words(name, a, b, words):
    answer = ask(name, a, b)
    assert answer.kind == "blocked"
    first = answer.evidence[0]
    assert first.mark == "compiler"
    assert words in "\n".join((first.decision.reason, *first.decision.remarks))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "a", "b", "gain"), PRICED)
def test_unprofitable_by_the_compilers_price(name, a, b, gain):
    answer = ask(name, a, b)
    assert answer.kind == "unprofitable"
    assert (answer.gain, answer.unit) == (pytest.approx(gain, abs=1e-3), "us")
    decision = answer.evidence[0].decision
    assert decision.unfused_cost - decision.fused_cost == answer.gain


@pytest.mark.parametrize(("name", "a", "b", "gain"), PRICED_ON_TPU)
def test_unprofitable_by_the_tpu_compilers_price(name, a, b, gain):
    check_price_on_tpu(ask(name, a, b), gain)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "a", "b"), SLOWER_ON_GPU)
def test_unprofitable_in_the_gpu_compilers_words(name, a, b):
    answer = ask(name, a, b)
    assert answer.kind == "unprofitable"
    assert "will execute slower if fused" in texts(answer, "compiler")[0]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "a", "b"), EXPENSIVE_ON_TPU)
def test_unprofitable_in_the_tpu_compilers_words(name, a, b):
    answer = ask(name, a, b)
    assert answer.kind == "unprofitable"
    remarks = answer.evidence[0].decision.remarks
    assert "No fusing: producer is duplicated and expensive." in remarks
