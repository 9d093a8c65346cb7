"""The Explorer without a browser: what messages and calls do to its state."""

from __future__ import annotations

import json
import subprocess
import sys

import ipywidgets
import jax.numpy as jnp
import pytest

import hlo_widgets as hw
from hlo_widgets.drawing import PROGRAM_VARIABLE
from hlo_widgets.errors import DrawingError, HloLookupError
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.cost.view import readable_table, shown_rows
from hlo_widgets.widgets.part import Tabs
from tests.analysis.test_collectives import FUSED, PAIR
from tests.graph.modules import BRANCHES, LOOP, chain, fan


@pytest.fixture
def softmax():
    return hw.explore(hw.captures.load("row_softmax", "v6e"))


def drawn(explorer):
    return {box["id"] for box in explorer._picture.widget.picture["boxes"]}


def click(explorer, node_id):
    explorer._picture.on_message({"type": "toggle", "id": node_id})


def test_a_click_opens_selects_and_closes(softmax):
    closed = drawn(softmax)
    click(softmax, "fusion.1")
    assert softmax.expanded == {"fusion.1"}
    assert softmax.selected == "fusion.1"
    assert len([node_id for node_id in drawn(softmax) if node_id.startswith("fusion.1/")]) == 10
    assert [frame["id"] for frame in softmax._picture.widget.picture["frames"]] == ["fusion.1"]
    click(softmax, "fusion.1")
    assert drawn(softmax) == closed


def test_rows_and_boxes_follow_each_other(softmax):
    softmax._tabs.parts[0].table.selected_rows = [2]
    assert softmax.selected == softmax._picture.widget.selected == "fusion"
    softmax._picture.widget.selected = "fusion.1"
    assert softmax._tabs.parts[0].table.selected_rows == [1]
    softmax._picture.widget.selected = "copy-done"
    assert softmax._tabs.parts[0].table.selected_rows == []
    softmax._picture.widget.selected = ""
    assert softmax._details.widget.detail["summary"][0] == "jit_row_softmax"


def test_selecting_a_start_lights_the_box_of_the_pair(softmax):
    softmax.select("copy-start")
    assert softmax._picture.widget.selected == "copy-done"
    assert softmax._details.widget.detail["name"] == "copy-start"


def test_selecting_what_is_hidden_opens_what_it_lies_in(softmax):
    inner = softmax.module.instruction("fusion.1").called_computations[0].root_instruction
    softmax.select(inner.name)
    assert softmax.expanded == {"fusion.1"}
    assert softmax.selected == f"fusion.1/{inner.name}"


def test_selecting_folded_plumbing_shows_it_in_the_panel():
    explorer = hw.explore(LOOP)
    explorer.select("cast")
    assert explorer._details.widget.detail["name"] == "cast"


def test_calls_by_name(softmax):
    softmax.expand("%fusion")
    assert softmax.expanded == {"fusion"}
    softmax.toggle("fusion")
    softmax.collapse("fusion")
    assert softmax.expanded == set()
    with pytest.raises(HloLookupError, match=r"fusion\.9.*Did you mean"):
        softmax.select("fusion.9")


def test_an_op_of_a_reducer_that_is_not_drawn_is_still_described():
    explorer = hw.explore(LOOP)
    explorer.select("sum")
    assert explorer._details.widget.detail["name"] == "sum"


def test_what_no_view_leads_to_is_refused_in_words():
    unused = "%unused (u: f32[]) -> f32[] {\n  ROOT %u = f32[] parameter(0)\n}\n\nENTRY"
    with pytest.raises(HloLookupError, match="'u'"):
        hw.explore(LOOP.replace("ENTRY", unused)).select("u")


def test_options_of_the_view(softmax):
    softmax._picture.on_message({"type": "option", "name": "color_by", "value": "memory"})
    assert softmax.view.color_by == "memory"
    softmax.show(show_plumbing=True)
    assert "constant.3" in drawn(softmax)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": "no such thing"},
        {"type": "toggle", "id": "no such node"},
        {"type": "toggle"},
        {"type": "option", "name": "node_limit", "value": -1},
        {"type": "option", "name": "no_such_option", "value": 1},
        {"type": "option"},
        {"type": "focus", "id": "nowhere/at/all"},
        {"type": "hover", "id": "fusion.1/:op"},
        {"type": "find", "text": ""},
    ],
)
def test_an_odd_message_changes_nothing(softmax, sent, message):
    sent(softmax)
    before = drawn(softmax)
    softmax._picture.on_message(message)
    assert drawn(softmax) == before


