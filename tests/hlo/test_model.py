"""What the model of a real module says."""

from __future__ import annotations

import pytest

from hlo_widgets.errors import HloLookupError, HloParseError
from hlo_widgets.hlo import FusionKind, HloModule, parse_hlo_module


@pytest.fixture(scope="module")
def module(row_softmax_text: str) -> HloModule:
    return parse_hlo_module(row_softmax_text)


def test_module(module: HloModule) -> None:
    assert module.name == "jit_row_softmax"
    assert module.is_scheduled
    assert next(iter(module.attributes)) == "is_scheduled"
    layout = module.attributes["entry_computation_layout"]
    assert layout.startswith("{(bf16[1024,512]{1,0:T(8,128)(2,1)})->")
    assert module.entry_computation.is_entry_computation
    assert module.warnings == ()
    assert module.entry_computation.root_instruction.name == "fusion"
    assert module.entry_computation.root_instruction.is_root


def test_a_fusion_is_tied_by_calls_alone(row_softmax_text: str) -> None:
    module = parse_hlo_module(row_softmax_text)
    bodies = {
        name: module.instruction(name).called_computations[0] for name in ("fusion", "fusion.1")
    }
    assert {name: body.name for name, body in bodies.items()} == {
        "fusion": "fused_computation.1",
        "fusion.1": "fused_computation.2",
    }
    # With the numbers of the bodies' names swapped everywhere but in calls=, the links are swapped.
    swapped = (
        row_softmax_text.replace("%fused_computation.1 (", "%fused_computation.9 (")
        .replace("%fused_computation.2 (", "%fused_computation.1 (")
        .replace("%fused_computation.9 (", "%fused_computation.2 (")
    )
    module = parse_hlo_module(swapped)
    for name, body in bodies.items():
        now = module.instruction(name).called_computations[0]
        assert now.name == body.name
        other = bodies["fusion" if name == "fusion.1" else "fusion.1"]
        assert now.root_instruction.opcode == other.root_instruction.opcode


def test_fusion(module: HloModule) -> None:
    fusion = module.instruction("%fusion.1")
    body = module.computation("%fused_computation.2")
    assert fusion.fusion_kind is FusionKind.kLoop
    assert fusion.called_computations == (body,)
    assert fusion.called_by_attribute == {"calls": (body,)}
    assert body.callers == (fusion,)
    assert body.is_fusion_computation
    assert not module.entry_computation.is_fusion_computation
    assert len(body.instructions) == 10
    assert body.root_instruction.opcode == "reduce"
    assert [(x.name, x.parameter_number) for x in body.parameters] == [
        ("param_0.9", 0),
        ("param_1.10", 1),
    ]
    assert [x.name for x in fusion.operands] == ["copy-done", "reduce_max.7"]
    assert [x.name for x in module.instruction("copy-done").users] == ["fusion.1", "fusion"]
    assert fusion.parent is module.entry_computation
    assert fusion.text in module.text
    assert module.text.split("\n")[fusion.line - 1].strip() == fusion.text
    assert len(repr(fusion)) < 60


def test_what_is_read_late(module: HloModule) -> None:
    fusion = module.instruction("fusion.1")
    assert fusion.metadata.op_name == "jit(row_softmax)/reduce_sum"
    assert fusion.metadata.stack_frame_id is not None
    assert fusion.metadata.source_file is None
    assert fusion.backend_config["window_config"]["estimated_cycles"] == "6212"
    assert module.instruction("x.1").backend_config is None
    assert module.instruction("constant.3").literal == "-inf"
    assert module.instruction("x.1").literal is None
    assert module.instruction("fusion.1").parameter_number is None
    copy = module.instruction("copy-start").shape
    assert copy.is_tuple
    assert [x.memory_space for x in copy.tuple_shapes] == [1, 0, 2]
    assert copy.byte_size == 2 * 1024 * 512 * 2 + 4
    assert fusion.shape is fusion.shape


def test_lookup_errors_suggest(module: HloModule) -> None:
    with pytest.raises(HloLookupError) as found:
        module.instruction("fusoin.1")
    assert "fusion.1" in found.value.suggestions
    with pytest.raises(HloLookupError):
        module.computation("nothing_like_it")


def test_the_entry_is_searched_first() -> None:
    module = parse_hlo_module(
        "HloModule m\na {\n  x = f32[] parameter(0)\n}\n"
        "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(x)\n}"
    )
    assert module.instruction("x").parent.name == "e"
    assert [item.name for item in module.instructions()] == ["x", "x", "y"]


