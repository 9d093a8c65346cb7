"""The quickstart in a real JupyterLab, with a program compiled while the test waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.explorer_page import ExplorerPage
from tests.compiler.support import needs_libtpu

QUICKSTART = Path(__file__).parents[2] / "notebooks" / "quickstart.ipynb"
IMPORTS, MAGIC = 1, 3  # cells


@needs_libtpu
def test_the_quickstart_compiles_shows_opens_and_links(open_notebook):
    notebook = open_notebook(QUICKSTART)
    notebook.run_cell(IMPORTS)
    notebook.run_cell(MAGIC)
    explorer = ExplorerPage(notebook)

    names = explorer.graph.locator(".hw-box").evaluate_all("all => all.map(b => b.dataset.members)")
    assert sorted(names) == ["copy-start copy-done", "fusion", "fusion.1", "reduce_max.7", "x.1"]
    cycles = explorer.graph.locator(".hw-box text", has_text="cycles").all_text_contents()
    assert [text.split()[0] for text in sorted(cycles)] == ["5,604", "6,212", "8,740"]

    explorer.open("fusion.1")
    inside = explorer.graph.locator('.hw-box[data-id^="fusion.1/"]')
    assert inside.count() == 10
    assert (
        inside.locator("xpath=self::*[@data-root]").get_attribute("data-name").startswith("reduce")
    )
    joined = explorer.graph.locator(".hw-binding").evaluate_all(
        "all => all.map(arrow => arrow.dataset.tail)"
    )
    assert sorted(joined) == ["copy-done", "reduce_max.7"]

    before = explorer.redraws()
    explorer.frame("fusion.1").locator("text").first.click()
    explorer.wait_redrawn(before)
    assert inside.count() == 0

    explorer.row("fusion").click()
    explorer.page.locator('.hw-box.hw-selected[data-name="fusion"]').wait_for()


@needs_libtpu
@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_whole_quickstart_runs(open_notebook, app):
    notebook = open_notebook(QUICKSTART, app=app)
    notebook.run_all()
    outputs = notebook.page.locator(".hw-graph .hw-frame, .hw-graph .hw-box")
    outputs.first.wait_for()
    figures = [cell for cell in notebook.cells() if "tpu7x" in "".join(cell["source"])]
    assert "[4045, 5233, 7181]" in str(figures[0]["outputs"])


def test_the_saved_quickstart_shows_pictures_and_tables_before_anything_runs(open_notebook):
    notebook = open_notebook(QUICKSTART)
    image = notebook.output(MAGIC).locator("img[alt='Graph of jit_row_softmax']")
    image.wait_for()
    assert image.evaluate("img => img.naturalWidth") > 200
    notebook.output(MAGIC).locator("td", has_text="1,196,032").wait_for()