def test_a_part_of_a_name_finds_one_op_after_another(softmax, sent):
    messages = sent(softmax)
    for expected in ("fusion.1", "fusion", "fusion.1"):
        softmax._picture.on_message({"type": "find", "text": "fusio"})
        assert softmax.selected == expected
    notes = [message["text"] for message in messages if message["type"] == "note"]
    assert notes == ["1 of 2 found", "2 of 2 found", "1 of 2 found"]


def test_an_opcode_or_an_op_name_is_found_too(softmax, sent):
    sent(softmax)
    softmax._picture.on_message({"type": "find", "text": "row_softmax)/div"})
    assert softmax.selected == "fusion"
    softmax._picture.on_message({"type": "find", "text": "Exponential"})
    assert softmax.selected.startswith("fusion")
    assert "/" in softmax.selected


def test_a_name_that_is_not_there_is_told_to_who_looks_for_it(softmax, sent):
    messages = sent(softmax)
    softmax._picture.on_message({"type": "find", "text": "fusoin"})
    assert messages[0]["type"] == "problem"
    assert "fusion" in messages[0]["text"]
    assert messages[-1] == {"type": "ready"}


def test_hover_sends_the_whole_instruction(softmax, sent):
    messages = sent(softmax)
    softmax._picture.on_message({"type": "hover", "id": "fusion.1"})
    (message,) = messages
    assert message["text"] == softmax.module.instruction("fusion.1").text.strip()


def test_a_press_prepares_the_picture_of_the_click(softmax, monkeypatch):
    softmax._picture.on_message({"type": "prepare", "id": "fusion.1"})
    assert softmax.expanded == set()
    softmax._picture.navigator.layouts.begin(softmax.view.toggled("fusion.1")).future.result(30)
    monkeypatch.setenv(PROGRAM_VARIABLE, "/nowhere/dot")
    click(softmax, "fusion.1")
    assert softmax.expanded == {"fusion.1"}


def test_a_layout_that_fails_keeps_the_picture_and_says_why(softmax, sent, monkeypatch):
    messages = sent(softmax)
    before = drawn(softmax)
    monkeypatch.setenv(PROGRAM_VARIABLE, "/nowhere/dot")
    click(softmax, "fusion")
    assert drawn(softmax) == before
    assert softmax.expanded == set()
    assert messages == [
        {"type": "problem", "text": "/nowhere/dot: cannot be run: No such file or directory"},
        {"type": "ready"},
    ]
    with pytest.raises(DrawingError):
        softmax.expand("fusion")
    monkeypatch.delenv(PROGRAM_VARIABLE)
    click(softmax, "fusion")
    assert softmax.expanded == {"fusion"}


def test_a_limited_view_moves_to_what_is_selected():
    explorer = hw.explore(chain(500), node_limit=40)
    assert "op.3" not in drawn(explorer)
    assert "left out" in explorer._picture.widget.picture["note"]
    explorer.select("op.3")
    assert "op.3" in drawn(explorer)


def test_opened_at_the_start_and_coloured():
    explorer = hw.explore(BRANCHES, expanded=["pick"], color_by="cycles")
    assert explorer.expanded == {"pick"}
    assert explorer._picture.widget.picture["color_by"] == "cycles"


def test_the_panel_of_a_fusion_lists_parameters_with_the_operand_behind_each(softmax):
    softmax.select("fusion.1")
    detail = softmax._details.widget.detail
    fusion = softmax.module.instruction("fusion.1")
    assert [p["operand"]["name"] for p in detail["parameters"]] == [o.name for o in fusion.operands]
    facts = dict(detail["facts"])
    assert facts["estimated cycles"].startswith("6,212 cycles (TPU window_config)")
    assert facts["scoped VMEM"].startswith("1,146,880 bytes")
    assert facts["window estimate"].startswith("0 bytes")
    assert facts["memory"] == "VMEM"


def test_what_is_not_known_is_said():
    explorer = hw.explore(LOOP)
    explorer.select("total")
    facts = dict(explorer._details.widget.detail["facts"])
    assert facts["estimated cycles"].startswith("not known")


