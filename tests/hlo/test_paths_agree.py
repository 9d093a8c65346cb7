"""The fast path, line by line, and the careful path, by grammar, read the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from hlo_widgets.hlo import HloModule, parse_hlo_module
from hlo_widgets.hlo.builder import ModuleBuilder
from hlo_widgets.hlo.damage import mend
from hlo_widgets.hlo.grammar import GrammarReader
from hlo_widgets.hlo.parser import _read_header
from tests.hlo.conftest import REPOSITORY
from tests.hlo.grammar_cases import CASES
from tests.hlo.strategies import plans, styles, write


def parse_carefully(text: str) -> HloModule:
    """Read a text by the careful path alone."""
    source, _ = mend(text)
    module = HloModule(text, source)
    builder = ModuleBuilder(module)
    reader = GrammarReader(builder)
    position = _read_header(module, 0)
    while position < len(source):
        position = reader.read_item(position)
    return builder.finish()


def facts(module: HloModule) -> Iterator[object]:
    """Everything a module says, as plain values."""
    yield module.name, module.attributes, module.warnings, module.entry_computation.name
    for computation in module.computations:
        yield computation.name, computation.is_entry_computation, computation.line
        yield computation.root_instruction.name, computation.trailer.split()
        for item in computation.instructions:
            yield item.name, item.opcode, item.line, item.shape, item.attributes, item.metadata
            yield [x.name for x in item.operands], [x.name for x in item.users], item.fusion_kind
            yield [x.name for x in item.called_computations], item.backend_config, item.literal


def assert_same(text: str) -> None:
    for fast, careful in zip(
        facts(parse_hlo_module(text)), facts(parse_carefully(text)), strict=True
    ):
        assert fast == careful


@settings(deadline=None, max_examples=50)
@given(plans(), styles)
def test_on_generated_modules(plan, style) -> None:
    assert_same(write(plan, style))


@pytest.mark.parametrize("name", CASES)
def test_on_every_piece_of_syntax(name: str) -> None:
    assert_same(CASES[name])


def test_on_captures(row_softmax_text: str) -> None:
    assert_same(row_softmax_text)
    for path in sorted((REPOSITORY / "captures").rglob("*.txt")):
        assert_same(path.read_text(encoding="utf-8"))


def test_on_public_files(cases) -> None:
    assert_same((cases / "maxtext_train_step.gpu.after_optimizations.hlo.txt").read_text())
    assert_same((cases / "mobilenet_v2.unoptimized.hlo").read_text())


def test_the_fast_path_is_taken(cases, row_softmax_text: str) -> None:
    texts = [row_softmax_text]
    texts += [
        path.read_text()
        for path in (cases / "gemma2_2b.unoptimized.hlo", *cases.glob("*.gpu.*.txt"))
    ]
    for text in texts:
        # An instruction that the careful path reads has a span; a line has none.
        assert parse_hlo_module(text).spans == {}
        assert parse_carefully(text).spans != {}


@pytest.mark.parametrize(
    "line",
    [
        'ROOT q = f32[2] negate(p), metadata={op_name="x = y"}',
        'ROOT q = f32[2] negate(p), metadata={op_name="x"} ROOT r = f32[2] abs(q)',
        "q = f32[2] negate(p) r = f32[2] abs(q)",
        'q = f32[2] negate(p), metadata={op_name="}"\n}',
        "q = f32[2] call(p), to_apply={ a = f32[2] parameter(0) ROOT b = f32[2] abs(a) }",
        'q = f32[2] custom-call(p), custom_call_target="t", backend_config="\n r = f32[2] abs(p)"',
        "q = f32[2] add(f32[2] p, abs(p))",
        "q = f32[2] add(p, /* r = f32[2] abs(p) */ p)",
        "/* q = f32[2] abs(p)\n*/ r = f32[2] negate(p)",
        "q = f32[2]\n negate(p)",
        "q = f32[2] negate(p)\n, a=b",
        "q = f32[2] negate(r)\n r = f32[2] abs(p)",
    ],
)
def test_on_lines_that_look_usual_and_are_not(line: str) -> None:
    assert_same(f"HloModule m\nENTRY e {{\n  p = f32[2] parameter(0)\n  {line}\n}}\n")
