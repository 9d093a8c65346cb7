"""The tab with the steps of fusion, without a browser."""

from __future__ import annotations

import asyncio
import dataclasses

import ipywidgets
import pytest

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import DecisionLog, DecisionSource, FusionDecision, Verdict
from hlo_widgets.analysis.decisions.replay.replay import replay_decisions
from hlo_widgets.drawing import lay_out
from hlo_widgets.widgets import layout_job
from hlo_widgets.widgets.replay import part as part_module
from hlo_widgets.widgets.replay.part import ReplayPart
from hlo_widgets.widgets.replay.words import describe_moment
from hlo_widgets.widgets.shown import Shown
from tests.analysis.dumps import decisions_of, module_of

SMALL = """HloModule small

ENTRY main {
  p = f32[8] parameter(0)
  a = f32[8] exponential(p)
  ROOT r = f32[8] negate(a)
}
"""

LAST = object()


def shown_of(name):
    return Shown.of_module(module_of(name), decisions=decisions_of(name))


def part_of(name, went=None):
    part = ReplayPart(lambda name: went.append(name) if went is not None else None)
    part.show(shown_of(name))
    return part


def words(player):
    return ["".join(p["text"] for p in parts) for parts in player.view.moment["sentences"]]


def lit(player):
    boxes = player.graph.picture["boxes"]
    return {box["members"][0] for box in boxes if box["style"] == "joined"}


def test_without_decisions_it_says_in_one_line_how_to_get_them():
    part = ReplayPart(lambda op: None)
    part.show(Shown.of_module(hw.captures.load("row_softmax", "v6e").module))
    (label,) = part.widget.children
    for word in ("explain=True", "--explain", "decisions="):
        assert word in label.value
    assert part.player is None
    part.select(module_of("mlp.v6e").entry_computation.root_instruction)


def test_a_record_without_fusions_says_so():
    part = ReplayPart(lambda op: None)
    shown = Shown.of_module(module_of("mlp.h100"))
    part.show(dataclasses.replace(shown, decisions=DecisionLog()))
    assert part.widget.children[0].value == "The record tells no fusion in its order."


@pytest.mark.parametrize("name", ["mlp.h100", "mlp.v6e", "row_softmax.h100", "loop_between.v6e"])
def test_each_step_shows_its_picture_and_its_words_and_the_end_the_final_kernels(name):
    part = part_of(name)
    player = part.player
    replay = replay_decisions(decisions_of(name))
    assert player.slider.max == len(replay.steps)
    for step in replay.steps:
        player.show_step(step.number)
        assert player.view.moment["title"] == f"Step {step.number} of {len(replay.steps)}"
        if step.decision is not None:
            assert words(player)[0].startswith(f"{step.decision.producer} → ")
            assert step.made.name in lit(player)
    # Loops and branches have pictures of their own: the last one is of one computation.
    shown = {box["members"][0] for box in player.graph.picture["boxes"]}
    final = {op.name for op in module_of(name).instructions() if op.opcode == "fusion"}
    assert shown & final
    assert any("holds the ops" in note for note in player.view.moment["notes"])


def test_the_layout_program_runs_once_for_all_steps_in_one_computation(monkeypatch):
    laid_out = []

    def noted(graph, run):
        laid_out.append(graph)
        return lay_out(graph, run=run)

    monkeypatch.setattr(layout_job, "lay_out", noted)
    player = part_of("mlp.h100").player
    for number in range(1, player.slider.max + 1):
        player.show_step(number)
    player.show_step(3)
    assert len(laid_out) == 1


def test_the_page_shows_that_a_step_waits_for_its_picture(monkeypatch):
    player, told = part_of("mlp.h100").player, []
    monkeypatch.setattr(player.graph, "send", lambda message: told.append(message["type"]))
    player.show_step(1)
    assert told == ["reveal"]  # one layout serves for all steps
    player._layouts._made.clear()
    told.clear()
    player.show_step(2)
    assert told == ["working", "reveal", "ready"]


def test_the_selected_fusion_offers_the_steps_that_grew_it_one_after_the_other():
    went = []
    part = part_of("mlp.h100", went)
    player = part.player
    assert player.jump.disabled
    fusion = module_of("mlp.h100").instruction("input_reduce_fusion")
    inner = fusion.called_computations[0].root_instruction
    for selected in (fusion, inner):
        part.select(selected)
        assert player.view.selected["steps"] == [4, 22]
        assert player.view.selected["words"] == "grew in 2 steps:"
    # From one to the next, and after the last to the first again.
    for number, place, following in [(4, "step 4, 1 of 2", 22), (22, "step 22, 2 of 2", 4)] * 2:
        assert player.jump.description == f"Go to {place} that grew input_reduce_fusion"
        player.jump.click()
        assert player.slider.value == number
        assert player.view.selected["at"] == number
        assert player.view.selected["place"] == place
        assert player._target == following
    player.show_step(10)
    assert player.view.selected["place"] == ""
    assert player._target == 22
    player.view.send = lambda message: None
    player._on_words({"type": "step", "number": 4})
    assert player.slider.value == 4
    part.select(module_of("mlp.h100").instruction("w2.1"))
    assert player.jump.disabled
    assert player.jump.description == "No step grew w2.1"
    assert player.view.selected["words"] == "was fused in no step."
    part.select(None)
    assert player.view.selected == {}
    assert player.jump.disabled


