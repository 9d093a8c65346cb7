"""The reader needs the standard library and nothing else."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
{before}
import hlo_widgets.hlo
own = {{"hlo_widgets"}}
loaded = {{name.partition(".")[0] for name, module in sys.modules.items() if module is not None}}
known = set(sys.stdlib_module_names) | own | {{"__mp_main__"}}
# Modules that the interpreter's own start brings (site hooks of an editable install) are not ours.
print(" ".join(sorted(name for name in loaded - known - started if not name.startswith("_"))))
"""
STARTED = "started = {name.partition('.')[0] for name in sys.modules}"


def foreign_modules(extra: str = "") -> list[str]:
    """Import the reader in a fresh process; return the other packages that came with it."""
    code = CODE.format(before=f"{STARTED}\n{extra}")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_reader_loads_the_standard_library_only() -> None:
    assert foreign_modules() == []


def test_the_test_above_can_fail() -> None:
    assert "pandas" in foreign_modules("import pandas")
    assert "ipywidgets" in foreign_modules("import ipywidgets")
