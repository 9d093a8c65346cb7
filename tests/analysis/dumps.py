"""Dump folders of real compiles, kept compressed beside the tests; see decision_programs.py."""

from __future__ import annotations

import tarfile
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

from hlo_widgets.analysis.decisions import read_decisions
from hlo_widgets.analysis.why import why_not_fused
from hlo_widgets.hlo import read_hlo

DATA = Path(__file__).parent / "data"
_FOLDERS = tempfile.TemporaryDirectory(prefix="hlo-widgets-dumps-")


@cache
def dump_folder(name):
    """Unpack the dump of "mlp.v6e" once a run and return its folder."""
    folder = Path(_FOLDERS.name) / name
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@cache
def module_of(name):
    return read_hlo(dump_folder(name))


@cache
def decisions_of(name):
    return read_decisions(dump_folder(name))


def file_of(name, ending):
    """Return the one file of a dump whose name ends so."""
    (found,) = (path for path in dump_folder(name).iterdir() if path.name.endswith(ending))
    return found


def were_highest(replay):
    """Count the fusions of a replay that took the highest priority, did not, cannot be told."""
    moments = (replay.queue(step.number) for step in replay.steps)
    return Counter(moment.was_highest for moment in moments if moment is not None)


def ask(name, a, b, *, by_graph_alone=False):
    return why_not_fused(module_of(name), a, b, None if by_graph_alone else decisions_of(name))
