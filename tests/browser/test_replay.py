"""The steps of fusion in a real JupyterLab: slide, play, step, jump, and the end."""

from __future__ import annotations

import re

import pytest

from tests.browser.explorer_page import ExplorerPage

EXPLORE = """
import sys
sys.path.insert(0, {root!r})
import hlo_widgets as hw
from tests.analysis.dumps import decisions_of, module_of
explorer = hw.explore(module_of({name!r}), decisions=decisions_of({name!r}))
explorer
"""
PLAIN = """
import hlo_widgets as hw
explorer = hw.explore(hw.captures.load("row_softmax", "v6e"))
explorer
"""


LONGEST_IN_A_LINE = 20
"""Letters of a name that the queue has in one line at the least; few names are longer."""


class ReplayPage:
    """The tab with the steps, and what a person does with it."""

    def __init__(self, notebook):
        self.notebook, self.page = notebook, notebook.page
        self.page.locator(".hw-graph .hw-box").first.wait_for()
        self.page.get_by_role("tab", name="Fusion steps").click()

    @property
    def graph(self):
        return self.page.locator(".hw-replay-graph .hw-graph")

    @property
    def words(self):
        return self.page.locator(".hw-replay-words")

    @property
    def slider(self):
        return self.page.locator(".hw-replay-bar [role=slider]")

    def wait_step(self, number, total):
        title = f"Step {number} of {total}" if number else "Before any fusion"
        self.page.locator(f'.hw-replay-words[data-shown="{title}"]').wait_for()

    def press(self, title):
        self.page.locator(f'.hw-replay-bar button[title="{title}"]').click()

    def box(self, name):
        return self.graph.locator(f'.hw-box[data-name="{name}"]')

    def names(self):
        return self.graph.locator(".hw-box").evaluate_all("all => all.map(b => b.dataset.name)")

    def lit(self):
        return self.graph.locator(".hw-box.hw-style-joined").evaluate_all(
            "all => all.map(b => b.dataset.name)"
        )

    def lit_ids(self):
        """Return the ids of what was fused, the kernel that stands now last."""
        return self.graph.locator(".hw-box.hw-style-joined").evaluate_all(
            "all => all.map(b => [/\\d ops/.test(b.textContent), b.dataset.id])"
            ".sort().map(b => b[1])"
        )

    def is_covered(self, node_id):
        """Return whether something lies on the middle of a box."""
        return self.graph.locator(f'.hw-box[data-id="{node_id}"]').evaluate(
            "box => { const r = box.getBoundingClientRect();"
            " const top = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);"
            " return !box.contains(top); }"
        )

    def places(self):
        return self.graph.locator(".hw-box").evaluate_all(
            "all => Object.fromEntries(all.map(b => [b.dataset.id,"
            " [b.getBoundingClientRect().x, b.getBoundingClientRect().y]]))"
        )

    def settle(self):
        """Wait until no box is on its way: a transition begins with the frame after."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        self.page.wait_for_function(
            "() => document.querySelector('.hw-replay-graph').getAnimations({subtree: true})"
            ".every((one) => one.playState !== 'running')"
        )


def open_replay(open_notebook, name):
    from pathlib import Path

    root = str(Path(__file__).parents[2])
    notebook = open_notebook([EXPLORE.format(root=root, name=name)])
    notebook.run_all()
    return ReplayPage(notebook)


@pytest.fixture
def mlp(open_notebook):
    return open_replay(open_notebook, "mlp.h100")


def test_step_by_step_from_the_ops_to_the_final_kernels(mlp):
    mlp.wait_step(0, 31)
    assert mlp.lit() == []
    assert "integer_pow.2.0" in mlp.names()
    mlp.press("One step on")
    mlp.wait_step(1, 31)
    assert sorted(mlp.lit()) == ["fusion.4", "integer_pow.2.0"]
    text = mlp.words.inner_text()
    assert "integer_pow.2.0 → integer_pow.3.0: fused" in text
    for words in ("6.005 us", "9.517 us", "3.512 us", "yes, of 30 in the queue"):
        assert words in text
    assert mlp.words.locator("tbody tr").count() == 10
    taken = mlp.words.locator("tr.hw-taken")
    assert taken.get_attribute("data-producer") == "integer_pow.2.0"
    mlp.press("One step on")
    mlp.wait_step(2, 31)
    assert "integer_pow.2.0" not in mlp.names()
    assert mlp.words.locator(".hw-move-new").count() == 1
    mlp.press("One step back")
    mlp.wait_step(1, 31)
    mlp.press("To the final graph")
    mlp.wait_step(31, 31)
    assert "every fusion holds the ops" in mlp.words.inner_text()
    final = (
        mlp.page.locator(".hw-graph")
        .first.locator(".hw-box")
        .evaluate_all("all => all.map(b => b.dataset.name)")
    )
    fusions = {name for name in final if "fusion" in name}
    assert {"loop_multiply_fusion", "input_reduce_fusion", "fusion.13"} <= fusions
    assert fusions <= set(mlp.names())
    mlp.press("To before any fusion")
    mlp.wait_step(0, 31)


def test_the_slider_slides_and_what_is_fused_is_in_view(mlp):
    mlp.wait_step(0, 31)
    mlp.page.locator(".hw-replay-bar .noUi-handle").focus()
    for _ in range(5):
        mlp.page.keyboard.press("ArrowRight")
    mlp.wait_step(5, 31)
    mlp.settle()
    assert sorted(mlp.lit()) == ["fusion.6", "fusion.8"]
    pane = mlp.graph.locator(".hw-pane").bounding_box()
    for name in ("fusion.6", "fusion.8"):
        box = mlp.box(name).bounding_box()
        assert pane["y"] <= box["y"]
        assert box["y"] + box["height"] <= pane["y"] + pane["height"] + 1


@pytest.mark.slow
def test_a_kernel_keeps_its_place_on_the_screen_from_step_to_step(mlp):
    mlp.page.set_viewport_size({"width": 1280, "height": 1400})
    mlp.press("One step on")
    mlp.wait_step(1, 31)
    mlp.graph.locator(".hw-legend").scroll_into_view_if_needed()
    pane = mlp.graph.locator(".hw-pane").bounding_box()
    moved = []
    for number in range(2, 21):
        mlp.settle()
        before = mlp.places()
        mlp.press("One step on")
        mlp.wait_step(number, 31)
        mlp.settle()
        after, lit = mlp.places(), mlp.lit_ids()
        assert pane["y"] < after[lit[-1]][1] < pane["y"] + pane["height"]
        assert not mlp.is_covered(lit[-1])
        # What was in view already need not move at all, unless it came to lie below the map.
        top, bottom = pane["y"] + 24, pane["y"] + pane["height"] - 90
        if all(top < before[one][1] < bottom for one in lit):
            pairs = zip(before[lit[-1]], after[lit[-1]], strict=True)
            moved.append(max(abs(was - now) for was, now in pairs))
    assert len(moved) >= 4
    assert sorted(moved)[-2] < 2, moved


@pytest.mark.slow
def test_play_runs_to_the_end_and_can_be_paused(open_notebook):
    replay = open_replay(open_notebook, "row_softmax.v6e")
    replay.wait_step(0, 7)
    play = replay.page.locator(
        ".hw-replay-bar .widget-play button, .hw-replay-bar .jupyter-widgets.widget-play button"
    ).first
    play.click()
    replay.wait_step(1, 7)
    play.click()
    paused = replay.words.get_attribute("data-shown")
    play.click()
    replay.wait_step(7, 7)
    # The pass is named in the compiler's words, which are explained beside it.
    words = replay.words.inner_text()
    assert "InstructionFusion with may_duplicate=1" in words
    assert "ours: to duplicate: to compute an op again" in words
    assert re.fullmatch(r"Step [12] of 7", paused)
    assert {"fusion", "fusion.1"} <= set(replay.names())
    assert "no queue" in replay.words.inner_text()


def test_jump_goes_through_the_steps_that_grew_the_selected_fusion(mlp):
    mlp.wait_step(0, 31)
    mlp.page.locator('.hw-graph .hw-box[data-name="input_reduce_fusion"]').first.click()
    for number, place in ((4, "step 4, 1 of 2"), (22, "step 22, 2 of 2")):
        name = f"Go to {place} that grew input_reduce_fusion"
        mlp.page.get_by_role("button", name=name).click()
        mlp.wait_step(number, 31)
        mlp.words.locator(".hw-chosen", has_text=f"This is {place}.").wait_for()
        assert mlp.words.locator(".hw-step[aria-current]").inner_text() == str(number)
    assert "convert_element_type.12.0" in mlp.words.inner_text()
    mlp.words.locator(".hw-chosen .hw-step", has_text=re.compile("^4$")).click()
    mlp.wait_step(4, 31)
    # A name in the words lights its box, and the kernel of the end above.
    mlp.words.locator("p.hw-first .hw-link").first.click()
    mlp.graph.locator('.hw-selected[data-name="convert_element_type.11.0"]').wait_for()
    assert mlp.page.locator('.hw-detail[data-selected="input_reduce_fusion"]').count() == 1


def test_without_a_record_the_tab_says_how_to_get_one(open_notebook):
    notebook = open_notebook([PLAIN])
    notebook.run_all()
    page = ExplorerPage(notebook)
    page.page.get_by_role("tab", name="Fusion steps").click()
    page.page.get_by_text("explain=True").last.wait_for()
    assert page.page.locator(".hw-replay-graph").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number"), [("row_softmax.h100", 1), ("mlp.h100", 9), ("train_step.v6e", 40)]
)
def test_it_fits_narrow_and_wide_pages_in_both_themes(open_notebook, name, number):
    replay = open_replay(open_notebook, name)
    replay.words.wait_for()
    replay.notebook.execute("application:toggle-left-area")
    for _ in range(number):
        replay.press("One step on")
    for width in (900, 1400):
        replay.page.set_viewport_size({"width": width, "height": 1000})
        for theme in ("light", "dark"):
            replay.notebook.set_theme(theme)
            replay.page.locator(f'.hw-replay-words[data-theme="{theme}"]').wait_for()
            replay.words.scroll_into_view_if_needed()
            replay.settle()
            replay.notebook.screenshot(f"replay-{name}-{width}-{theme}")
            for part in (replay.words, replay.graph, replay.page.locator(".hw-replay-bar")):
                box = part.bounding_box()
                assert box["x"] + box["width"] <= width
                assert part.evaluate("el => el.scrollWidth <= el.clientWidth + 1")
            # Of the queue no heading is broken in two.
            heads = replay.words.locator(".hw-queue th")
            lines = "all => all.map((th) => { const text = document.createRange();"
            lines += " text.selectNodeContents(th); return text.getClientRects().length; })"
            assert heads.evaluate_all(lines) == [1] * heads.count()
            # Its columns are in view without a scroll to the side, most names in one line.
            area = replay.words.bounding_box()
            for row in replay.words.locator(".hw-queue tbody tr").all():
                box = row.locator("td").last.bounding_box()
                assert box["x"] + box["width"] <= area["x"] + area["width"]
                if len(row.get_attribute("data-producer")) <= LONGEST_IN_A_LINE:
                    assert row.locator(".hw-link").evaluate_all(lines) == [1]
    replay.press("To the final graph")
    replay.words.get_by_text("Checked").or_(replay.words.get_by_text("different")).first.wait_for()
    replay.settle()
    replay.notebook.screenshot(f"replay-{name}-end")
