"""What the controls say of totals, and of what they cannot compare."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hlo_widgets.captures import load
from hlo_widgets.errors import CompileCancelledError, CompileError, HloParseError
from hlo_widgets.widgets.controls import status
from hlo_widgets.widgets.controls.compiled import Compiled
from hlo_widgets.widgets.controls.facts import history_facts
from hlo_widgets.widgets.controls.failure import failure_words
from hlo_widgets.widgets.controls.history import History
from hlo_widgets.widgets.controls.variant import Source, Variant
from hlo_widgets.widgets.shown import Shown


def compiled(program, target):
    result = load(program, target)
    variant = Variant.of_call(Source(len), (program,), {}, target)
    return Compiled(variant, result, Shown.of_result(result), 1.0)


@pytest.fixture
def history():
    history = History()
    history.add(compiled("row_softmax", "v6e"))
    return history


def words(history):
    entry = list(history)[-1]
    return status.ready(entry, history.before(entry))["words"]


def newest(history):
    return history_facts(history, None)["rows"][0]


def test_a_change_says_from_what_and_vmem_of_how_many_kernels(history):
    history.add(compiled("row_softmax", "v5e"))
    assert words(history).startswith(
        "31,888 cycles (+55.1% from number 1) · VMEM up to 1.004 MiB a kernel"
    )
    row = newest(history)
    assert (row["cycles"], row["change"]) == ("31,888", "+55.1%")
    assert row["cycles_title"] == "TPU window_config, 3 of 3 rows known"
    assert row["change_title"] == "from number 1"
    assert row["vmem"] == "1.004 MiB"
    assert row["vmem_title"] == "1,052,672 bytes, the most that one kernel takes"


def test_totals_of_which_rows_are_missing_are_not_compared(history):
    whole, part = compiled("row_softmax", "v5e"), compiled("row_softmax", "v5e")
    part.shown.table.attrs["known_rows"] = 2
    history.add(part)
    assert words(history).startswith("31,888 cycles (2 of 3 rows known) · ")
    row = newest(history)
    assert (row["cycles"], row["change"]) == ("31,888 (2 of 3 known)", "")
    # Nor is the next one compared with it.
    whole = replace(whole, variant=whole.variant.with_flags({"a": 1}))
    history.add(whole)
    assert words(history).startswith("31,888 cycles · ")
    assert newest(history)["change"] == ""


def test_without_figures_there_is_no_total():
    history = History()
    history.add(compiled("mlp", "cpu"))
    assert words(history) == "1.00 s"
    row = newest(history)
    assert (row["cycles"], row["cycles_title"]) == ("", "The compiler gives no figures.")
    assert (row["vmem"], row["change"]) == ("", "")


def test_each_way_to_have_no_picture_has_words_of_its_own(history):
    variant = next(iter(history)).variant
    refused = status.failed(variant, CompileError("v6e", "no"), ["a"])
    assert refused["words"] == "did not compile for v6e: the picture is stale"
    assert refused["memory_askers"] == ["a"]
    unread = status.failed(variant, HloParseError("odd", 1, 1, "x"), [])
    assert unread["words"] == "cannot be read for v6e: the picture is stale"
    for error in (CompileCancelledError("v6e", "no"), KeyboardInterrupt()):
        off = status.failed(variant, error, [])
        assert (off["state"], off["words"]) == ("off", "called off for v6e: the picture is stale")
        assert "text" not in off


def test_an_error_that_has_no_words_is_told_by_its_name():
    class MuteError(Exception):
        def __str__(self):
            raise ZeroDivisionError

    told = failure_words(MuteError())
    assert told == "MuteError: it cannot be put in words, for ZeroDivisionError"
