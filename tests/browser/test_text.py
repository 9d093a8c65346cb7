"""The HLO text below the graph, in a real JupyterLab, read as a person would."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlo_widgets as hw
from tests.browser.explorer_page import ExplorerPage

EXPLORE = """
import hlo_widgets as hw
explorer = hw.explore(hw.captures.load("row_softmax", "v6e"))
explorer
"""
LARGE = """
import hlo_widgets as hw
note = 'metadata={op_name="' + "x" * 200 + '"}'
lines = ["HloModule large", "", "ENTRY %main (p: f32[4]) -> f32[4] {", "  %p = f32[4] parameter(0)"]
lines += [f"  %op.{n} = f32[4] negate(%p), {note}" for n in range(36_000)]
lines += ["  ROOT %last = f32[4] negate(%op.7)", "}", ""]
explorer = hw.explore("\\n".join(lines))
explorer
"""
# What waits for a change of size has been called by then.
TWO_FRAMES = """() => new Promise((seen) =>
    requestAnimationFrame(() => requestAnimationFrame(() => seen())))"""


IN_VIEW = """([text, pane, number]) => {
  const row = text.querySelector(`.hw-t-row[data-line="${number}"]:not([data-waits])`);
  if (!row) return false;
  const [line, room] = [row.getBoundingClientRect(), pane.getBoundingClientRect()];
  return room.top <= line.top && line.bottom <= room.bottom + 1;
}"""


class TextPage(ExplorerPage):
    """An Explorer whose tab with the text is open."""

    def __init__(self, notebook):
        super().__init__(notebook)
        self.page.get_by_role("tab", name="HLO text").click()
        self.text = self.page.locator(".hw-text")
        self.pane = self.text.locator(".hw-t-pane")
        self.rows = self.text.locator(".hw-t-row")
        self.rows.first.wait_for()

    def line(self, number):
        return self.text.locator(f'.hw-t-row[data-line="{number}"]:not([data-waits])')

    def lit(self):
        """Wait for a marked line and return its text."""
        row = self.text.locator(".hw-t-lit").last
        row.wait_for()
        return row.inner_text()

    def in_view(self, number):
        """Wait until a line is in view: rows are drawn anew as the text moves."""
        panes = [self.text.element_handle(), self.pane.element_handle(), number]
        return self.page.wait_for_function(IN_VIEW, arg=panes).json_value()


@pytest.fixture
def softmax(open_notebook):
    notebook = open_notebook([EXPLORE])
    notebook.run_all()
    return TextPage(notebook)


@pytest.fixture
def large(open_notebook):
    notebook = open_notebook([LARGE])
    notebook.run_all()
    return TextPage(notebook)


def line_of(name):
    return hw.captures.load("row_softmax", "v6e").module.instruction(name).line


def test_the_selected_op_is_marked_and_scrolled_to_and_a_line_selects_its_op(softmax):
    number = line_of("fusion")
    softmax.box("fusion").click()
    assert "%fusion = bf16[1024,512]" in softmax.lit()
    assert softmax.in_view(number)
    other = line_of("fusion.1")
    softmax.line(other).click()
    softmax.page.locator('.hw-box.hw-selected[data-name="fusion.1"]').wait_for()
    softmax.page.locator('.hw-detail[data-selected="fusion.1"]').wait_for()
    assert "%fusion.1 =" in softmax.lit()
    # A line that holds no op selects nothing.
    softmax.pane.evaluate("el => { el.scrollTop = 0; }")
    softmax.line(1).click()
    assert softmax.python("explorer.selected") == "'fusion.1'"
    softmax.text.get_by_role("button", name="To the selected op").click()
    softmax.page.wait_for_function(
        'line => document.querySelector(`.hw-t-row[data-line="${line}"]`)', arg=other
    )
    assert softmax.in_view(other)


@pytest.mark.slow
def test_metadata_is_folded_until_it_is_asked_for(softmax):
    number = line_of("fusion")
    softmax.box("fusion").click()
    softmax.line(number).wait_for()
    assert softmax.line(number).inner_text().endswith("metadata={...}, backend_config={...}")
    softmax.text.get_by_label("metadata and backend_config").check()
    softmax.text.locator(".hw-t-row", has_text="window_config").first.wait_for()
    # The place is kept, and the whole line is there as the compiler printed it.
    assert softmax.in_view(number)
    assert "estimated_cycles" in softmax.line(number).inner_text()
    softmax.text.get_by_label("metadata and backend_config").uncheck()
    softmax.text.locator(".hw-t-row", has_text="window_config").first.wait_for(state="detached")


def test_the_text_opens_on_the_entry_computation(softmax):
    entry = hw.captures.load("row_softmax", "v6e").module.entry_computation.line
    softmax.line(entry).wait_for()
    assert "ENTRY %main" in softmax.line(entry).inner_text()
    assert softmax.in_view(entry)
    # Once: whoever reads on and comes back finds the place where they were.
    softmax.pane.evaluate("el => { el.scrollTop = 0; }")
    softmax.line(1).wait_for()
    for name in ("Cost table", "HLO text"):
        softmax.page.get_by_role("tab", name=name).click()
    softmax.line(1).wait_for()
    softmax.page.evaluate(TWO_FRAMES)
    assert softmax.in_view(1)


def test_a_text_that_is_in_view_from_the_first_opens_there_too(open_notebook):
    first = EXPLORE.replace(
        "\nexplorer\n", "\nexplorer._tabs.widget.selected_index = 1\nexplorer\n"
    )
    notebook = open_notebook([first])
    notebook.run_all()
    entry = hw.captures.load("row_softmax", "v6e").module.entry_computation.line
    row = notebook.page.locator(f'.hw-t-row[data-line="{entry}"]')
    row.wait_for()
    assert "ENTRY %main" in row.inner_text()


def test_the_text_is_read_by_keyboard(softmax):
    number = line_of("fusion.1")
    softmax.pane.evaluate("el => { el.scrollTop = 0; }")
    softmax.line(1).click()
    for _ in range(number - 1):
        softmax.page.keyboard.press("ArrowDown")
    softmax.text.locator(f'.hw-t-cursor[data-line="{number}"]').wait_for()
    assert softmax.in_view(number)
    active = softmax.pane.get_attribute("aria-activedescendant")
    assert softmax.page.locator(f"#{active}").inner_text().endswith("backend_config={...}")
    softmax.page.keyboard.press("Enter")
    softmax.page.locator('.hw-box.hw-selected[data-name="fusion.1"]').wait_for()
    softmax.page.keyboard.press("End")
    softmax.page.keyboard.press("Home")
    softmax.text.locator('.hw-t-cursor[data-line="1"]').wait_for()
    # Keys of the text are not commands of the notebook.
    assert len(softmax.notebook.cells()) == 1


def test_eight_megabytes_come_up_at_once_and_only_what_is_in_view_is_on_the_page(large):
    assert int(large.python("len(explorer.module.text)")) > 8_000_000
    assert large.rows.count() < 100
    assert "of 36,006" in large.text.locator(".hw-t-place").inner_text()
    # Far down, where nothing has been sent yet.
    large.pane.evaluate("el => { el.scrollTop = 18 * 20000; }")
    large.line(20_005).wait_for()
    assert "%op.20000 = " in large.line(20_005).inner_text()
    assert large.rows.count() < 100
    large.page.locator(".hw-bar input[type=search]").fill("op.31000")
    large.page.locator(".hw-bar input[type=search]").press("Enter")
    large.line(31_005).wait_for()
    assert "%op.31000 = " in large.lit()
    assert large.in_view(31_005)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_of_both_themes(softmax, theme):
    softmax.notebook.set_theme(theme)
    softmax.page.locator(f'.hw-text[data-theme="{theme}"]').wait_for()
    softmax.box("fusion").click()
    assert "%fusion =" in softmax.lit()
    softmax.text.scroll_into_view_if_needed()
    softmax.notebook.screenshot(f"text-{theme}")


HOSTILE = r"""
import pathlib
import hlo_widgets as hw
bad = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
quoted = bad.replace("\\", "\\\\").replace('"', '\\"')
explorer = hw.explore(pathlib.Path(TEMPLATE).read_text().replace("BAD", quoted))
explorer
""".replace("TEMPLATE", repr(str(Path(__file__).with_name("hostile.hlo.txt"))))


def test_text_of_a_program_is_never_markup(open_notebook):
    notebook = open_notebook([HOSTILE])
    notebook.run_all()
    page = TextPage(notebook)
    page.text.get_by_label("metadata and backend_config").check()
    page.text.locator(".hw-t-row", has_text="<script>window.pwned=1</script>").first.wait_for()
    assert page.page.evaluate("window.pwned") is None
    assert page.text.locator("img, script").count() == 0