def test_a_kernel_of_one_step_says_that_it_is_the_only_one():
    part = part_of("two_matmuls.h100")
    part.select(module_of("two_matmuls.h100").instruction("loop_reduce_fusion"))
    (step,) = part.player.view.selected["steps"]
    words = f"Go to step {step}, the only one that grew loop_reduce_fusion"
    assert part.player.jump.description == words


@pytest.mark.parametrize("name", ["row_softmax.v6e", "mlp.h100"])
def test_both_counts_of_ops_are_told_with_what_they_count(name):
    part, module = part_of(name), module_of(name)
    for op in module.entry_computation.instructions:
        part.select(op)
        words = part.player.view.selected["count"]
        if op.opcode != "fusion" or not part.player.view.selected["steps"]:
            assert "inside" not in words
            continue
        body = op.called_computations[0]
        parameters = len(body.parameters)
        inside = len(body.instructions)
        assert f"The graph above counts {inside} inside" in words
        assert f"({inside - parameters}), and {parameters} parameter" in words
        assert f"{part.player._replay.final[op.name].size} op" in words
    assert any("ops inside" in note for note in part.player.view.moment["notes"])


def test_a_box_leads_to_the_final_op_that_runs_it_now():
    went = []
    player = part_of("mlp.h100", went).player
    player.show_step(1)
    player.graph.selected = "integer_pow.3.0"
    assert went == ["loop_multiply_fusion"]
    player._on_words({"type": "name", "name": "integer_pow.2.0"})
    assert player.graph.selected == "integer_pow.2.0"
    assert went == ["loop_multiply_fusion"] * 2


@pytest.mark.parametrize(
    ("message", "step"),
    [
        ({}, 2),
        ({"type": "step"}, 2),
        ({"type": "step", "number": "7"}, 2),
        ({"type": "step", "number": 1.5}, 2),
        ({"type": "step", "number": 1}, 1),
        ({"type": "step", "number": 10**9}, LAST),
        ({"type": "step", "number": -3}, 0),
        ({"type": "name", "name": None}, 2),
        ({"type": "find", "text": "no such op"}, 2),
        ({"type": "hover", "id": "nobody"}, 2),
        ({"type": "toggle", "id": "x"}, 2),
        ({"type": "option", "name": "color_by", "value": "cycles"}, 2),
    ],
)
def test_what_a_browser_sends_goes_to_a_step_or_nowhere(message, step):
    player = part_of("row_softmax.v6e").player
    player.show_step(2)
    player._on_words(message)
    player._on_graph(message)
    player.graph.selected = str(message)
    assert player.slider.value == (player.slider.max if step is LAST else step)


def test_another_module_in_its_place_starts_anew_and_closes_the_old_player():
    part = part_of("mlp.h100")
    old = part.player
    old.show_step(5)
    parts = [old.graph, old.view, old.slider, old.play, old.jump, old.bar, old.widget]
    part.show(Shown.of_module(module_of("mlp.v6e"), decisions=decisions_of("mlp.v6e")))
    assert part.player is not old
    assert not [one for one in ipywidgets.widgets.widget._instances.values() if one in parts]
    assert part.player.slider.value == 0
    assert part.widget.children == (part.player.widget,)
    part.show(Shown.of_module(module_of("mlp.v6e")))
    assert part.player is None


def test_figures_of_another_record_are_told_only_where_they_are_of_the_pair():
    log = decisions_of("factor_between.v6e")
    replay = replay_decisions(log)
    known = {
        (d.producer, d.consumer) for d in log.decisions if d.priority is not None and d.consumer
    }
    told = 0
    for step in replay.steps:
        facts = dict(describe_moment(replay, step.number, log)["facts"])
        if "Priority" in facts:
            assert (step.decision.producer, step.decision.consumer) in known
            assert facts["Figures from"] == "compiler.log"
            assert facts["Priority"].endswith("cycles")
            told += 1
    assert told == len(known) == 5


