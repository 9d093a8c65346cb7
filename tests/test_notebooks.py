"""Every notebook runs from its first cell to its last, and is saved with outputs of modest size."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

import hlo_widgets as hw

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MAX_BYTES = 2_000_000  # arbitrary; a browser, a review and a clone all still like it
CELL_SECONDS = 120

over_notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def execute(path):
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": FOLDER}},
    )
    client.execute()
    return notebook


@over_notebooks
def test_notebook_runs(path):
    notebook = execute(path)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    if path.stem == "why_not_fused":
        check_answers(notebook)


def check_answers(notebook):
    """The reasons that the notebook teaches are those that the compilers of this run give."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    text = "".join(output.get("text", "") for output in outputs if output.get("name") == "stdout")
    for kind in ("structural. One pass", "structural. No data goes", "unprofitable -", "blocked."):
        assert kind in text
    assert "copy-start/copy-done, an asynchronous copy from HBM into VMEM" in text
    assert "unfused: without tpu_fusion" in text


@over_notebooks
def test_notebook_is_saved_with_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert outputs, "saved without outputs: run it and save it"
    assert [output for output in outputs if output.output_type == "error"] == []
    assert path.stat().st_size < MAX_BYTES


def test_what_the_notebook_about_targets_says_is_so():
    def rows(target, kind=None):
        table = hw.cost_table(hw.captures.load("mlp", target))
        return table[table.fusion_kind == kind] if kind else table

    def total(target, kind):
        return rows(target, kind).estimated_cycles.sum()

    # "The two kOutput shrink to an eighth, the four kLoop to three quarters."
    assert total("v2", "kOutput") / total("v6e", "kOutput") == pytest.approx(8, abs=0.5)
    assert total("v6e", "kLoop") / total("v2", "kLoop") == pytest.approx(0.75, abs=0.03)
    for target in ("v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"):
        assert (len(rows(target, "kOutput")), len(rows(target, "kLoop"))) == (2, 4)
    # "On a v2 and a v3 all results go through HBM; from the v5e on most stay in VMEM."
    for target in ("v2", "v3"):
        assert set(rows(target).output_memory_space) == {"HBM"}
    for target in ("v5e", "v5p", "v6e", "tpu7x"):
        assert (rows(target).output_memory_space == "VMEM").sum() >= 4
    # "The V100 needs twice as many."
    assert len(rows("v100")) == 11
    assert len(rows("a100")) == 5
    # "The element-by-element kernel of a B200 takes a third of the H200's cycles."
    assert total("h200", "kLoop") / total("b200", "kLoop") == pytest.approx(3, abs=0.4)
