"""How much of fusion the compilers' records explain, printed for four programs on TPU and GPU.

Compiles the MLP, an attention block, a layer-norm and a train step of four layers with the real
compilers, joins what they wrote down with the final modules, and prints: candidate edges with a
verdict, refusals with words, records joined exactly. Needs libtpu and the CUDA plugin; a compiler
that is not installed is left out. `--recorded` reads the dumps that the tests keep instead.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from hlo_widgets.analysis.decisions import Exactness, Verdict, read_decisions

ROOT = Path(__file__).parents[1]
RECORDER = ROOT / "tests" / "analysis" / "decision_programs.py"
PROGRAMS = ("mlp", "attention", "layer_norm", "train_step")
COMPILERS = {"tpu": ("v6e", "libtpu"), "cuda": ("h100", "jax_cuda12_plugin")}


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


def dumps(folder, platform, target, *, recorded):
    """Return the archives of the four programs, recorded now unless the tests' are wanted."""
    if recorded:
        return [ROOT / "tests" / "analysis" / "data" / f"{p}.{target}.tar.xz" for p in PROGRAMS]
    command = [sys.executable, str(RECORDER), platform, str(folder), *PROGRAMS]
    subprocess.run(command, check=True, capture_output=True)
    return [folder / f"{program}.{target}.tar.xz" for program in PROGRAMS]


def report(archive):
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked, filter="data")
        log = read_decisions(unpacked)
    edges, decided, refused, words, records, exact = coverage(log)
    unread = sum(log.unread.values())
    name = archive.name.removesuffix(".tar.xz")
    print(
        f"{name:18} {share(decided, edges)} {share(words, refused)} {share(exact, records)}"
        f" {unread:7}"
    )


def share(part, whole):
    return f"{part:5}/{whole:<5} {part / whole if whole else 1:4.0%}"


def main():
    recorded = "--recorded" in sys.argv
    print(f"{'':18} {'edges decided':16} {'refusals worded':16} {'joined exactly':16} unread")
    for platform, (target, package) in COMPILERS.items():
        if not recorded and importlib.util.find_spec(package) is None:
            print(f"{target}: {package} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for archive in dumps(Path(folder), platform, target, recorded=recorded):
                report(archive)


if __name__ == "__main__":
    main()
