"""The Explorer in a real JupyterLab, driven as a person would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.explorer_page import ExplorerPage

EXPLORE = """
import hlo_widgets as hw
explorer = hw.explore(hw.captures.load("row_softmax", "v6e"))
explorer
"""
LARGE = """
import hlo_widgets as hw
lines = ["HloModule chain", "", "ENTRY %main (p: f32[4]) -> f32[4] {"]
lines += ["  %op.0 = f32[4] parameter(0)"]
lines += [f"  %op.{n} = f32[4] negate(%op.{n - 1})" for n in range(1, 900)]
lines += ["  ROOT %op.900 = f32[4] negate(%op.899)", "}", ""]
explorer = hw.explore("\\n".join(lines))
explorer
"""


@pytest.fixture
def softmax(open_notebook):
    notebook = open_notebook([EXPLORE])
    notebook.run_all()
    return ExplorerPage(notebook)


@pytest.fixture
def large(open_notebook):
    notebook = open_notebook([LARGE])
    notebook.run_all()
    return ExplorerPage(notebook)


def scale(explorer):
    return explorer.graph.evaluate(
        "el => { const g = el.querySelector('.hw-boxes'); return g.getScreenCTM().a; }"
    )


def test_a_fusion_opens_by_a_click_stays_in_its_place_and_closes_by_a_second(softmax):
    assert softmax.graph.locator(".hw-box").count() == 5
    assert softmax.box("copy-done").get_attribute("data-members") == "copy-start copy-done"
    before = softmax.box("fusion.1").bounding_box()
    softmax.open("fusion.1")
    frame = softmax.frame("fusion.1")
    after = frame.bounding_box()
    middle_before = before["x"] + before["width"] / 2
    assert abs(after["x"] + after["width"] / 2 - middle_before) < 3
    assert abs(after["y"] - before["y"]) < 3
    inside = softmax.graph.locator('.hw-box[data-id^="fusion.1/"]')
    assert inside.count() == 10
    root = softmax.graph.locator('.hw-box[data-id^="fusion.1/"][data-root]')
    assert root.get_attribute("data-name").startswith("reduce")
    joined = softmax.graph.locator(".hw-binding").evaluate_all(
        "all => all.map(arrow => [arrow.dataset.tail, arrow.dataset.head])"
    )
    assert sorted(tail for tail, _ in joined) == ["copy-done", softmax.box_named("reduce_max")]
    redraws = softmax.redraws()
    frame.locator("text").first.click()
    softmax.wait_redrawn(redraws)
    assert inside.count() == 0
    assert softmax.box("fusion.1").count() == 1


def test_a_row_lights_its_box_and_a_box_its_row(softmax):
    softmax.row("fusion").click()
    softmax.page.locator('.hw-box.hw-selected[data-name="fusion"]').wait_for()
    assert softmax.detail().get_attribute("data-selected") == "fusion"
    softmax.box("copy-done").click()
    softmax.page.locator('.hw-detail[data-selected="copy-done"]').wait_for()
    assert softmax.page.locator("tr.selected").count() == 0
    softmax.open("fusion.1")
    softmax.page.locator("tr.selected", has_text="fusion.1").wait_for()


def test_the_detail_panel_tells_parameters_layout_memory_and_configuration(softmax):
    softmax.open("fusion.1")
    panel = softmax.page.locator('.hw-detail[data-selected="fusion.1"]')
    panel.wait_for()
    text = panel.inner_text()
    for words in (
        "6,212 cycles",
        "1,146,880 bytes",
        "VMEM",
        "tiles",
        "Parameters of the body",
        "copy-done",
    ):
        assert words in text
    panel.locator("summary", has_text="used_scoped_memory_configs").click()
    panel.locator("summary", has_text="0 {").click()
    panel.get_by_text("1146880", exact=True).wait_for()
    panel.locator("button", has_text="copy-done").click()
    softmax.page.locator('.hw-detail[data-selected="copy-done"]').wait_for()
    softmax.page.locator('.hw-box.hw-selected[data-name="copy-done"]').wait_for()


def test_the_keyboard_alone_is_enough(softmax):
    softmax.page.locator(".hw-bar input[type=search]").focus()
    softmax.page.keyboard.press("Tab")  # the picture as a whole, where the arrow keys move it
    softmax.page.keyboard.press("Tab")
    focused = "document.activeElement.dataset.name"
    first = softmax.page.evaluate(focused)
    assert first.startswith("x")
    softmax.page.keyboard.press("ArrowDown")
    softmax.page.keyboard.press("ArrowDown")
    assert softmax.page.evaluate(focused) == "fusion.1"
    before = softmax.redraws()
    softmax.page.keyboard.press("Enter")
    softmax.wait_redrawn(before)
    softmax.frame("fusion.1").wait_for()
    softmax.page.locator(".hw-frame.hw-selected").wait_for()
    softmax.page.keyboard.press("Escape")
    softmax.page.locator(".hw-selected").wait_for(state="detached")
    # Keys of the graph are not commands of the notebook.
    assert len(softmax.notebook.cells()) == 1


def test_a_row_is_selected_by_keyboard(softmax):
    softmax.row("fusion.1").focus()
    softmax.page.keyboard.press("Enter")
    softmax.page.locator('.hw-box.hw-selected[data-name="fusion.1"]').wait_for()
    assert len(softmax.notebook.cells()) == 1


def test_hovering_shows_the_whole_instruction(softmax):
    softmax.box("fusion.1").hover()
    hover = softmax.page.locator(".hw-hover:not([hidden])")
    hover.wait_for()
    assert "fusion(" in hover.inner_text()
    assert "backend_config" in hover.inner_text()


def test_every_label_lies_in_its_box_and_reads_at_the_start(softmax):
    softmax.open("fusion")
    outside = softmax.graph.evaluate("""root =>
        [...root.querySelectorAll('.hw-box, .hw-frame')].flatMap(box => {
        const frame = box.querySelector('rect').getBoundingClientRect();
        const leaves = (place) => place.left < frame.left - 1 || place.right > frame.right + 1
            || place.top < frame.top - 1 || place.bottom > frame.bottom + 1;
        return [...box.querySelectorAll('text')]
            .filter((text) => leaves(text.getBoundingClientRect()))
            .map((text) => text.textContent);
    })""")
    assert outside == []
    assert scale(softmax) * 12 >= 11


@pytest.mark.parametrize("width", [900, 1400])
def test_nothing_needs_sideways_scrolling(softmax, width):
    softmax.page.set_viewport_size({"width": width + 380, "height": 900})
    softmax.notebook.execute("application:toggle-left-area")
    parts = (".jp-OutputArea-output", ".hw-detail", ".dt-container")
    for part in parts:
        wide = softmax.page.locator(part).first.evaluate("el => el.scrollWidth - el.clientWidth")
        assert wide <= 1, part


def test_a_large_graph_starts_readable_with_a_map_and_says_what_it_left_out(large):
    assert scale(large) * 12 >= 11
    assert large.page.locator(".hw-map").is_visible()
    note = large.page.locator(".hw-note").inner_text()
    assert re.search(r"801 of main left out", note)
    large.page.locator(".hw-bar input[type=search]").fill("op.5")
    large.page.locator(".hw-bar input[type=search]").press("Enter")
    large.page.locator('.hw-box.hw-selected[data-name="op.5"]').wait_for()
    box = large.box("op.5").bounding_box()
    pane = large.page.locator(".hw-pane").bounding_box()
    assert pane["y"] <= box["y"] <= pane["y"] + pane["height"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target", "start"),
    [
        ("mlp", "v6e", "fusion.11"),
        ("mlp", "h100", "gemm_fusion_dot"),
        ("attention", "v6e", "convolution_multiply_fusion"),
    ],
)
def test_the_map_does_not_cover_what_a_picture_starts_on(open_notebook, page, name, target, start):
    page.set_viewport_size({"width": 1280, "height": 900})
    code = f"import hlo_widgets as hw\nhw.explore(hw.captures.load({name!r}, {target!r}))"
    notebook = open_notebook([code])
    notebook.run_all()
    explorer = ExplorerPage(notebook)
    overview = explorer.page.locator(".hw-map")
    box = explorer.box(start).bounding_box()
    if overview.is_visible():
        covered = overview.bounding_box()
        is_left = box["x"] + box["width"] <= covered["x"]
        assert is_left or box["y"] + box["height"] <= covered["y"]
    pane = explorer.page.locator(".hw-pane").bounding_box()
    assert pane["y"] <= box["y"]
    assert box["y"] + box["height"] <= pane["y"] + pane["height"]


def test_pan_zoom_and_fit(large):
    world = ".hw-boxes"
    place = f"el => el.querySelector('{world}').getScreenCTM()"
    start = large.graph.evaluate(f"el => {{ const m = ({place})(el); return [m.a, m.e, m.f]; }}")
    pane = large.page.locator(".hw-pane").bounding_box()
    x, y = pane["x"] + 40, pane["y"] + 60
    large.page.mouse.move(x, y)
    large.page.mouse.down()
    large.page.mouse.move(x + 50, y + 30, steps=4)
    large.page.mouse.up()
    moved = large.graph.evaluate(f"el => {{ const m = ({place})(el); return [m.a, m.e, m.f]; }}")
    assert moved[1] - start[1] == pytest.approx(50, abs=2)
    assert moved[2] - start[2] == pytest.approx(30, abs=2)
    large.page.keyboard.down("Control")
    large.page.mouse.wheel(0, -200)
    large.page.keyboard.up("Control")
    assert scale(large) > start[0] * 1.3
    large.graph.get_by_role("button", name="Fit").click()
    assert scale(large) < start[0]


def test_a_double_click_opens_once(softmax):
    before = softmax.redraws()
    softmax.box("fusion.1").dblclick()
    softmax.wait_redrawn(before)
    softmax.python("explorer.expanded")
    assert "fusion.1" in softmax.python("sorted(explorer.expanded)")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_of_both_themes(softmax, theme):
    softmax.notebook.set_theme(theme)
    softmax.page.locator(f'.hw-graph[data-theme="{theme}"]').wait_for()
    softmax.open("fusion.1")
    fill = softmax.box("fusion").locator("rect").evaluate("el => getComputedStyle(el).fill")
    assert fill == {"light": "rgb(159, 211, 245)", "dark": "rgb(29, 91, 132)"}[theme]
    softmax.notebook.screenshot(f"explorer-{theme}")


def test_a_busy_kernel_is_said_and_the_click_is_not_lost(softmax):
    softmax.notebook.execute("notebook:insert-cell-below")
    # Busy until the page has been seen to say so; the file is the sign to go on.
    softmax.notebook.execute(
        "notebook:replace-selection",
        text="import pathlib\nwhile not pathlib.Path('go-on').exists():\n    pass",
    )
    softmax.page.evaluate(
        "() => { window.jupyterapp.commands.execute('notebook:run-cell'); return null; }"
    )
    before = softmax.redraws()
    softmax.box("fusion.1").click()
    softmax.page.locator(".hw-note.hw-problem", has_text="not answered").wait_for()
    softmax.page.evaluate(
        "() => window.jupyterapp.serviceManager.contents.save('go-on',"
        " { type: 'file', format: 'text', content: '' }).then(() => null)"
    )
    softmax.wait_redrawn(before)
    softmax.frame("fusion.1").wait_for()
    softmax.page.locator(".hw-note.hw-problem").wait_for(state="detached")


SLOW = """
import os, pathlib, shlex
import hlo_widgets as hw
from hlo_widgets.drawing import PROGRAM_VARIABLE, layout_program
here, program = pathlib.Path.cwd(), shlex.quote(layout_program())
gate = shlex.quote(str(here / "gate"))
layout = here / "layout"
layout.write_text(f"#!/bin/sh\\nwhile [ ! -e {gate} ]; do sleep 0.05; done\\nexec {program} $@\\n")
layout.chmod(0o755)
os.environ[PROGRAM_VARIABLE] = str(layout)
"""


def test_a_slow_layout_leaves_the_page_usable_and_loses_no_click(softmax):
    softmax.python(SLOW)
    softmax.box("fusion.1").click()
    sign = softmax.page.locator(".hw-working")
    sign.wait_for()
    # All of this is answered although the layout does not come: the picture alone waits for it.
    softmax.page.locator('.hw-detail[data-selected="fusion.1"]').wait_for()
    softmax.row("reduce_max.7").click()
    softmax.page.locator('.hw-detail[data-selected="reduce_max.7"]').wait_for()
    softmax.box("fusion.1").hover()
    softmax.page.locator(".hw-hover", has_text="kind=kLoop").wait_for()
    softmax.box("fusion").click()
    assert softmax.graph.locator(".hw-frame").count() == 0
    sign.wait_for()
    softmax.page.evaluate(
        "() => window.jupyterapp.serviceManager.contents.save('gate',"
        " { type: 'file', format: 'text', content: '' }).then(() => null)"
    )
    softmax.frame("fusion").wait_for()
    softmax.frame("fusion.1").wait_for()
    sign.wait_for(state="hidden")


HOSTILE = r"""
import pathlib
import hlo_widgets as hw
from IPython.display import HTML, SVG, display
bad = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
bad += "'\\u0027 %s \\ & </text></svg>" + "y" * 10_000
quoted = bad.replace("\\", "\\\\").replace('"', '\\"')
module = hw.parse_hlo_module(pathlib.Path(TEMPLATE).read_text().replace("BAD", quoted))
for instruction in module.instructions():
    if instruction.opcode == "negate":
        instruction.name = bad
