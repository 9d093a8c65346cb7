"""VMEM figures and the names of memory spaces."""

import json

import pytest

from hlo_widgets.analysis import VmemUse, memory_space_words, output_memory_spaces, vmem_use
from hlo_widgets.hlo import parse_hlo_module


def use_of(**config):
    text = f"""HloModule m
ENTRY %e (p: f32[4]) -> f32[4] {{
  %p = f32[4]{{0}} parameter(0)
  ROOT %n = f32[4]{{0}} negate(%p), backend_config={json.dumps(config)}
}}
"""
    return vmem_use(parse_hlo_module(text).instruction("n"))


def entry(size, space="1"):
    return {"memory_space": space, "offset": "0", "size": size}


def test_what_is_used_is_the_sum_of_the_vmem_entries():
    assert use_of(used_scoped_memory_configs=[entry("64"), entry("128")]).vmem_bytes == 192


def test_other_memory_spaces_do_not_count():
    assert use_of(used_scoped_memory_configs=[entry("64"), entry("128", "2")]).vmem_bytes == 64


def test_an_entry_without_a_memory_space_is_not_vmem():
    assert use_of(used_scoped_memory_configs=[{"offset": "0", "size": "64"}]).vmem_bytes is None


def test_no_entry_is_none_and_a_printed_zero_is_zero():
    assert use_of(used_scoped_memory_configs=[]).vmem_bytes is None
    assert use_of(used_scoped_memory_configs=[entry("0")]).vmem_bytes == 0


def test_a_sum_with_an_unreadable_part_is_none():
    assert use_of(used_scoped_memory_configs=[entry("64"), entry("much")]).vmem_bytes is None


def test_the_limit_has_entries_of_its_own():
    assert use_of(scoped_memory_configs=[entry("16777216")]) == VmemUse(None, 16777216, None)


@pytest.mark.parametrize(
    ("window", "printed"),
    [
        ({"estimated_vmem_bytes": "0", "estimated_scoped_vmem_bytes": "0"}, 0),
        ({"estimated_vmem_bytes": "0", "estimated_scoped_vmem_bytes": "4096"}, 4096),
        ({"estimated_vmem_bytes": "8"}, 8),
        ({"estimated_cycles": "8"}, None),
    ],
)
def test_the_window_estimate_is_as_printed(window, printed):
    assert use_of(window_config=window).window_bytes == printed


@pytest.mark.parametrize(
    ("space", "platform", "words"),
    [
        (0, "tpu", "HBM"),
        (1, "tpu", "VMEM"),
        (2, "tpu", "semaphore (sync flag)"),
        (6, "tpu", "memory space 6"),
        (0, "gpu", "device memory"),
        (1, "gpu", "collective memory"),
        (2, "gpu", "temporary buffers"),
        (5, "gpu", "host memory"),
        (9, "gpu", "memory space 9"),
        (0, None, "default memory"),
        (1, None, "memory space 1"),
    ],
)
def test_memory_spaces_in_words(space, platform, words):
    assert memory_space_words(space, platform) == words


@pytest.mark.parametrize("size", ["-4", "-9223372036854775808"])
def test_a_size_below_zero_is_no_size(size):
    entry = {"memory_space": "1", "offset": "0", "size": size}
    use = use_of(used_scoped_memory_configs=[entry], window_config={"estimated_vmem_bytes": size})
    assert use.vmem_bytes is None
    assert use.window_bytes is None


@pytest.mark.parametrize(
    ("shape", "spaces"),
    [
        ("f32[4]{0:T(128)S(1)}", (1,)),
        ("(f32[4]{0:S(5)}, (f32[4], s32[]), f32[4]{0:S(5)}, token[])", (5, 0)),
        ("token[]", ()),
        ("()", ()),
    ],
)
def test_a_tuple_lies_in_each_space_of_its_arrays(shape, spaces):
    text = f"HloModule m\nENTRY %e {{\n  ROOT %p = {shape} parameter(0)\n}}\n"
    assert output_memory_spaces(parse_hlo_module(text).instruction("p").shape) == spaces
