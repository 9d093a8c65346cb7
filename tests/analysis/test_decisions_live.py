"""Live compiles write what the kept dumps hold: the readers follow the compilers of today."""

from __future__ import annotations

from collections import Counter

import pytest

from hlo_widgets.analysis.decisions import Exactness, Verdict
from tests.analysis.decision_programs import programs
from tests.analysis.dumps import DATA, decisions_of
from tests.analysis.live import explained

NAMES = [f"{program}.{target}" for program in programs() for target in ("v6e", "h100")]
KEPT = sorted(path.name.removesuffix(".tar.xz") for path in DATA.glob("*.tar.xz"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_record_of_a_live_compile_is_read_and_joined_or_counted(name):
    log = explained(name).decisions
    assert len(log) > 0
    assert log.unread == {}
    assert log.notes == ()
    assert sum(log.by_exactness.values()) == len(log)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["v6e", "h100"])
def test_nearly_every_record_is_joined_exactly(target):
    counts: Counter[Exactness] = Counter()
    for program in programs():
        counts.update(explained(f"{program}.{target}").decisions.by_exactness)
    # What a compiler does to loops is not followed: their states are made anew.
    assert counts[Exactness.EXACT] >= 0.95 * counts.total()
    assert counts[Exactness.NOT_JOINED] <= 0.02 * counts.total()


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_a_live_compile_fuses_what_the_kept_dump_says(name):
    live, kept = explained(name).decisions, decisions_of(name)
    fused = [log.by_verdict.get(Verdict.FUSED, 0) for log in (live, kept)]
    # The kept ones were given shardings of their outputs, for which a copy may be made.
    assert abs(fused[0] - fused[1]) <= 1
    # A TPU compiler asks again about some pairs, in an order that differs from run to run.
    assert abs(len(live) - len(kept)) <= 0.05 * len(kept) + 5


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_fusions_of_a_live_compile_can_be_followed_through_its_passes(name):
    result = explained(name)
    passes = result.decisions.passes
    assert [record.number for record in passes] == sorted({record.number for record in passes})
    standing: set[str] = set()
    for record in passes:
        changes = record.changes
        gone = {old for old, _ in (*changes.merged, *changes.renamed)} | set(changes.dissolved)
        assert gone <= standing, record.name
        assert set(changes.grown) <= standing, record.name
        standing = (standing - gone) | set(changes.made) | {new for _, new in changes.renamed}
        fusions = {
            op.name
            for computation in record.module.computations
            if not computation.is_fusion_computation
            for op in computation.instructions
            if op.opcode == "fusion"
        }
        assert standing == fusions, record.name
