"""The layers are what pyproject.toml says, and the check of them can fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="import-linter is not installed")

ROOT = Path(__file__).parents[1]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package in a folder, not on the installed one."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, '.'); {program}",
        "--no-cache",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path):
    """A copy of the package that a test may break."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "hlo_widgets", tmp_path / "hlo_widgets", ignore=ignore)
    return tmp_path


def test_no_layer_imports_from_above():
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("errors.py", "import hlo_widgets.analysis", "Each layer imports only"),
        ("hlo/shape.py", "import hlo_widgets.analysis", "Each layer imports only"),
        ("graph/unlisted.py", "import jax", "Only the compiler layer names jax"),
        ("analysis/unlisted.py", "import ipywidgets", "Only widgets imports the widget libraries"),
        ("hlo/unlisted.py", "import numpy", "The reader needs the standard library only"),
        ("unlisted.py", "", "Each layer imports only"),
    ],
)
def test_a_forbidden_import_is_found(copy, module, line, contract):
    with (copy / "hlo_widgets" / module).open("a") as file:
        file.write(f"\n{line}\n")
    result = lint_imports(copy)
    assert result.returncode == 1
    assert contract in result.stdout
