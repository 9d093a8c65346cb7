"""The notebook about targets as a reader finds it: saved, with nothing running."""

from __future__ import annotations

from pathlib import Path

import pytest

# JupyterLab makes the cells that are in view.
SCROLL = (
    "n => window.jupyterapp.shell.currentWidget.content.scrollToItem(n, 'center').then(() => null)"
)
TARGETS = Path(__file__).parents[2] / "notebooks" / "targets.ipynb"


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_saved_notebook_shows_charts_and_a_picture_before_anything_runs(open_notebook, theme):
    notebook = open_notebook(TARGETS)
    notebook.set_theme(theme)
    sources = ["".join(cell["source"]) for cell in notebook.cells()]
    charts = [n for n, source in enumerate(sources) if "\nstacked_bars(" in source]
    assert len(charts) == 2
    for index in charts:
        notebook.page.evaluate(SCROLL, index)
        chart = notebook.output(index).locator("img")
        chart.wait_for()
        assert chart.bounding_box()["width"] > 500
        notebook.screenshot(f"targets-{theme}-{index}")
    (index,) = (n for n, source in enumerate(sources) if source.startswith("hw.explore"))
    notebook.page.evaluate(SCROLL, index)
    image = notebook.output(index).locator("img[alt='Graph of jit_mlp']")
    image.wait_for()
    assert image.evaluate("img => img.naturalWidth") > 200