explorer = hw.explore(module)
display(explorer)
bundle = explorer._repr_mimebundle_()
data = bundle[0] if isinstance(bundle, tuple) else bundle
display(HTML(data["text/html"]))
display(SVG(hw.render_svg(module)))
""".replace("TEMPLATE", repr(str(Path(__file__).with_name("hostile.hlo.txt"))))


def test_text_of_a_program_is_never_markup(open_notebook):
    notebook = open_notebook([HOSTILE])
    notebook.run_all()
    explorer = ExplorerPage(notebook)
    explorer.box("c").click()
    panel = explorer.page.locator('.hw-detail[data-selected="c"]')
    panel.wait_for()
    shown = panel.locator("dd", has_text="onerror").first.text_content()
    assert shown.startswith('<img src=x onerror="window.pwned=1"><script>')
    assert shown.count("y") >= 10_000
    panel.locator("summary", has_text="<img src=x").click()
    explorer.page.mouse.move(2, 2)  # a pointer that rests after a click points at nothing
    explorer.box("c").hover()
    explorer.page.locator(".hw-hover:not([hidden])", has_text="<script>").wait_for()
    explorer.page.locator(".hw-graph text", has_text="<img").first.wait_for()
    explorer.page.locator("table.dataTable td", has_text="<img").first.wait_for()
    assert explorer.page.evaluate("window.pwned") is None
    assert explorer.page.locator(".jp-OutputArea img[src=x]").count() == 0
    notebook.screenshot("hostile")
