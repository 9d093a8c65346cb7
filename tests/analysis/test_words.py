"""Words for layouts, platforms and source lines."""

import pytest

from hlo_widgets.analysis import (
    layout_words,
    module_platform,
    platforms,
    source_line,
    source_text,
    target_platform,
)
from hlo_widgets.analysis.words import cost_words, cut, figure_words
from hlo_widgets.hlo import parse_hlo_module

TABLES = """
FileNames
1 "/home/someone/model.py"

FunctionNames
1 "softmax"
2 "main"

FileLocations
1 {file_name_id=1 function_name_id=2 line=40 end_line=40 column=1 end_column=9}
2 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=20}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

"""


def module_with(shape="f32[4]{0}", rest="", tables=""):
    return parse_hlo_module(
        f"HloModule m\n{tables}\nENTRY %e (p: f32[4]) -> f32[4] {{\n"
        f"  ROOT %p = {shape} parameter(0){rest}\n}}\n"
    )


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (
            "bf16[8,512]{1,0:T(8,128)(2,1)S(1)}",
            "row-major, in tiles of 8×128, each in tiles of 2×1",
        ),
        ("f32[8,512]{0,1}", "column-major"),
        ("f32[8,512,64]{1,2,0:T(8,128)}", "dimension 1 inside 2 inside 0, in tiles of 8×128"),
        ("f32[1024]{0:T(1024)}", "one dense dimension, in tiles of 1024"),
        ("f32[8,8,128]{2,1,0:T(*,8,128)}", "row-major, in tiles of *×8×128"),
        ("s4[8]{0:E(4)}", "one dense dimension, also E(4)"),
        ("s4[8]{0:E(4)M(64)}", "one dense dimension, also E(4) M(64)"),
        ("bf16[]{:T(256)}", "one element, in tiles of 256"),
        ("f32[]", "one element"),
        ("f32[4]", "no layout"),
        ("(f32[4]{0}, s32[])", "a tuple of 2"),
        ("token[]", "token, no layout"),
    ],
)
def test_layouts_in_words(shape, words):
    assert layout_words(module_with(shape).instruction("p").shape) == words


def test_the_innermost_frame_is_the_source_line():
    rest = ', metadata={op_name="x" stack_frame_id=2}'
    p = module_with(rest=rest, tables=TABLES).instruction("p")
    frame = source_line(p)
    assert (frame.file, frame.function, frame.line) == ("/home/someone/model.py", "softmax", 12)
    assert source_text(p) == "model.py:12"


@pytest.mark.parametrize("tables", ["", TABLES])
def test_metadata_that_names_its_file_needs_no_tables(tables):
    place = r'source_file="C:\\work\\net.py" source_line=7'
    rest = f', metadata={{op_name="x" {place} stack_frame_id=9}}'
    p = module_with(rest=rest, tables=tables).instruction("p")
    assert source_line(p).line == 7
    assert source_text(p) == "net.py:7"


def test_no_source_is_none():
    p = module_with(rest=', metadata={op_name="x" stack_frame_id=3}').instruction("p")
    assert source_line(p) is None
    assert source_text(p) is None


@pytest.mark.parametrize(
    ("text", "platform"),
    [
        ("f32[4]{0:T(128)}", "tpu"),
        ("f32[4]{0}", None),
    ],
)
def test_tiles_mark_a_tpu(text, platform):
    assert module_platform(module_with(text)) == platform


@pytest.mark.parametrize(
    ("config", "platform"),
    [
        ('{"operation_queue_id":"0"}', "gpu"),
        ('{"flag_configs":[],"used_scoped_memory_configs":[]}', "tpu"),
        ('{"outer_dimension_partitions":["2"]}', "cpu"),
    ],
)
def test_each_backend_has_its_marks(config, platform):
    assert module_platform(module_with(rest=f", backend_config={config}")) == platform


@pytest.mark.parametrize(
    ("target", "platform"),
    [
        ("__cublas$gemm", "gpu"),
        ("__cudnn$convForward", "gpu"),
        ("__gpu$xla.gpu.triton", "gpu"),
        ("tpu_custom_call", "tpu"),
        ("__onednn$matmul", "cpu"),
        ("__custom_norm", None),
        ("my__cublas$gemm", None),
    ],
)
def test_targets_of_custom_calls_are_marks(target, platform):
    module = module_with(rest=f', custom_call_target="{target}"')
    assert module_platform(module) == platform


def test_a_config_in_a_string_is_a_mark():
    config = r'"{\"operation_queue_id\":\"0\"}"'
    assert module_platform(module_with(rest=f", backend_config={config}")) == "gpu"


@pytest.mark.parametrize(
    "name",
    [
        "jit(f)/__custom_norm",
        "jit(f)/__cublas$gemm",
        "f32[8]{0:T(128)}",
        r"custom_call_target=\"__cublas$gemm\"",
        r"{\"operation_queue_id\":1}",
        "xla_cpu_ EigenMatMul",
    ],
)
def test_nothing_in_a_users_name_is_a_mark(name):
    module = module_with(rest=f', metadata={{op_name="{name}" stack_frame_id=1}}')
    assert module_platform(module) is None


def test_a_string_without_an_end_is_searched_in_reasonable_time():
    text = 'op_name="' + '\\"' * 200_000
    assert platforms._first_mark(text) is None


@pytest.mark.parametrize(
    ("target", "platform"),
    [
        ("v6e", "tpu"),
        ("V5P", "tpu"),
        ("tpu7x", "tpu"),
        ("v5e:16x16", "tpu"),
        ("cpu", "cpu"),
        ("h100", "gpu"),
        ("b200", "gpu"),
        ("a100", "gpu"),
        ("v100", "gpu"),
        ("t4", "gpu"),
        ("toaster", None),
        ("", None),
        (None, None),
    ],
)
def test_targets_name_their_platform(target, platform):
    assert target_platform(target) == platform


@pytest.mark.parametrize("file", ["/var/ipykernel_4711/1234567.py", "<ipython-input-3-0a1b2c>"])
def test_a_line_of_a_notebooks_cell_is_called_so(file):
    tables = TABLES.replace("/home/someone/model.py", file)
    rest = ', metadata={op_name="x" stack_frame_id=2}'
    p = module_with(rest=rest, tables=tables).instruction("p")
    assert source_text(p) == "cell:12"
    assert source_line(p).file == file


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1_234_567.0, "1,234,567"),
        (999_999.7, "1,000,000"),
        (33_885.2, "33,885.2"),
        (9_234_567.4, "9,234,567"),
        (2e6, "2,000,000"),
        (6.004999999999999, "6.005"),
        (-126.8, "\u2212126.8"),
        (-0.12975000000000003, "\u22120.12975"),
        (0.00001234, "0.00001234"),
        (-1e-16, "0"),
        (100.0, "100"),
        (1.5e300, "1.5e+300"),
        (float("nan"), "nan"),
        (float("-inf"), "\u2212inf"),
    ],
)
def test_a_figure_has_the_digits_that_a_person_reads(value, words):
    assert figure_words(value) == words
    assert cost_words(value, "cycles") == f"{words} cycles"
    assert cost_words(value, None) == words


def test_what_is_cut_says_how_much_there_is():
    assert cut("x" * 10, 10) == "x" * 10
    assert cut("x" * 1_234, 10) == "x" * 10 + " \u2026 (1,234 characters)"
