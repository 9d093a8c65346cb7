"""What is compiled again and when: the logic of the controls, with real compiles for the CPU."""

from __future__ import annotations

import gc
import threading
import weakref

import jax
import jax.numpy as jnp
import pytest

import hlo_widgets as hw
from hlo_widgets.compiler import Phase
from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import (
    CompileCancelledError,
    DrawingError,
    NotCompilableError,
    SpecError,
    UnknownTargetError,
)
from hlo_widgets.widgets.controls import history as history_module
from hlo_widgets.widgets.controls import panel
from tests.compiler.support import wait_until


def total(x, power=2):
    return jnp.sum(jnp.tanh(x[7:]) ** power)


@pytest.fixture
def explorer():
    explorer = hw.explore(total, hw.spec("f32[8,4]"), power=3, target="cpu")
    yield explorer
    explorer.close()


def tell(explorer, **message):
    explorer._controls._on_message(message)


def state(explorer):
    return explorer._controls.view.status["state"]


def settle(explorer):
    wait_until(lambda: state(explorer) != "working")


def rows(explorer):
    return [(row["target"], row["changes"]) for row in explorer._controls.view.history["rows"]]


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "hlo_widgets compile"]


def test_a_change_compiles_in_a_thread_and_is_shown(explorer):
    tell(explorer, type="argument", index=0, text="f32[16,4]")
    assert state(explorer) == "working"
    settle(explorer)
    assert "f32[16,4]" in explorer.module.text
    assert rows(explorer) == [("cpu", ["x = f32[16,4]"]), ("cpu", ["as it started"])]
    wait_until(lambda: not threads())


def test_of_many_changes_the_last_one_is_shown_and_few_are_compiled(explorer):
    for size in range(9, 59):
        tell(explorer, type="argument", index=0, text=f"f32[{size},4]")
    settle(explorer)
    assert "f32[58,4]" in explorer.module.text
    assert rows(explorer) == [("cpu", ["x = f32[58,4]"]), ("cpu", ["as it started"])]


def test_a_change_back_to_what_is_shown_needs_no_compile(explorer):
    before = explorer.module
    tell(explorer, type="argument", index=0, text="f32[16,4]")
    tell(explorer, type="argument", index=0, text="f32[8,4]")
    assert state(explorer) == "ready"
    wait_until(lambda: not threads())
    assert explorer.module is before


def test_a_text_that_cannot_be_read_changes_nothing(explorer):
    tell(explorer, type="argument", index=0, text="f32(16)")
    tell(explorer, type="argument", index=1, text="import os")
    tell(explorer, type="target", text="v6")
    facts = explorer._controls.view.variant
    assert set(facts["problems"]) == {"argument 0", "argument 1", "target"}
    assert [row[2] for row in facts["arguments"]] == ["f32[8,4]", "3"]
    assert state(explorer) == "ready"
    tell(explorer, type="argument", index=1, text="3")
    assert "argument 1" not in explorer._controls.view.variant["problems"]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": "nonsense"},
        {"type": "argument"},
        {"type": "argument", "index": 99, "text": "f32[]"},
        {"type": "argument", "index": "0", "text": "f32[]"},
        {"type": "cancel"},
        {"type": "show", "number": 99},
        {"type": "show", "number": None},
        {"type": "show", "number": True},
        {"type": "show", "number": [1]},
        {"type": "back"},
        {"type": "go", "number": "0"},
        {"type": "target", "text": ""},
        {"type": "target", "text": ["v6e"]},
        {"type": "flag", "name": "", "text": "x"},
        {"type": "flag", "name": {}, "text": 1},
        {"type": "unset flag", "name": None},
        {"type": ["argument"]},
        [],
        None,
        {"type": "argument", "index": 1, "text": "{[]: 1}"},
        {"type": "argument", "index": 1, "text": "0x" + "f" * 10_000},
        {"type": "argument", "index": -1, "text": "4"},
        {"type": "argument", "index": True, "text": "4"},
        {"type": "argument", "index": 0, "text": f"f32[{'9' * 5_000}]"},
        {"type": "argument", "index": 0, "text": f"f32[{'9' * 30}]"},
    ],
)
def test_an_odd_message_changes_nothing(explorer, message):
    explorer._controls._on_message(message)
    settle(explorer)
    assert "f32[8,4]" in explorer.module.text
    assert len(rows(explorer)) == 1


