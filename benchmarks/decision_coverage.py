"""How much of fusion the compilers' records explain, printed for four programs on TPU and GPU.

Compiles the MLP, an attention block, a layer-norm and a train step of four layers with
`explain=True`, and prints: candidate edges with a verdict, refusals with words, records joined
exactly with the final module. Needs libtpu and the CUDA plugin; a compiler that is not installed is
left out. `--recorded` reads the dumps that the tests keep instead; `--large` takes the train step
of 24 layers, which has 34,000 instructions on a TPU and takes a minute.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import Exactness, Verdict

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.train_step import train_step  # noqa: E402
from tests.analysis.decision_programs import programs  # noqa: E402 - found by the line above

PROGRAMS = ("mlp", "attention", "layer_norm", "train_step")
LARGE = "24_layers"
TARGETS = ("v6e", "h100")


def coverage(log):
    """Return (edges, edges with a verdict, refusals, refusals with words, records, joined exactly).

    A candidate edge is a producer and a consumer that a record names. It has a verdict when some
    record says that it was fused, refused or ranked.
    """
    edges, decided = set(), set()
    for decision in log.decisions:
        for consumer in decision.consumers:
            edges.add((decision.producer, consumer))
            if decision.verdict is not Verdict.CONSIDERED:
                decided.add((decision.producer, consumer))
    no = [d for d in log.decisions if d.verdict in (Verdict.REFUSED, Verdict.INELIGIBLE)]
    words = sum(bool(d.reason_words) for d in no)
    exact = log.by_exactness[Exactness.EXACT]
    return len(edges), len(decided), len(no), words, len(log), exact


def live(program, target):
    """Compile a program now, and return what the compiler wrote down."""
    function, *arguments = train_step() if program == LARGE else programs()[program]
    return hw.compile_for(function, *arguments, target=target, explain=True).decisions


def recorded(program, target):
    """Read the dump that the tests keep."""
    data = ROOT / "tests" / "analysis" / "data"
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(data / f"{program}.{target}.tar.xz") as tar:
            tar.extractall(unpacked, filter="data")
        return hw.read_decisions(unpacked)


def report(name, log):
    edges, decided, refused, words, records, exact = coverage(log)
    joined = log.by_exactness
    print(
        f"{name:18} {share(decided, edges)} {share(words, refused)} {share(exact, records)}"
        f" {joined[Exactness.INEXACT]:8} {joined[Exactness.NOT_JOINED]:10}"
        f" {sum(log.unread.values()):7}"
    )


def share(part, whole):
    return f"{part:5}/{whole:<5} {part / whole if whole else 1:4.0%}"


def main():
    read = recorded if "--recorded" in sys.argv else live
    print(
        f"{'':18} {'edges decided':16} {'refusals worded':16} {'joined exactly':16}  inexact"
        " not joined  unread"
    )
    for target in TARGETS:
        if read is live and not hw.target(target).availability.is_available:
            print(f"{target}: {hw.target(target).availability.reason}")
            continue
        for program in (LARGE,) if "--large" in sys.argv else PROGRAMS:
            report(f"{program}.{target}", read(program, target))


if __name__ == "__main__":
    main()
