from __future__ import annotations

from pathlib import Path

import pytest

from hlo_widgets.analysis import read_memory_report
from hlo_widgets.errors import CompileError

CASES = Path(__file__).parents[3] / "shared" / "cases" / "small"
MIB = 2**20

HBM = """\
RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. \
Used 20.50G of 15.50G hbm. Exceeded hbm capacity by 5.00G.

Total hbm usage >= 21.00G:
    reserved        512.00M
    program          20.50G
    arguments            0B

Output size 0B; shares 0B with arguments.

Program hbm requirement 20.50G:
    global            1.25M
    scoped           64.0K
    HLO temp         20.49G (99.0% utilization: Unpadded (10.00G) Padded (20.00G))

  Largest program allocations in hbm:

  1. Size: 16.00G
     Operator: op_name="jit(train)/jvp(attention)/dot[\\"x\\"]" source_file="model.py"
     Shape: bf16[64,8192,8192]{2,1,0:T(8,128)(2,1)}
     Unpadded size: 8.00G
     Extra memory due to padding: 8.00G (2.0x expansion)
     XLA label: fusion.7.remat = fusion(copy.3, copy.4), kind=kOutput, calls=fused_computation.9
     Allocation type: HLO temp
     ==========================

  2. Size: 4.00G
     XLA label: %while.2 = f32[8] while(t.1), metadata={op_name="jit(train)/while"}
     Allocation type: HLO temp
     ==========================
"""
SCOPED = """\
RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:
Ran out of memory in memory space vmem while allocating on stack for %call.1 = \
f32[512,1024]{1,0:T(8,128)} custom-call(%x.1), custom_call_target="tpu_custom_call", \
metadata={op_name="jit(f)/pallas_call" stack_frame_id=2}. Scoped allocation with size 6.00M and \
limit 1.00M exceeded scoped vmem limit by 5.00M.
"""
SINGLE = (
    "RESOURCE_EXHAUSTED: Allocation (size=150994944) would exceed memory (size=134217728) :: "
    "#allocation3 [shape = 'u8[150994944]{0}', space=vmem, size = 0x9000000, scoped, tag = 'input "
    "window allocation for operator input 0. The window shape is f32[4096,9216], while the full "
    "shape is f32[4096,9216].'] :: call.1"
)
TOTAL = (
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory "
    "required for HLO temporaries (74.50G) exceeds available HBM (15.75G). HLO module: jit_f."
)


def test_a_list_of_allocations_with_everything_in_it():
    report = read_memory_report(HBM)
    assert (report.memory_space, report.code) == ("hbm", None)
    assert report.used_bytes == 20.5 * 1024 * MIB
    assert report.limit_bytes == 15.5 * 1024 * MIB
    assert report.excess_bytes == 5 * 1024 * MIB
    assert report.requirements == {
        "reserved": 512 * MIB,
        "program": 20.5 * 1024 * MIB,
        "arguments": 0,
        "global": 1.25 * MIB,
        "scoped": 64 * 1024,
        "HLO temp": round(20.49 * 1024 * MIB),
    }
    assert report.text == HBM
    first, second = report.rows()
    assert first == {
        "size_bytes": 16 * 1024 * MIB,
        "purpose": None,
        "op_name": 'jit(train)/jvp(attention)/dot[\\"x\\"]',
        "instruction": "fusion.7.remat",
        "shape": "bf16[64,8192,8192]{2,1,0:T(8,128)(2,1)}",
        "unpadded_bytes": 8 * 1024 * MIB,
        "padding_bytes": 8 * 1024 * MIB,
        "expansion": 2.0,
        "kind": "HLO temp",
        "label": "fusion.7.remat = fusion(copy.3, copy.4), kind=kOutput, calls=fused_computation.9",
        "source": "model.py",
    }
    assert (second["instruction"], second["op_name"]) == ("while.2", "jit(train)/while")
    assert second["shape"] is second["padding_bytes"] is second["unpadded_bytes"] is None


def test_the_stack_of_one_kernel():
    report = read_memory_report(SCOPED)
    assert (report.memory_space, report.code) == ("vmem", "E1001")
    sizes = (report.used_bytes, report.limit_bytes, report.excess_bytes)
    assert sizes == (6 * MIB, 1 * MIB, 5 * MIB)
    (allocation,) = report.allocations
    assert allocation.instruction == "call.1"
    assert allocation.op_name == "jit(f)/pallas_call"
    assert allocation.shape == "f32[512,1024]{1,0:T(8,128)}"
    assert allocation.kind == "scoped"


def test_one_allocation_that_does_not_fit():
    report = read_memory_report(SINGLE)
    assert (report.memory_space, report.limit_bytes) == ("vmem", 128 * MIB)
    assert (report.used_bytes, report.excess_bytes) == (144 * MIB, 16 * MIB)
    (allocation,) = report.allocations
    assert allocation.purpose.startswith("input window allocation for operator input 0.")
    assert allocation.instruction == "call.1"
    assert allocation.shape == "f32[4096,9216]"