def test_a_failed_compile_keeps_the_picture_marked_stale_until_one_works(explorer):
    before = explorer.module
    tell(explorer, type="argument", index=0, text="f32[]")
    settle(explorer)
    status = explorer._controls.view.status
    assert (status["state"], status["is_stale"]) == ("failed", True)
    assert "return jnp.sum(jnp.tanh(x[7:]) ** power)" in status["text"]
    assert f"{__file__}, line " in status["text"]
    assert "hw-stale" in explorer._dom_classes
    assert explorer.module is before
    tell(explorer, type="argument", index=0, text="f32[9,4]")
    settle(explorer)
    assert "hw-stale" not in explorer._dom_classes
    assert state(explorer) == "ready"


def test_what_the_compiler_refuses_is_shown_in_its_own_words(explorer):
    tell(explorer, type="flag", name="--xla_nonsense", text="1")
    settle(explorer)
    assert "No such compile option" in explorer._controls.view.status["text"]
    tell(explorer, type="back")
    settle(explorer)
    assert state(explorer) == "ready"
    assert explorer._controls.view.variant["flags"] == {}


def test_flags_are_set_changed_and_removed(explorer):
    name = "xla_cpu_enable_fast_math"
    for text, flags in (("true", {name: True}), ("false", {name: False})):
        tell(explorer, type="flag", name=name, text=text)
        settle(explorer)
        assert explorer._shown.flags == flags
    tell(explorer, type="unset flag", name=name)
    settle(explorer)
    assert explorer._shown.flags == {}
    assert rows(explorer)[0] == ("cpu", [f"{name} unset"])


def test_an_earlier_variant_is_shown_again_without_a_compile(explorer):
    explorer.recompile(hw.spec("f32[16,4]"))
    pid = workers.process_id("cpu")
    hw.compiler.shut_down()
    tell(explorer, type="show", number=1)
    assert explorer._controls.view.status["words"] == "reading for cpu…"
    settle(explorer)
    assert "f32[8,4]" in explorer.module.text
    assert explorer._controls.view.history["shown"] == 1
    assert explorer._controls.view.variant["arguments"][0][2] == "f32[8,4]"
    assert workers.process_id("cpu") == pid
    assert not workers._slot("cpu").process.is_running


def test_the_history_keeps_each_run_with_what_it_changed(explorer):
    for size in (9, 10, 9):
        explorer.recompile(hw.spec(f"f32[{size},4]"))
    explorer.recompile()  # the same again, which is no other run
    sizes = [changes for _, changes in rows(explorer)]
    assert sizes == [[f"x = f32[{n},4]"] for n in (9, 10, 9)] + [["as it started"]]
    assert [row["number"] for row in explorer._controls.view.history["rows"]] == [5, 3, 2, 1]


def test_flags_that_differ_in_case_and_functions_of_one_name_are_others(explorer):
    def scaled(x, fun):
        return fun(x)

    jitted = jax.jit(scaled, static_argnames="fun")
    other = hw.explore(jitted, hw.spec("f32[8]"), fun=lambda x: x + 1, target="cpu")
    other.recompile(fun=lambda x: x + 2)
    assert len(other._controls.history) == 2
    variant = other._controls.history.entry(1).variant
    named = [variant.with_flag("xla_dump_hlo_module_re", name) for name in ("Aa", "aA")]
    assert not named[0].is_same(named[1])
    other.close()


def test_the_history_forgets_the_oldest(explorer, monkeypatch):
    monkeypatch.setattr(history_module, "MOST_ENTRIES", 3)
    for size in (9, 10, 9, 11):
        explorer.recompile(hw.spec(f"f32[{size},4]"))
    numbers = [row["number"] for row in explorer._controls.view.history["rows"]]
    assert numbers == [5, 4, 3]
    monkeypatch.setattr(history_module, "MOST_CHARACTERS", 1)
    explorer.recompile(hw.spec("f32[12,4]"))
    assert [row["number"] for row in explorer._controls.view.history["rows"]] == [6]
    explorer._controls.history._entries.clear()
    tell(explorer, type="back")
    settle(explorer)
    assert "f32[12,4]" in explorer.module.text


def test_a_compile_is_called_off_and_tried_again(explorer):
    # Whoever has the turn keeps the compiler busy, so that the change waits.
    with workers._slot("cpu").turns.turn():
        tell(explorer, type="argument", index=0, text="f32[16,4]")
        waits = f"{Phase.WAITING} for cpu…"
        wait_until(lambda: explorer._controls.view.status["words"] == waits)
        tell(explorer, type="cancel")
        assert state(explorer) == "off"
        wait_until(lambda: not threads())
    assert "hw-stale" in explorer._dom_classes
    tell(explorer, type="retry")
    settle(explorer)
    assert "f32[16,4]" in explorer.module.text