def test_the_picture_is_plain_data_without_the_programs_text(softmax):
    picture = json.loads(json.dumps(softmax._picture.widget.picture))
    assert "backend_config" not in json.dumps(picture)
    assert len(json.dumps(picture)) < 20_000


def test_without_a_kernel_there_is_a_picture_and_a_table(softmax):
    bundle = softmax._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    html = data["text/html"]
    assert "data:image/svg+xml;base64," in html
    assert "1,146,880" in html
    assert "42.5" in html
    assert "application/vnd.jupyter.widget-view+json" in data


def test_hostile_text_is_escaped_in_the_static_table():
    text = LOOP.replace("metadata", "").replace(
        "ROOT %total = f32[] reduce(%cast, %zero), dimensions={0}, to_apply=%add",
        'ROOT %total = f32[] custom-call(%cast), custom_call_target="x", '
        'metadata={source_file="/a/<script>" source_line=3}',
    )
    bundle = hw.explore(text)._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "<script" not in data["text/html"]
    assert "&lt;script&gt;:3" in data["text/html"]


def test_hovering_a_copy_of_a_busy_parameter_shows_the_parameter(sent):
    explorer = hw.explore(fan(9))
    messages = sent(explorer)
    explorer._picture.on_message({"type": "hover", "id": "p@n.1"})
    assert messages == [{"type": "hover", "id": "p@n.1", "text": "%p = f32[4] parameter(0)"}]


def test_setting_the_public_trait_selects(softmax):
    softmax.selected = "fusion.1"
    assert softmax._picture.widget.selected == "fusion.1"
    assert softmax._tabs.parts[0].table.selected_rows == [1]
    softmax.selected = "%exp.5"
    assert softmax.selected == "fusion.1/exp.5"
    softmax.selected = ""
    assert "summary" in softmax._details.widget.detail


def test_setting_what_is_not_there_is_refused_and_a_click_on_it_selects_nothing(softmax):
    softmax.selected = "fusion.1"
    with pytest.raises(HloLookupError, match="nothing of that name"):
        softmax.selected = "nothing of that name"
    assert softmax.selected == softmax._picture.widget.selected == "fusion.1"
    for _ in range(2):
        softmax._picture.widget.selected = "no such node"
        assert softmax.selected == softmax._picture.widget.selected == ""


def test_an_unknown_id_is_not_kept_open(softmax, sent):
    sent(softmax)
    click(softmax, "no such node")
    click(softmax, "reduce_max.7")
    assert softmax.expanded == set()


