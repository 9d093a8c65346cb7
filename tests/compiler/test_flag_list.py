"""The flags that the compilers themselves list."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import compile_for, list_flags, shut_down
from hlo_widgets.compiler.flag_records import (
    CompilerFlag,
    merge_flags,
    read_flagfile,
    read_options,
    read_usage,
)
from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import UnknownTargetError
from tests.compiler.support import add_one, needs_cuda, needs_libtpu, wait_until

SPEC = jax.ShapeDtypeStruct((8, 4), jnp.float32)


def by_name(target):
    return {flag.name: flag for flag in list_flags(target)}


@needs_libtpu
def test_a_tpu_compiler_lists_its_flags_with_values_and_types():
    flags = by_name("v6e")
    assert len(flags) > 1_000
    assert flags["xla_jf_enable_multi_output_fusion"].value == "true"
    assert flags["xla_jf_enable_multi_output_fusion"].kind == "bool"
    assert flags["xla_tpu_enable_copy_fusion"].kind == "bool"
    assert flags["xla_disable_hlo_passes"].help
    assert not any(name.startswith(("xla_gpu_", "xla_cpu_")) for name in flags)
    assert list(flags) == sorted(flags)


@needs_cuda
def test_a_gpu_compiler_lists_its_own():
    flags = by_name("h100")
    assert flags["xla_gpu_autotune_level"].kind == "int"
    assert "GEMM" in flags["xla_gpu_autotune_level"].help
    assert not any(name.startswith(("xla_tpu_", "xla_cpu_")) for name in flags)


def test_what_is_listed_can_be_set():
    flags = by_name("cpu")
    fast = flags["xla_cpu_enable_fast_math"]
    assert (fast.value, fast.kind) == ("false", "bool")
    result = compile_for(add_one, SPEC, target="cpu", flags={fast.name: "true"})
    assert result.flags == {"xla_cpu_enable_fast_math": True}


def test_the_compiler_is_asked_once():
    list_flags("cpu")
    shut_down()
    assert list_flags("cpu") == list_flags("cpu")
    assert not workers._slot("cpu").process.is_running


def test_the_flags_follow_the_environment(monkeypatch):
    assert by_name("cpu")["xla_cpu_enable_fast_math"].value == "false"
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    assert by_name("cpu")["xla_cpu_enable_fast_math"].value == "true"


def test_what_is_known_does_not_wait_for_a_compiler_that_is_asked(monkeypatch):
    known, later = list_flags("cpu"), []
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_fast_math_honor_nans=true")
    asking = [threading.Thread(target=list_flags, args=("cpu",), daemon=True) for _ in range(2)]
    with workers._slot("cpu").turns.turn():  # as a compile that takes long has it
        for thread in asking:
            thread.start()
        wait_until(lambda: workers.waiting("cpu"))
        monkeypatch.delenv("XLA_FLAGS")
        quick = threading.Thread(target=lambda: later.append(list_flags("cpu")), daemon=True)
        quick.start()
        quick.join(20)
        assert later == [known]
        # Whoever comes meanwhile does not ask, too.
        assert workers.waiting("cpu") == 1
    for thread in asking:
        thread.join(60)


def test_a_wrong_target_is_named():
    with pytest.raises(UnknownTargetError, match="v6e"):
        list_flags("v6")


def test_a_flagfile_is_read_line_by_line():
    flags = read_flagfile("--a=true\n--b='false'\n--c=auto\n--d=-1\n--e=1.5\n--f=\n--g=a=b\nnone\n")
    assert {name: (flag.value, flag.kind) for name, flag in flags.items()} == {
        "a": ("true", "bool"),
        "b": ("false", "bool"),
        "c": ("auto", "choice"),
        "d": ("-1", "int"),
        "e": ("1.5", "float"),
        "f": ("", "string"),
        "g": ("a=b", "string"),
    }


def test_fields_that_repeat_are_joined_and_messages_left_out():
    flags = read_options('goo.gle/debug\na: 3\nb: "x"\nc: ONE\nc: TWO\nm {\n  inner: 1\n}\n')
    assert [(flag.name, flag.value) for flag in flags.values()] == [
        ("a", "3"),
        ("b", "x"),
        ("c", "ONE,TWO"),
    ]


def test_a_usage_that_is_cut_short_loses_its_last_line():
    lines = [
        "Flags:",
        "\t--a=false    \tbool\tHelps.",
        "\t--b=1 \tint64\tToo.",
        "\t--c=2 \tint32\tCu",
    ]
    usage = "\n".join(lines)
    assert list(read_usage(usage).values()) == [
        CompilerFlag("a", "false", "bool", "Helps."),
        CompilerFlag("b", "1", "int", "Too."),
    ]


def test_values_come_from_the_first_list_and_help_from_the_last():
    own = {"a": CompilerFlag("a", "3", "int")}
    usage = {
        "b": CompilerFlag("b", "x", "string", "B."),
        "a": CompilerFlag("a", "0", "int", "A."),
    }
    assert merge_flags([own, usage]) == [
        CompilerFlag("a", "3", "int", "A."),
        CompilerFlag("b", "x", "string", "B."),
    ]