def test_closing_calls_off_what_waits_and_leaves_no_thread(explorer):
    with workers._slot("cpu").turns.turn():
        tell(explorer, type="argument", index=0, text="f32[16,4]")
        wait_until(lambda: workers.waiting("cpu") == 1)
        explorer.close()
        wait_until(lambda: workers.waiting("cpu") == 0 and not threads())
    assert explorer._controls._recompiler._key not in workers._newest
    tell(explorer, type="argument", index=0, text="f32[32,4]")
    assert not threads()


def test_a_closed_explorer_and_its_module_are_let_go():
    explorer = hw.explore(total, hw.spec("f32[8,4]"), target="cpu")
    module = weakref.ref(explorer.module)
    explorer.close()
    del explorer
    gc.collect()
    assert module() is None


def test_recompile_waits_and_raises(explorer):
    explorer.recompile(hw.spec("f32[32,4]"), power=5, flags={"xla_cpu_enable_fast_math": True})
    assert "f32[32,4]" in explorer.module.text
    assert explorer._shown.flags == {"xla_cpu_enable_fast_math": True}
    explorer.recompile(flags={})
    assert explorer._shown.flags == {}
    assert explorer._controls.variant.arguments.call[1] == {"power": 5}
    before = explorer.module
    with pytest.raises(TypeError):
        explorer.recompile(power="x")
    assert explorer.module is before
    assert state(explorer) == "failed"
    with pytest.raises(UnknownTargetError):
        explorer.recompile(target="v6")


def test_a_change_overtakes_a_recompile_that_waits(explorer):
    caught = []

    def recompile():
        with pytest.raises(CompileCancelledError) as error:
            explorer.recompile(hw.spec("f32[16,4]"))
        caught.append(error.value)

    thread = threading.Thread(target=recompile)
    with workers._slot("cpu").turns.turn():
        thread.start()
        wait_until(lambda: workers.waiting("cpu") == 1)
        tell(explorer, type="argument", index=0, text="f32[32,4]")
        thread.join(60)
    assert caught
    settle(explorer)
    assert "f32[32,4]" in explorer.module.text


def test_a_change_that_comes_after_the_compile_overtakes_it_and_that_is_raised(
    explorer, monkeypatch
):
    real = panel.compile_variant

    def compile_variant(variant):
        compiled = real(variant)
        if variant.arguments.arguments[0].text == "f32[40,4]":
            tell(explorer, type="argument", index=0, text="f32[48,4]")
        return compiled

    monkeypatch.setattr(panel, "compile_variant", compile_variant)
    with pytest.raises(CompileCancelledError):
        explorer.recompile(hw.spec("f32[40,4]"))
    settle(explorer)
    assert "f32[48,4]" in explorer.module.text
    assert rows(explorer) == [("cpu", ["x = f32[48,4]"]), ("cpu", ["as it started"])]


def test_what_cannot_be_drawn_is_raised_and_kept_in_the_history(explorer, monkeypatch):
    before = explorer.module
    monkeypatch.setenv("HLO_WIDGETS_DOT", "/nowhere/dot")
    with pytest.raises(DrawingError):
        explorer.recompile(hw.spec("f32[16,4]"))
    status = explorer._controls.view.status
    assert (status["state"], status["is_stale"]) == ("not drawn", True)
    assert status["words"] == "compiled for cpu, but not drawn: the picture is stale"
    assert "/nowhere/dot" in status["text"]
    assert "hw-stale" in explorer._dom_classes
    assert explorer.module is before
    assert rows(explorer) == [("cpu", ["x = f32[16,4]"]), ("cpu", ["as it started"])]
    assert explorer._controls.view.history["shown"] == 1
    tell(explorer, type="argument", index=0, text="f32[17,4]")
    settle(explorer)
    assert state(explorer) == "not drawn"
    monkeypatch.delenv("HLO_WIDGETS_DOT")
    tell(explorer, type="show", number=2)
    settle(explorer)
    assert state(explorer) == "ready"
    assert "f32[16,4]" in explorer.module.text
    assert "hw-stale" not in explorer._dom_classes


@pytest.mark.parametrize("error", [ValueError("odd"), RecursionError()])
def test_an_error_of_any_kind_ends_the_clock(explorer, monkeypatch, error):
    def show(shown):
        raise error

    monkeypatch.setattr(explorer._controls, "_show", show)
    tell(explorer, type="argument", index=0, text="f32[16,4]")
    settle(explorer)
    assert state(explorer) == "not drawn"
    assert type(error).__name__ in explorer._controls.view.status["text"]
    with pytest.raises(type(error)):
        explorer.recompile(hw.spec("f32[17,4]"))
    assert state(explorer) == "not drawn"


