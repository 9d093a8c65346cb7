"""What a person meets first: the Makefile, the environment it makes, the wheel, and binder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CAPTURE = "HloModule m\n\nENTRY e {\n  ROOT p = f32[2]{0} parameter(0)\n}\n"
USE_THE_WHEEL = f"""
import hlo_widgets as hw
from pathlib import Path
module = hw.parse_hlo_module({CAPTURE!r})
assert module.entry_computation.root_instruction.name == "p"
assert hw.render_svg(module).lstrip().startswith(("<?xml", "<svg"))
assert len(hw.cost_table(module)) == 0
hw.explore(module)
print(Path(hw.__file__).parent)
"""


def run(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def write_program(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)
    return path


def test_python_that_is_too_old_is_named(tmp_path):
    old = write_program(tmp_path / "python3", 'echo "Python 3.8" >&2', "exit 1")
    result = run("bash", ROOT / ".ci/make_venv", tmp_path / "venv", old)
    assert result.returncode == 1
    assert "needs Python 3.11 or newer" in result.stderr
    assert str(old) in result.stderr
    assert not (tmp_path / "venv").exists()


def test_python_without_venv_names_the_package(tmp_path):
    # Debian's python3 without python3-venv: everything is there but ensurepip.
    (tmp_path / "ensurepip.py").write_text("raise ModuleNotFoundError('ensurepip')\n")
    python = write_program(
        tmp_path / "python3", f'PYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"'
    )
    result = run("bash", ROOT / ".ci/make_venv", tmp_path / "venv", python)
    assert result.returncode == 1
    assert "apt install python3-venv" in result.stderr
    assert not (tmp_path / "venv").exists()


def test_make_venv_makes_one(tmp_path):
    result = run("bash", ROOT / ".ci/make_venv", tmp_path / "venv", sys.executable)
    assert result.returncode == 0, result.stderr
    version = run(tmp_path / "venv/bin/python", "-m", "pip", "--version")
    assert version.stdout.startswith("pip ")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_help_lists_the_commands():
    # Nothing of an outer make: it would print the folders it enters.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    result = run("make", "help", cwd=ROOT, env=environment)
    words = [line.split()[1] for line in result.stdout.splitlines()]
    assert {"help", "lab", "test", "test-all", "check", "bench", "fuzz"} <= set(words)


def test_binder_installs_extras_that_exist():
    lines = (ROOT / "binder/requirements.txt").read_text().split()
    assert lines == [".[lab,tpu,cuda]"]
    assert {"lab", "tpu"} <= set(PROJECT["optional-dependencies"])


def test_every_dependency_has_a_lower_bound():
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    requirements = [Requirement(text) for texts in lists for text in texts]
    unbounded = [str(r) for r in requirements if not any(s.operator == ">=" for s in r.specifier)]
    assert unbounded == []


@pytest.mark.slow
def test_a_wheel_works_in_an_environment_of_its_own(tmp_path):
    python = tmp_path / "venv/bin/python"
    steps = [
        (sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT),
        (sys.executable, "-m", "venv", tmp_path / "venv"),
        (python, "-m", "pip", "install", "--quiet", "--find-links", tmp_path, "hlo-widgets"),
        # -I: neither the current folder nor PYTHONPATH, so that only the wheel can be found.
        (python, "-I", "-c", USE_THE_WHEEL),
        (tmp_path / "venv/bin/hlo-widgets", "--help"),
    ]
    results = []
    for step in steps:
        results.append(run(*step, cwd=tmp_path))
        assert results[-1].returncode == 0, results[-1].stderr
    assert str(tmp_path / "venv") in results[3].stdout
