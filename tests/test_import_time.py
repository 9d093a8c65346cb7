"""What `import hlo_widgets` loads. How long it takes is printed by benchmarks/bench_import.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {
    *("IPython", "anywidget", "graphviz", "ipywidgets", "itables"),
    *("jax", "jaxlib", "numpy", "pandas"),
}
PRINT_LOADED = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def loaded_by(statement: str, *options: str) -> set[str]:
    """Top-level names of all modules that a fresh interpreter has loaded after a statement."""
    command = [sys.executable, *options, "-c", f"{statement}\n{PRINT_LOADED}"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "module", ["hlo_widgets", "hlo_widgets.hlo", "hlo_widgets.analysis", "hlo_widgets.compiler"]
)
def test_import_loads_nothing_heavy(module):
    loaded = loaded_by(f"import {module}")
    assert "hlo_widgets" in loaded
    assert loaded & HEAVY == set()


def test_the_check_for_heavy_modules_can_fail():
    assert loaded_by("import hlo_widgets, pandas") & HEAVY == {"numpy", "pandas"}


def test_the_reader_runs_on_the_standard_library_alone():
    # -S leaves out site-packages, so every import from there fails.
    text = "HloModule m\\n\\nENTRY e {\\n  ROOT p = f32[2] parameter(0)\\n}\\n"
    statement = f"from hlo_widgets.hlo import parse_hlo_module\nparse_hlo_module('{text}')"
    loaded = loaded_by(statement, "-S")
    assert loaded - set(sys.stdlib_module_names) == {"__main__", "hlo_widgets"}


def test_the_check_for_the_standard_library_can_fail():
    result = subprocess.run(
        [sys.executable, "-S", "-c", "import pandas"], capture_output=True, text=True, check=False
    )
    assert "No module named 'pandas'" in result.stderr