def test_a_result_of_elsewhere_is_called_so_and_ends_what_is_being_compiled(explorer):
    result = hw.compile_for(total, hw.spec("f32[99]"), target="cpu")
    with workers._slot("cpu").turns.turn():
        tell(explorer, type="argument", index=0, text="f32[16,4]")
        wait_until(lambda: workers.waiting("cpu") == 1)
        explorer.show_result(result)
        wait_until(lambda: workers.waiting("cpu") == 0 and not threads())
    assert "f32[99]" in explorer.module.text
    status = explorer._controls.view.status
    assert (status["state"], status["is_stale"]) == ("other", True)
    assert status["words"] == "another result is shown: jit_total for cpu, not what is set here"
    assert explorer._controls.view.history["shown"] is None
    assert "hw-stale" not in explorer._dom_classes
    tell(explorer, type="back")
    assert state(explorer) == "other"
    tell(explorer, type="argument", index=0, text="f32[]")
    settle(explorer)
    assert state(explorer) == "failed"
    tell(explorer, type="show", number=1)
    settle(explorer)
    assert state(explorer) == "ready"
    assert "f32[8,4]" in explorer.module.text


def test_the_history_keeps_texts_and_no_modules(explorer):
    explorer.recompile(hw.spec("f32[16,4]"))
    for number in (1, 2):
        tell(explorer, type="show", number=number)
        settle(explorer)
    assert all("module" not in vars(entry.result) for entry in explorer._controls.history)


def test_an_earlier_variant_is_read_outside_of_the_message_loop(explorer, monkeypatch):
    explorer.recompile(hw.spec("f32[16,4]"))
    real, readers = history_module.Entry.read, []

    def read(entry):
        readers.append(threading.current_thread())
        return real(entry)

    monkeypatch.setattr(history_module.Entry, "read", read)
    tell(explorer, type="show", number=1)
    settle(explorer)
    assert [reader.name for reader in readers] == ["hlo_widgets compile"]


def test_a_closed_explorer_compiles_nothing_and_says_so(explorer):
    before = explorer.module
    explorer.close()
    for change in (lambda: explorer.recompile(power=4), lambda: setattr(explorer, "target", "v5e")):
        with pytest.raises(NotCompilableError, match="this Explorer is closed: "):
            change()
    assert explorer.module is before
    assert explorer._controls._recompiler._key not in workers._newest


def test_setting_the_target_compiles_for_it(explorer):
    assert explorer.target == "cpu"
    with pytest.raises(UnknownTargetError):
        explorer.target = "v6"
    assert explorer.target == "cpu"
    explorer.target = "cpu"
    assert len(rows(explorer)) == 1


def test_a_module_alone_has_no_controls_and_says_how_to_get_them():
    explorer = hw.explore(hw.captures.load("row_softmax", "v6e"))
    assert explorer.target == "v6e"
    assert explorer._controls is None
    for change in (explorer.recompile, lambda: setattr(explorer, "target", "v5e")):
        with pytest.raises(NotCompilableError, match=r"hw\.explore\(function"):
            change()
    assert explorer.target == "v6e"


def test_what_is_open_and_selected_stays_over_a_compile(explorer):
    name = next(one.name for one in explorer.module.entry_computation.instructions if one.is_root)
    explorer.select(name)
    explorer.recompile(hw.spec("f32[16,4]"))
    assert explorer.selected == name


def test_flags_are_listed_from_a_thread(explorer, monkeypatch):
    sent = []
    monkeypatch.setattr(explorer._controls.view, "send", sent.append)
    tell(explorer, type="list flags")
    wait_until(lambda: sent)
    assert sent[0]["target"] == "cpu"
    names = [row[0] for row in sent[0]["flags"]]
    assert "xla_cpu_enable_fast_math" in names


def test_what_is_told_names_the_last_message_in_it(explorer):
    tell(explorer, type="argument", index=0, text="f32[16,4]", serial="page:7")
    assert explorer._controls.view.variant["seen"] == "page:7"
    settle(explorer)


def test_a_function_with_arguments_called_as_ours_can_be_explored():
    def f(target, flags):
        return target + flags

    explorer = hw.api.explore_call(
        f, (), {"target": hw.spec("f32[3]"), "flags": hw.spec("f32[3]")}, target="cpu"
    )
    labels = [row[0] for row in explorer._controls.view.variant["arguments"]]
    assert labels == ["target", "flags"]
    with pytest.raises(SpecError):
        explorer._controls.variant.with_argument(0, "x")
    explorer.close()
