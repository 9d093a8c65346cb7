"""Text that was hurt on its way: what is whole is kept, and the reader says what it did."""

from __future__ import annotations

import pytest

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloModule, parse_hlo_module, parse_hlo_modules

TEXT = """HloModule jit_f, is_scheduled=true

%fused (p: f32[8,128]) -> f32[8,128] {
  %p = f32[8,128]{1,0:T(8,128)} parameter(0)
  ROOT %n = f32[8,128]{1,0:T(8,128)} negate(%p), metadata={op_name="jit(f)/neg" source_line=3}
}

ENTRY %main (x: f32[8,128]) -> f32[8,128] {
  %x = f32[8,128]{1,0:T(8,128)} parameter(0), metadata={op_name="x"}
  %fusion.1 = f32[8,128]{1,0} fusion(%x), kind=kLoop, calls=%fused, backend_config={"a":{"b":"1"}}
  ROOT %copy.2 = f32[8,128]{1,0:T(8,128)} copy(%fusion.1)
}
"""


def names(module: HloModule) -> list[str]:
    return [item.name for item in module.instructions()]


ALL = names(parse_hlo_module(TEXT))


@pytest.mark.parametrize(
    "prefix",
    [
        "2019-08-19 16:38:34.800619: E tensorflow/compiler/xla/xla_client/xla_util.cc:72] ",
        "I0603 07:41:11.123456   12345 hlo_pass_pipeline.cc:301] ",
        "(EngineCore pid=1234) ERROR 06-03 07:41:11 [core.py:1184] ",
    ],
)
def test_log_prefixes(prefix: str) -> None:
    hurt = "".join(f"{prefix}{line}\n" for line in TEXT.splitlines())
    module = parse_hlo_module(hurt)
    assert names(module) == ALL
    assert module.warnings == ("log prefixes before the lines were taken out",)
    assert module.text == hurt
    assert module.instruction("copy.2").line == 11
    assert module.instruction("copy.2").text.startswith("ROOT %copy.2 = ")


def test_markdown_fences_and_words_around() -> None:
    module = parse_hlo_module(f"Here is what I see:\n\n```text\n{TEXT}```\nAny idea?\n")
    assert names(module) == ALL
    assert "markdown fences were taken out" in module.warnings
    assert any(
        "2 lines that are no HLO were skipped, the first is line 1" in w for w in module.warnings
    )


def test_quoted_mail() -> None:
    hurt = "".join(f"> {line}\n" for line in TEXT.splitlines())
    assert names(parse_hlo_module(hurt)) == ALL


def test_line_numbers() -> None:
    for form in ("{}: {}\n", "{:6}\t{}\n", "{} | {}\n"):
        hurt = "".join(form.format(n + 1, line) for n, line in enumerate(TEXT.splitlines()))
        module = parse_hlo_module(hurt.replace(" | ", "| "))
        assert names(module) == ALL
        assert module.warnings == ("line numbers before the lines were taken out",)


@pytest.mark.parametrize(
    "line", ["...", "  ... (12 more)", "I0603 07:41:11.123456   12345 pipeline.cc:301] Running"]
)
def test_lines_that_are_left_out_or_logged(line: str) -> None:
    module = parse_hlo_module(TEXT.replace("  ROOT %copy.2", f"{line}\n  ROOT %copy.2"))
    assert names(module) == ALL
    assert module.warnings == ("line 11 is no HLO and was skipped",)


@pytest.mark.parametrize("width", [60, 80, 90])
def test_wrapped_by_a_terminal(width: int) -> None:
    wrapped = "\n".join(
        line[start : start + width]
        for line in TEXT.splitlines()
        for start in range(0, max(len(line), 1), width)
    )
    module = parse_hlo_module(wrapped)
    assert names(module) == ALL
    assert module.instruction("fusion.1").backend_config == {"a": {"b": "1"}}
    assert module.instruction("n").metadata.op_name == "jit(f)/neg"


def test_every_cut_keeps_what_is_whole() -> None:
    begin = TEXT.index("  %p = ")
    for end in range(begin, len(TEXT)):
        cut = TEXT[:end]
        whole = [name for name in ALL if f"%{name} = " in cut and _is_whole(cut, name)]
        try:
            module = parse_hlo_module(cut)
        except HloParseError:
            assert whole == []
            continue
        assert names(module)[: len(whole)] == whole
        # Where a computation is open, something is missing, and that is told.
        if cut.count("{") != cut.count("}"):
            assert module.warnings, cut[-60:]


def _is_whole(cut: str, name: str) -> bool:
    line = cut[cut.index(f"%{name} = ") :]
    return "\n" in line


def test_a_cut_is_told_once() -> None:
    module = parse_hlo_module(TEXT[: TEXT.index("  ROOT %copy.2") + 20])
    assert names(module) == ALL[:-1]
    [warning] = module.warnings
    assert warning == (
        "the text ends in computation %main at line 11: its ROOT and what follows are missing"
    )
    assert module.entry_computation.root_instruction.name == "fusion.1"


def test_the_beginning_is_missing() -> None:
    module = parse_hlo_module(TEXT[TEXT.index("  ROOT %n") :])
    assert "copy.2" in names(module)
    assert any("'}' closes nothing" in w for w in module.warnings)
    assert [x.name for x in module.instruction("n").operands] == ["p"]
    assert module.instruction("n").operands[0].is_missing


