"""Where the tests of the reader find their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hlo.oracle import Oracle

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = REPOSITORY.parent / "shared"


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of public HLO files, beside the repository on the developers' machines."""
    folder = SHARED / "cases"
    if not folder.is_dir():
        pytest.skip("the public HLO files (../shared/cases) are not on this machine")
    return folder


@pytest.fixture(scope="session")
def row_softmax_text() -> str:
    """A row softmax compiled for a TPU v6e: from our own captures, else from the shared ones."""
    for folder in (REPOSITORY / "captures", SHARED / "captures"):
        for path in sorted(folder.rglob("row_softmax.v6e*")):
            if path.suffix in {".txt", ".hlo"}:
                return path.read_text(encoding="utf-8")
    pytest.skip("no capture of row_softmax for v6e is on this machine")


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """XLA's own parser, in a child process."""
    pytest.importorskip("jaxlib._hlo", reason="jaxlib is not installed or has moved its HLO parser")
    asked = Oracle()
    yield asked
    asked.close()