def test_the_browser_is_told_even_when_something_else_fails(softmax, sent, monkeypatch):
    messages = sent(softmax)
    monkeypatch.setattr(softmax._picture.navigator, "show", lambda view: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        click(softmax, "fusion")
    assert messages == [{"type": "ready"}]


def test_the_node_of_a_pair_has_the_row_of_its_start():
    text = """HloModule pair

%wrapped (w: f32[4]) -> f32[8] {
  %w = f32[4] parameter(0)
  ROOT %r = f32[8] concatenate(%w, %w), dimensions={0}
}

ENTRY %main (p: f32[4]) -> f32[8] {
  %p = f32[4] parameter(0)
  %gs = (f32[4], f32[8]) all-gather-start(%p), dimensions={0}
  ROOT %gd = f32[8] all-gather-done(%gs)
}
"""
    explorer = hw.explore(text)
    explorer.select("gd")
    assert explorer._tabs.parts[0].table.selected_rows == [0]


def test_notes_too_long_for_a_tree_are_cut_and_say_so():
    text = LOOP.replace(
        "dimensions={0}", 'dimensions={0}, backend_config={"code":"' + "x" * 50_000 + '"}'
    )
    explorer = hw.explore(text)
    explorer.select("total")
    notes = explorer._details.widget.detail["backend_config"]
    assert notes.endswith("characters)")
    assert len(notes) < 21_000


def test_an_op_inside_a_fusion_has_no_figures_of_its_own(softmax):
    softmax.select("exp.5")
    facts = dict(softmax._details.widget.detail["facts"])
    assert facts["estimated cycles"] == "counted in fusion.1"


def test_another_compile_takes_the_place_and_keeps_what_it_has_too(softmax):
    softmax.expand("fusion.1")
    softmax.select("fusion.1")
    other = hw.captures.load("row_softmax", "v5e")
    softmax.show_result(other)
    assert softmax.module is other.module
    assert softmax.expanded == {"fusion.1"}
    assert softmax.selected == "fusion.1"
    assert softmax._tabs.parts[0].table.selected_rows != []
    assert "cycles" in softmax._tabs.parts[0].table.df.columns


def test_what_another_compile_lacks_is_closed_and_not_selected(softmax):
    softmax.expand("fusion.1")
    softmax.select("copy-start")
    softmax.show_result(hw.captures.load("mlp", "v5e"))
    assert all(softmax.module.instruction(name) for name in softmax.expanded)
    assert softmax._details.widget.detail.get("name") in (None, softmax.selected)


class Broken:
    """A part that cannot show one module."""

    title = "Broken"

    def __init__(self, bad, error):
        self.widget = ipywidgets.Label("as it was")
        self._bad, self._error = bad, error
        self.has_forgotten = False

    def show(self, shown):
        if shown.module is self._bad:
            raise self._error

    def select(self, instruction):
        pass

    def forget(self):
        self.has_forgotten = True

    def close(self):
        close_widget(self.widget)


@pytest.mark.parametrize("error", [DrawingError("dot", "gave up"), ZeroDivisionError("oh")])
def test_a_part_that_fails_says_so_in_its_own_tab_and_stops_no_other(softmax, error, caplog):
    other = hw.captures.load("row_softmax", "v5e")
    first = softmax._tabs.parts[0]
    broken = Broken(other.module, error)
    tabs = softmax._tabs = Tabs([first, broken])
    tabs.show(softmax._shown)
    tabs.open(broken)
    softmax.show_result(other)
    assert softmax.module is softmax._picture.navigator.module is other.module
    (table, problem) = tabs.widget.children
    assert table is first.widget
    assert str(error).strip() in problem.value
    assert broken.has_forgotten
    assert (error.__class__ is ZeroDivisionError) == bool(caplog.records)
    tabs.open(first)
    assert first.table.df.equals(readable_table(shown_rows(softmax.table)))
    softmax.show_result(hw.captures.load("row_softmax", "v6e"))
    tabs.open(broken)
    assert tabs.widget.children[1] is broken.widget


def test_what_cannot_be_drawn_replaces_nothing(softmax, monkeypatch):
    softmax.select("fusion.1")
    before = softmax.module, softmax.table, drawn(softmax), softmax._details.widget.detail
    monkeypatch.setenv(PROGRAM_VARIABLE, "/nowhere/dot")
    with pytest.raises(DrawingError):
        softmax.show_result(hw.captures.load("mlp", "v5e"))
    now = softmax.module, softmax.table, drawn(softmax), softmax._details.widget.detail
    assert all(old is new or old == new for old, new in zip(before, now, strict=True))
    assert softmax.selected == "fusion.1"
    softmax.select("copy-start")


def test_a_result_from_elsewhere_is_told_to_the_controls():
    explorer = hw.explore(jnp.tanh, hw.spec("f32[8]"), target="cpu")
    other = hw.captures.load("row_softmax", "v6e")
    explorer.show_result(other)
    status = explorer._controls.view.status
    assert explorer.target == "v6e"
    assert status["is_stale"]
    assert "another result is shown" in status["words"]
    explorer.close()


ODD = [None, [], {}, "find", [["x"]], 1, True, 1.5]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_messages_of_wrong_types_change_nothing_and_never_raise(softmax, sent, odd):
    softmax.select("fusion.1")
    messages = sent(softmax)
    before = drawn(softmax), softmax._details.widget.detail
    handlers = [
        softmax._picture.on_message,
        softmax._details.on_message,
        *(part._on_message for part in softmax._tabs.parts if hasattr(part, "_on_message")),
    ]
    assert len(handlers) == 4
    for handle in handlers:
        handle(odd)
        handle({"type": odd, "id": "fusion.1"})
        for kind in ("hover", "prepare", "toggle", "focus", "option", "go", "why", "pick", "lines"):
            handle({"type": kind, **dict.fromkeys(("id", "ids", "name", "value", "key"), odd)})
        handle({"type": "why", "ids": ["fusion", odd]})
        handle({"type": "fold", "fold": str(odd), "line": odd})
    assert (drawn(softmax), softmax._details.widget.detail) == before
    assert softmax.selected == "fusion.1"
    assert {message["type"] for message in messages} <= {"ready", "problem"}


def test_every_text_to_the_browser_is_made_safe_to_send(softmax, sent):
    messages = sent(softmax)
    widget = softmax._picture.widget
    for tell in (widget.tell_problem, widget.tell_note):
        tell("a\u202eb")
    widget.show_hover("\ud800", "\x07")
    widget.pick_other("\ud800", "a\u202eb")
    for ids in (["\ud800"], ["\ud800", "b"]):
        widget.center(ids)
        widget.reveal(ids)
    assert len(messages) == 8
    assert json.dumps(messages).encode("ascii")
    told = "".join(str(value) for message in messages for value in message.values())
    assert not any(letter in told for letter in "\u202e\ud800\x07")


def test_a_name_that_a_part_leads_to_is_looked_up_and_told_by_the_explorer_alone(softmax, sent):
    messages = sent(softmax)
    softmax._go_to("fusion")
    assert softmax.selected == "fusion"
    softmax._go_to("fusoin")
    assert softmax.selected == "fusion"
    assert [m["type"] for m in messages] == ["center", "problem"]
    assert "Did you mean" in messages[-1]["text"]


def test_an_op_that_nothing_drawn_leads_to_is_told(sent):
    unused = "%unused (u: f32[]) -> f32[] {\n  ROOT %u = f32[] parameter(0)\n}\n\nENTRY"
    explorer = hw.explore(LOOP.replace("ENTRY", unused))
    messages = sent(explorer)
    explorer._go_to(explorer.module.instruction("u"))
    assert messages == [{"type": "problem", "text": "u: nothing that is drawn leads to it"}]


def test_asking_by_program_and_by_a_click_is_answered_in_the_same_words(softmax):
    program = softmax.why_not_fused("fusion.1", "copy-done")
    words = softmax._details.widget.detail["why"]
    softmax.select("fusion")
    softmax._picture.widget.asked = ["fusion.1", "copy-done"]
    assert softmax._details.widget.detail["why"] == words
    # The log speaks of the start of a pair: by it data enters.
    assert [op["name"] for op in words["ops"]] == ["fusion.1", "copy-start"]
    assert program.headline == words["headline"]


def test_one_question_is_answered_once(softmax, monkeypatch):
    asked = []
    verdicts = type(softmax._shown.verdicts)
    explain = verdicts.explain
    monkeypatch.setattr(verdicts, "explain", lambda *a: asked.append(a) or explain(*a))
    softmax.why_not_fused("fusion.1", "fusion")
    assert len(asked) == 1


def test_the_summary_says_how_much_reaches_each_device():
    known = "At least 14.65 KiB reach each device from others in one run, by shapes."
    assert known in summary(FUSED)
    # The parts after the first are counted there.
    assert not any("not known how much" in line for line in summary(FUSED))
    said = summary(PAIR.replace("reduce-scatter(", "ragged-all-to-all("))
    assert "Of 1 collective it is not known how much is moved." in said
    assert not any("reach each device" in line for line in summary(chain(3)))


def test_of_several_collectives_in_one_fusion_those_that_are_known_count():
    ragged = "  %q = f32[1000] ragged-all-to-all(%x)\n  %r = f32[1000] all-reduce(%x)"
    said = summary(FUSED.replace("  %r = f32[1000] all-reduce(%x)", ragged))
    assert any(line.startswith("At least 14.65 KiB") for line in said)
    assert "Of 1 collective it is not known how much is moved." in said


def summary(text):
    return hw.explore(text)._details.widget.detail["summary"]


@pytest.mark.parametrize("refused", ["expanded=['nope']", "color_by='nope'", "node_limit=-5"])
def test_what_is_refused_and_the_end_of_python_say_nothing_more(refused):
    script = f"""
import gc, hlo_widgets as hw
capture = hw.captures.load("row_softmax", "v6e")
kept = hw.explore(capture)
try:
    hw.explore(capture, {refused})
except (hw.HloWidgetsError, ValueError):
    gc.collect()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "Exception ignored" not in done.stderr