def test_missing_operands_are_placeholders() -> None:
    module = parse_hlo_module(TEXT.replace("  %x = f32", "  %y = f32", 1))
    fusion = module.instruction("fusion.1")
    [missing] = fusion.operands
    assert (missing.name, missing.opcode, missing.is_missing, missing.text) == (
        "x",
        "missing",
        True,
        "%x = opaque[] missing()",
    )
    assert missing.users == (fusion,)
    assert missing not in module.entry_computation.instructions
    assert not module.instruction("y").is_missing
    [warning] = module.warnings
    assert "%x" in warning


def test_forward_references_are_joined() -> None:
    lines = TEXT.splitlines()
    lines[9], lines[10] = lines[10], lines[9]
    module = parse_hlo_module("\n".join(lines))
    assert module.warnings == ()
    assert module.instruction("copy.2").operands == (module.instruction("fusion.1"),)
    assert module.instruction("fusion.1").users == (module.instruction("copy.2"),)


def test_names_that_repeat() -> None:
    module = parse_hlo_module(TEXT.replace("%copy.2 = ", "%x = "))
    assert names(module) == [*ALL[:-1], "x"]
    assert module.instruction("x").opcode == "parameter"
    assert any("repeat" in w for w in module.warnings)


def test_missing_computation() -> None:
    module = parse_hlo_module(TEXT[TEXT.index("ENTRY") :])
    assert module.instruction("fusion.1").called_computations == ()
    assert module.warnings == ("called and not in the text: %fused",)


def test_windows_line_ends_and_byte_order_mark() -> None:
    module = parse_hlo_module("\ufeff" + TEXT.replace("\n", "\r\n"))
    assert names(module) == ALL
    assert module.warnings == ()
    assert module.instruction("copy.2").line == 11


def test_several_modules() -> None:
    two = TEXT + TEXT.replace("jit_f", "jit_g").replace("copy.2", "copy.3") + "\n\n"
    first, second = parse_hlo_modules(two)
    assert (first.name, second.name) == ("jit_f", "jit_g")
    assert (first.text + second.text).strip() == two.strip()
    assert second.instruction("copy.3").line == 11
    assert second.text.split("\n")[10].strip() == second.instruction("copy.3").text
    module = parse_hlo_module(two)
    assert module.name == "jit_f"
    assert any("more than one module" in w for w in module.warnings)
    with pytest.raises(HloParseError) as error:
        parse_hlo_modules(TEXT + "HloModule broken, ,\nENTRY e {\n}\n")
    assert error.value.line == 13


@pytest.mark.parametrize(
    "name",
    [
        "closing_brace_comment.hlo",
        "elided_tuple_result.txt",
        "glog_prefixed_module_terminal_wrapped.txt",
        "gpu_fp8_cublas_dotted_names.hlo",
        "multiline_backend_config.hlo",
        "op_name_with_newline_escapes.hlo",
        "ragged_dump_no_entry_no_header.txt",
        "stack_frame_tables_jax09.hlo",
        "to_apply_braced_missing_computation.hlo",
        "tpu_take_not_fused_after_passes.hlo",
    ],
)
def test_public_oddities_are_read(cases, name: str) -> None:
    module = parse_hlo_module((cases / "small" / name).read_text())
    assert names(module)
    for item in module.instructions():
        assert str(item.shape)


def test_public_oddities_in_detail(cases) -> None:
    small = cases / "small"
    wrapped = parse_hlo_module((small / "glog_prefixed_module_terminal_wrapped.txt").read_text())
    assert [x.name for x in wrapped.instruction("maximum.14").operands] == ["x.12", "y.13"]
    elided = parse_hlo_module((small / "elided_tuple_result.txt").read_text())
    assert elided.instruction("copy.583").operands[0].operands[0].is_missing
    config = parse_hlo_module((small / "multiline_backend_config.hlo").read_text())
    assert config.instruction("f1").backend_config == {"fusion_config": {"kind": "__ynn_fusion"}}
    newline = parse_hlo_module((small / "op_name_with_newline_escapes.hlo").read_text())
    assert "\n  batch_group_count=1\n" in newline.instruction("copy.1").metadata.op_name
    cut = parse_hlo_module((cases / "qwen3_train_step.tpu.cut_at_2000_lines.hlo.txt").read_text())
    assert len(names(cut)) > 1500


@pytest.mark.parametrize(
    "name",
    [
        "scoped_33_operand_fusion_label.txt",
        "vmem_oom_report_log_prefixed.txt",
        "vmem_oom_spill_slots.txt",
    ],
)
def test_what_is_no_module_is_refused(cases, name: str) -> None:
    with pytest.raises(HloParseError):
        parse_hlo_module((cases / "small" / name).read_text())


def test_long_names_make_no_long_messages() -> None:
    name = "n" * 10_000
    text = TEXT.replace("copy(%fusion.1)", f"copy(%{name})").replace("%main ", f"%{name} ")
    module = parse_hlo_module(text + TEXT[TEXT.index("ENTRY") :].replace("%fused", f"%{name}.1"))
    assert module.warnings
    assert all(len(warning) < 300 for warning in module.warnings)
    assert len(repr(module.entry_computation)) < 120
    with pytest.raises(HloParseError) as error:
        parse_hlo_module(text.replace("HloModule jit_f", f"HloModule jit_f, {name}=("))
    assert len(str(error.value)) < 300