def test_records_of_unknown_ops_are_counted_in_the_notes():
    decisions = tuple(
        FusionDecision(p, c, Verdict.FUSED, consumers=(c,), fusion_name=f)
        for p, c, f in (("a", "r", "fusion"), ("<i>x</i>", "y", "z"), ("p", "fusion", "fusion"))
    )
    source = DecisionSource("d", "GPU priority fusion dump", decisions, module_text=SMALL)
    log = DecisionLog(decisions, (source,))
    replay = replay_decisions(log)
    moment = describe_moment(replay, 1, log)
    assert any("2 names in the record" in note and "<i>x</i>" in note for note in moment["notes"])
    part = ReplayPart(lambda op: None)
    part.show(Shown.of_module(hw.parse_hlo_module(SMALL), decisions=log))
    part.player.show_step(2)
    assert words(part.player)[0] == "p → fusion: fused"


def test_a_picture_that_cannot_be_laid_out_is_told_in_its_place_and_tried_again(monkeypatch):
    part = part_of("mlp.h100")
    sent = []
    log = decisions_of("mlp.v6e")
    monkeypatch.setenv("HLO_WIDGETS_DOT", "/nowhere/dot")
    part.show(Shown.of_module(module_of("mlp.v6e"), decisions=log))
    assert part.player.graph.picture == {}
    assert part.player.view.moment["title"] == "Before any fusion"
    monkeypatch.setattr(part.player.graph, "send", sent.append)
    part.player.show_step(1)
    assert any("cannot be run" in message.get("text", "") for message in sent)
    monkeypatch.delenv("HLO_WIDGETS_DOT")
    part.player.show_step(2)
    assert "multiply_multiply_fusion" in lit(part.player)


def test_the_queue_tells_who_rose_who_fell_and_who_is_new():
    log = decisions_of("mlp.h100")
    replay = replay_decisions(log)
    assert describe_moment(replay, 9, log)["queue_unit"] == "us"
    rows = {row["producer"]: row for row in describe_moment(replay, 9, log)["queue"]}
    fell, rose = rows["add.15.0"], rows["square.0.0"]
    assert (fell["move"], fell["by"], fell["taken"]) == ("down", 4, True)
    assert fell["words"] == "4 others overtook it; priority was 3.5025"
    assert (rose["move"], rose["words"]) == ("up", "overtook 1 other")
    before = {row["producer"]: row for row in describe_moment(replay, 2, log)["queue"]}
    assert before["fusion.4"]["move"] == "new"
    # The one that is taken is listed although it is not among the first.
    taken = [row for row in describe_moment(replay, 8, log)["queue"] if row["taken"]]
    assert [(row["producer"], row["rank"]) for row in taken] == [("mul.16.0", 21)]


def test_the_text_of_a_long_op_says_on_hover_that_it_is_cut(monkeypatch):
    name = "x" * 900
    text = SMALL.replace("exponential(p)", f'exponential(p), metadata={{op_name="{name}"}}')
    fused = FusionDecision("a", "r", Verdict.FUSED, consumers=("r",), fusion_name="fusion")
    source = DecisionSource("d", "GPU priority fusion dump", (fused,), module_text=text)
    part = ReplayPart(lambda _: None)
    log = DecisionLog((fused,), (source,))
    part.show(Shown.of_module(hw.parse_hlo_module(text), decisions=log))
    sent = []
    monkeypatch.setattr(part.player.graph, "send", sent.append)
    part.player._on_graph({"type": "hover", "id": "a"})
    (message,) = sent
    assert message["text"].startswith("a = f32[8] exponential(p)")
    assert message["text"].endswith("x \u2026 (948 characters)")
    part.close()


async def arrived(part, seconds=20):
    for _ in range(int(seconds / 0.01)):
        if part.player is not None:
            return
        await asyncio.sleep(0.01)


def test_what_takes_its_time_is_said_and_comes_when_it_is_there(monkeypatch):
    # As in a notebook: messages are handled in a loop, which must not be kept waiting.
    monkeypatch.setattr(part_module, "_QUIET_SECONDS", 0)
    shown = shown_of("train_step.v6e")
    part = ReplayPart(lambda _: None)

    async def look():
        part.show(shown)
        assert part.player is None
        assert part._message.value.startswith("Replaying ")
        part.select(shown.module.instruction("fusion.1"))
        await arrived(part)
        assert not part.player.jump.disabled
        # What is shown next wins over what is still on its way.
        part.show(shown)
        part.show(shown_of("mlp.v6e"))
        await arrived(part)
        assert part.player.slider.max == len(replay_decisions(decisions_of("mlp.v6e")).steps)
        part.show(shown)
        part.close()
        await asyncio.sleep(0.5)
        assert part.player is None

    asyncio.run(look())