def test_source_tables() -> None:
    text = (
        'HloModule m\n\nFileNames\n1 "/a/b \\"c\\".py"\n\n'
        'FunctionNames\n1 "<module>"\n2 "f"\n\nFileLocations\n'
        "1 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=7 end_column=29}\n"
        "2 {file_name_id=1 function_name_id=2 line=4 end_line=5 column=30 end_column=52}\n\n"
        "StackFrames\n"
        "1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}\n\n\n"
        "ENTRY e {\n  ROOT p = f32[] parameter(0), metadata={stack_frame_id=2}\n}\n"
    )
    module = parse_hlo_module(text)
    root = module.entry_computation.root_instruction
    inner, outer = module.source_frames(root.metadata.stack_frame_id)
    assert (inner.function, inner.line, inner.end_line, inner.column) == ("f", 4, 5, 30)
    assert (outer.function, outer.line) == ("<module>", 8)
    assert inner.file == '/a/b "c".py'
    assert module.source_frames(3) == ()
    assert root.line == 20
    assert parse_hlo_module(module.to_string()).source_frames(2) == module.source_frames(2)


def test_metadata_strings_are_unescaped() -> None:
    text = (
        "ENTRY e {\n  ROOT p = f32[] parameter(0),"
        ' metadata={op_type="t" op_name="a\\n\\"b\\"\\x41\\101"'
        ' source_file="f.py" source_line=3 size_of_generated_code_in_bytes=7}\n}'
    )
    metadata = parse_hlo_module(text).entry_computation.root_instruction.metadata
    assert metadata.op_name == 'a\n"b"AA'
    assert (metadata.op_type, metadata.source_file, metadata.source_line) == ("t", "f.py", 3)
    assert metadata.extra == {"size_of_generated_code_in_bytes": "7"}


def test_backend_config_as_string_and_as_text() -> None:
    text = (
        'ENTRY e {\n  p = f32[] parameter(0), backend_config="{\\"a\\": [1]}"\n'
        '  q = f32[] negate(p), backend_config="not json"\n'
        "  ROOT r = f32[] negate(q), backend_config={a = 1 : i64}\n}"
    )
    p, q, r = parse_hlo_module(text).entry_computation.instructions
    assert p.backend_config == {"a": [1]}
    assert q.backend_config == "not json"
    assert r.backend_config == "{a = 1 : i64}"


def test_bytes_of_utf8_are_read_as_the_character_that_they_are():
    text = (
        "HloModule m\n\nENTRY %main {\n  %a = f32[8] parameter(0)\n"
        r'  ROOT %r = f32[8] negate(%a), metadata={op_name="jit(f)/na\303\257ve \\303 \377"'
        r' source_file="/h/jos\303\251\350\250\210.py" source_line=3}'
        "\n}\n"
    )
    metadata = parse_hlo_module(text).instruction("r").metadata
    assert metadata.op_name == "jit(f)/naïve \\303 ÿ"
    assert metadata.source_file == "/h/josé計.py"


@pytest.mark.parametrize("name", ["ae\u0301", "😀", "a@b", "a&b", "<b>", "計算"])
def test_a_call_is_read_by_the_same_rule_as_the_name_it_calls(name):
    text = f"""HloModule m

%ae (p: f32[4]) -> f32[4] {{
  %p = f32[4] parameter(0)
  ROOT %s = f32[4] sine(%p)
}}

%{name} (q: f32[4]) -> f32[4] {{
  %q = f32[4] parameter(0)
  ROOT %n = f32[4] negate(%q)
}}

ENTRY %main (x: f32[4]) -> f32[4] {{
  %x = f32[4] parameter(0)
  ROOT %f = f32[4] fusion(%x), kind=kLoop, calls=%{name}
}}
"""
    (body,) = parse_hlo_module(text).instruction("f").called_computations
    assert body.name == name


def test_a_shape_that_is_read_late_says_where_it_stands():
    text = "HloModule m\n\nENTRY %main {\n  %a = f32[8] parameter(0)\n"
    text += "  ROOT %b = f32[8,] negate(%a)\n}\n"
    instruction = parse_hlo_module(text).instruction("b")
    with pytest.raises(HloParseError) as caught:
        _ = instruction.shape
    assert caught.value.line == 5
    assert "%b" in str(caught.value)