def test_the_total_of_hbm():
    report = read_memory_report(TOTAL)
    assert (report.memory_space, report.code) == ("hbm", "E1000")
    assert report.excess_bytes == round(74.5 * 1024 * MIB) - round(15.75 * 1024 * MIB)
    assert report.allocations[0].kind == "HLO temporaries"


@pytest.mark.parametrize("text", [HBM, SCOPED, SINGLE, TOTAL])
def test_a_cut_report_is_read_as_far_as_it_goes(text):
    for end in range(0, len(text), 7):
        report = read_memory_report(text[:end])
        assert report is None or report.limit_bytes is not None


@pytest.mark.parametrize("text", ["", "INTERNAL: the compiler is unwell", "Size: 4.00M"])
def test_other_words_are_no_report(text):
    assert read_memory_report(text) is None


def test_an_error_tells_its_report_before_the_compilers_own_words():
    report = read_memory_report(SCOPED)
    words = str(CompileError("v5e", SCOPED, memory_report=report))
    assert words.index(str(report)) < words.index("The compiler's own words") < words.index(SCOPED)
    assert CompileError("v5e", "INTERNAL: unwell").memory_report is None


def case(name):
    path = CASES / name
    if not path.exists():
        pytest.skip(f"the case {name} is not here")
    return read_memory_report(path.read_text())


def test_a_report_in_a_log_whose_lines_have_a_prefix():
    report = case("vmem_oom_report_log_prefixed.txt")
    assert report.limit_bytes == 64 * MIB
    assert report.excess_bytes == round(12.58 * MIB)
    assert report.requirements == {"scoped": round(76.58 * MIB)}
    kernel, spills = report.allocations
    assert kernel.size_bytes == kernel.unpadded_bytes == 32 * MIB
    assert kernel.op_name.endswith("/RPAm-p_256-bq_512_256-bkv_2048_512/pallas_call")
    assert kernel.instruction == "RPAm-p_256-bq_512_256-bkv_2048_512.72"
    assert kernel.shape == "bf16[2,2,2048,8,2,128]{5,4,3,2,1,0:T(8,128)(2,1)}"
    assert spills.purpose == "register allocator spill slots call depth 2"
    assert spills.instruction is None
    assert {allocation.kind for allocation in report.allocations} == {"scoped"}


def test_spill_slots_and_padding():
    report = case("vmem_oom_spill_slots.txt")
    spills, padded = report.allocations
    assert spills.size_bytes == round(29.66 * MIB)
    assert (padded.unpadded_bytes, padded.expansion) == (1536, 42.7)
    assert padded.padding_bytes == 62.5 * 1024
    assert padded.purpose is padded.label is padded.op_name is None


TABLE = """\
too little HBM: 20.5 GiB asked for, 5 GiB more than the 15.5 GiB there are
In all: reserved 512 MiB, program 20.5 GiB, arguments 0 bytes, global 1.25 MiB, scoped 64 KiB, HLO
    temp 20.49 GiB

  size    kind      asked by        shape                               padding
  16 GiB  HLO temp  fusion.7.remat  bf16[64,8192,8192]{2,1,0:T(8,12...  8 GiB (2 times the size)
    op jit(train)/jvp(attention)/dot[\\"x\\"], model.py
  4 GiB   HLO temp  while.2
    op jit(train)/while"""


def test_a_report_reads_as_a_table():
    assert str(read_memory_report(HBM)) == TABLE
    assert str(read_memory_report(SINGLE)).splitlines()[-2:] == [
        "  144 MiB  scoped  call.1    f32[4096,9216]",
        "    for input window allocation for operator input 0",
    ]


@pytest.mark.parametrize("text", [HBM, SCOPED, SINGLE, TOTAL])
def test_every_table_fits_a_notebook_and_keeps_the_compilers_words(text):
    message = str(CompileError("v6e", text, memory_report=read_memory_report(text)))
    table, _, words = message.partition("\n\nThe compiler's own words:\n")
    assert words == text
    assert table.startswith("compiling for 'v6e' failed: too little ")
    assert max(map(len, table.splitlines())) <= 110


def test_only_the_largest_allocations_are_in_the_table():
    one = "  {n}. Size: 1.00G\n     Allocation type: HLO temp\n\n"
    head = HBM[: HBM.index("  1. Size")]
    report = read_memory_report(head + "".join(one.format(n=n) for n in range(1, 41)))
    assert len(report.allocations) == 40
    assert str(report).endswith("\n28 more in `memory_report`")
    assert str(report).count("\n  1 GiB") == 12


def test_an_error_about_something_else_has_no_table():
    assert str(CompileError("v6e", "INTERNAL: no")) == "compiling for 'v6e' failed: INTERNAL: no"
