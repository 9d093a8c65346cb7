"""The passes that changed a module, and what each did to its fusions."""

from __future__ import annotations

import pytest

from hlo_widgets.analysis.decisions import DecisionLog, FusionChanges, read_records
from hlo_widgets.analysis.decisions.passes import FINAL, DumpedModule, pass_chain
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import decisions_of


def module(entry, *bodies):
    return parse_hlo_module("\n".join(["HloModule m", *bodies, "ENTRY %e {", *entry, "}"]))


SINE = (
    "%sine (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n  ROOT %s = f32[4] sine(%p), "
    'metadata={op_name="sin"}\n}'
)
COSINE = SINE.replace("sine", "cosine").replace('"sin"', '"cos"').replace("%s", "%c")
BOTH = (
    "%both (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n  %s = f32[4] sine(%p), "
    'metadata={op_name="sin"}\n  ROOT %c = f32[4] cosine(%s), metadata={op_name="cos"}\n}'
)
X = "  %x = f32[4] parameter(0)"
PLAIN = module(
    [
        X,
        '  %sin.1 = f32[4] sine(%x), metadata={op_name="sin"}',
        '  ROOT %cos.1 = f32[4] cosine(%sin.1), metadata={op_name="cos"}',
    ]
)
ONE_FUSION = module(
    [
        X,
        "  %fusion = f32[4] fusion(%x), kind=kLoop, calls=%sine",
        '  ROOT %cos.1 = f32[4] cosine(%fusion), metadata={op_name="cos"}',
    ],
    SINE,
)
TWO_FUSIONS = module(
    [
        X,
        "  %fusion = f32[4] fusion(%x), kind=kLoop, calls=%sine",
        "  ROOT %fusion.1 = f32[4] fusion(%fusion), kind=kLoop, calls=%cosine",
    ],
    SINE,
    COSINE,
)
GROWN = module([X, "  ROOT %fusion.1 = f32[4] fusion(%x), kind=kLoop, calls=%both"], BOTH)
RENAMED = module([X, "  ROOT %loop_fusion = f32[4] fusion(%x), kind=kLoop, calls=%both"], BOTH)
CALLED_OFF = module([X, "  ROOT %tanh.9 = f32[4] tanh(%x)"])


def changes(*modules):
    dumps = (DumpedModule(n, f"pipe.after_pass-{n}", m) for n, m in enumerate(modules))
    return [record.changes for record in pass_chain(dumps).passes]


@pytest.mark.parametrize(
    ("before", "after", "expected", "words"),
    [
        (PLAIN, ONE_FUSION, FusionChanges(made=("fusion",)), "1 made"),
        (PLAIN, TWO_FUSIONS, FusionChanges(made=("fusion", "fusion.1")), "2 made"),
        (
            TWO_FUSIONS,
            GROWN,
            FusionChanges(grown=("fusion.1",), merged=(("fusion", "fusion.1"),)),
            "1 grown, 1 merged",
        ),
        (GROWN, RENAMED, FusionChanges(renamed=(("fusion.1", "loop_fusion"),)), "1 renamed"),
        (GROWN, CALLED_OFF, FusionChanges(dissolved=("fusion.1",)), "1 dissolved"),
        (PLAIN, CALLED_OFF, FusionChanges(), "no fusion changed"),
    ],
    ids=["made", "two made", "merged and grown", "renamed", "dissolved", "nothing"],
)
def test_what_a_pass_did_to_fusions(before, after, expected, words):
    assert changes(before, after) == [expected]
    assert str(expected) == words
    assert bool(expected) == (words != "no fusion changed")


def test_only_passes_that_changed_the_module_are_kept():
    chain = pass_chain(
        DumpedModule(number, f"pipe.after_{name}.before_other", m)
        for number, name, m in [
            (0, "pipeline-start", PLAIN),
            (1, "nothing", PLAIN),
            (2, "fuse", ONE_FUSION),
            (3, "nothing", ONE_FUSION),
            (7, "rename", RENAMED),
        ]
    )
    assert [(p.number, p.name) for p in chain.passes] == [(2, "pipe: fuse"), (7, "pipe: rename")]
    assert chain.before is PLAIN


def test_a_pass_has_the_module_after_it_and_keeps_no_more_than_its_text():
    (record,) = pass_chain([DumpedModule(0, "", PLAIN), DumpedModule(1, "a.after_b", GROWN)]).passes
    assert record.text == GROWN.text
    assert record.module is not record.module
    assert record.module.instruction("fusion.1").fusion_kind == "kLoop"


def test_the_last_step_leads_to_the_final_module():
    text = ONE_FUSION.text.encode()
    files = {
        "module_0001.m.0000.pipe.after_pipeline-start.before_a.txt": PLAIN.text.encode(),
        "module_0001.m.0001.pipe.after_a.before_b.txt": text,
        "module_0001.m.0002.pipe.after_b.before_c.txt": b"this is no HLO {",
        "module_0001.other.0003.pipe.after_c.before_d.txt": b"HloModule other\nENTRY %e {\n}\n",
    }
    log = read_records(files, RENAMED)
    assert [(p.number, p.name) for p in log.passes] == [(1, "pipe: a"), (2, FINAL)]
    assert log.passes[-1].module.text == RENAMED.text
    assert log.notes == ("the compiler wrote no record of its fusion decisions",)


def test_a_log_without_modules_around_passes_has_no_passes():
    assert DecisionLog().passes == ()
    assert read_records({}, PLAIN).passes == ()


def test_a_dump_folder_gives_every_run_of_a_pass():
    passes = decisions_of("mlp.v6e").passes
    fusing = [p.number for p in passes if p.pass_name == "tpu_fusion"]
    assert len(fusing) > 1
    assert any(p.changes.made for p in passes)
