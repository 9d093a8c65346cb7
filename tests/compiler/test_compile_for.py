"""What `compile_for` takes and what it gives, on the CPU's compiler, which is always there."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import textwrap

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
import pytest

from hlo_widgets.compiler import compile_for
from hlo_widgets.compiler.exporting import export_exactly, export_publicly
from hlo_widgets.compiler.shardings import Call
from hlo_widgets.errors import CompileError, HloWidgetsError, NotCompilableError, UnknownTargetError
from tests.compiler.support import add_one, clean_environment

compile_cpu = functools.partial(compile_for, target="cpu")
SPEC = jax.ShapeDtypeStruct((8, 4), jnp.float32)


class Model:
    def __init__(self, scale):
        self.scale = scale

    def apply(self, x):
        return x * self.scale

    @functools.partial(jax.jit, static_argnums=0)
    def apply_jitted(self, x):
        return x * self.scale


def entry_line(result):
    return next(line for line in result.hlo_text.splitlines() if line.startswith("ENTRY"))


def test_the_result_says_what_was_compiled_and_by_what():
    result = compile_cpu(add_one, SPEC)
    assert result.hlo_text.startswith("HloModule jit_add_one, is_scheduled=true")
    assert "(x.1: f32[8,4]) -> f32[8,4]" in entry_line(result)
    assert result.target == "cpu"
    assert result.versions["jax"] == jax.__version__
    assert result.versions["jaxlib"]
    assert result.versions["compiler"]
    assert 0 < result.compile_seconds < 60
    assert (len(result.decisions), result.flags, result.notes) == (0, {}, ())
    assert len(repr(result)) < 200


def test_the_module_is_parsed_once():
    result = compile_cpu(add_one, SPEC)
    assert result.module is result.module
    assert result.module.name == "jit_add_one"


def test_the_source_lines_are_those_of_the_caller():
    # A new function: JAX keeps the trace of one that it knows, with the lines that it came from.
    result = compile_cpu(lambda x: 2 * add_one(x), SPEC)
    assert __file__ in result.hlo_text
    assert "support.py" in result.hlo_text
    assert "hlo_widgets/compiler/" not in result.hlo_text


def test_the_text_is_that_of_a_compile_in_one_process():
    def fresh():  # JAX keeps a trace with the lines that it came from
        def scaled(x):
            return jnp.tanh(x) * 2

        return scaled

    ours = compile_cpu(fresh(), SPEC).hlo_text
    bare = jax.jit(fresh()).lower(SPEC).compile().as_text()

    def comparable(text):
        # The two calls above stand on two lines; jit also says that shardings may spread.
        text = re.sub(r"^\d+ \{file_name_id=.*", "", text, flags=re.MULTILINE)
        return re.sub(r", allow_spmd_sharding_propagation_to_\w+=\{true\}", "", text)

    assert comparable(ours) == comparable(bare)


@pytest.mark.parametrize(
    ("fun", "args", "kwargs", "parameters"),
    [
        (add_one, (np.ones((2, 3), np.float32),), {}, "f32[2,3]"),
        (add_one, (jnp.ones((2, 3)),), {}, "f32[2,3]"),
        (add_one, (3,), {}, "s32[]"),
        (add_one, (2.5,), {}, "f32[]"),
        (functools.partial(jnp.add, 2.0), (SPEC,), {}, "f32[8,4]"),
        (functools.partial(lambda x, scale: x * scale, scale=3), (SPEC,), {}, "f32[8,4]"),
        (Model(3.0).apply, (SPEC,), {}, "f32[8,4]"),
        (Model(3.0).apply_jitted, (SPEC,), {}, "f32[8,4]"),
        (lambda x, *, bias: x + bias, (SPEC,), {"bias": SPEC}, "f32[8,4]"),
        (lambda p: p["w"] @ p["b"][0], ({"w": SPEC, "b": [np.ones((4,))]},), {}, "f32[4]"),
        (jax.jit(lambda x, n: x**n, static_argnums=1), (SPEC, 3), {}, "f32[8,4]"),
        (
            jax.jit(lambda x, mode: x if mode == "same" else -x, static_argnames="mode"),
            (SPEC,),
            {"mode": "other"},
            "f32[8,4]",
        ),
        (lambda key: jax.random.normal(key, (4,)), (jax.random.key(0),), {}, "u32[2]"),
        (
            lambda x: jax.lax.scan(lambda c, y: (c + y, c), 0.0, x),
            (np.ones(9, "f4"),),
            {},
            "f32[9]",
        ),
        (lambda x: jax.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), (SPEC,), {}, "f32[8,4]"),
        (jax.grad(lambda x: jnp.sum(jax.nn.gelu(x, approximate=False))), (SPEC,), {}, "f32[8,4]"),
    ],
)
def test_functions_and_arguments_of_every_kind(fun, args, kwargs, parameters):
    assert parameters in entry_line(compile_cpu(fun, *args, **kwargs))


def test_options_of_a_jitted_function_are_kept():
    donating = jax.jit(add_one, donate_argnums=0)
    assert "input_output_alias={ {}: (0, {}" in compile_cpu(donating, SPEC).hlo_text
    assert "input_output_alias" not in compile_cpu(jax.jit(add_one), SPEC).hlo_text


def test_64_bit_programs_stay_so():
    with jax.enable_x64(True):
        result = compile_cpu(add_one, jax.ShapeDtypeStruct((4,), jnp.float64))
    assert "f64[4]" in entry_line(result)


def test_a_function_is_traced_and_never_run_on_data():
    seen = []

    def look(x):
        seen.append(x)
        return x * 2

    compile_cpu(look, np.ones(3, np.float32))
    assert [isinstance(x, jax.core.Tracer) for x in seen] == [True]


def test_an_error_while_tracing_is_the_users_own():
    class OwnError(Exception):
        pass

    def wrong(x):
        raise OwnError("mine")

    with pytest.raises(OwnError, match="mine") as caught:
        compile_cpu(wrong, SPEC)
    assert any(entry.name == "wrong" for entry in caught.traceback)


def test_a_shape_error_of_jax_is_raised_as_it_is():
    with pytest.raises(ValueError, match="Incompatible shapes") as caught:
        compile_cpu(lambda x, y: x + y, SPEC, jax.ShapeDtypeStruct((3,), jnp.float32))
    assert not isinstance(caught.value, HloWidgetsError)


def test_an_unknown_flag_brings_the_compilers_words():
    with pytest.raises(CompileError, match="No such compile option: 'xla_nonsense'") as caught:
        compile_cpu(add_one, SPEC, flags={"xla_nonsense": 1})
    assert caught.value.target == "cpu"
    assert caught.value.reason.endswith("hw.list_flags('cpu') lists what this compiler knows.")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("xla_cpu_enable_fast_mat", "Did you mean 'xla_cpu_enable_fast_math'"),
        ("xla_dump_tp", "Did you mean 'xla_dump_to'"),
        ("xla_tpu_enable_nothing_at_all", "Flags that begin with xla_tpu_ are another compiler's"),
    ],
)
def test_an_unknown_flag_brings_the_nearest_that_the_compiler_lists(name, words):
    with pytest.raises(CompileError) as caught:
        compile_cpu(add_one, SPEC, flags={name: 1})
    assert words in str(caught.value)


@pytest.mark.parametrize("off", [False, "False", "false"])
@pytest.mark.parametrize("dashes", ["", "--"])
def test_flags_reach_the_compiler(off, dashes):
    flag = "xla_cpu_enable_fast_math"
    result = compile_cpu(add_one, SPEC, flags={f"{dashes}{flag}": off})
    assert result.flags == {flag: False}


def test_a_flag_of_the_wrong_kind_is_refused_by_the_compiler():
    with pytest.raises(CompileError, match="It is of type bool, and 'false' where it is not set"):
        compile_cpu(add_one, SPEC, flags={"xla_cpu_enable_fast_math": "abc"})


@pytest.mark.parametrize("flags", [{1: True}, {"xla_cpu_enable_fast_math": None}])
def test_flags_that_are_no_flags(flags):
    with pytest.raises(NotCompilableError, match="flags are names"):
        compile_cpu(add_one, SPEC, flags=flags)


def test_what_cannot_be_called_is_named():
    with pytest.raises(NotCompilableError, match="not a str"):
        compile_cpu("row_softmax")


def test_an_unknown_target_is_found_out_before_tracing():
    def never(x):
        raise AssertionError

    with pytest.raises(UnknownTargetError):
        compile_for(never, SPEC, target="v66")


def test_no_backend_of_jax_is_started_in_the_callers_process_without_a_note():
    script = """
        import jax, jax.numpy as jnp
        from hlo_widgets.compiler import compile_for
        spec = jax.ShapeDtypeStruct((8, 4), jnp.float32)
        result = compile_for(lambda x: jnp.tanh(x) + 1, spec, target="cpu")
        assert "tanh" in result.hlo_text
        print(any("backends were started" in note for note in result.notes))
        from jax._src import xla_bridge
        print(bool(xla_bridge._backends))
    """
    # In the public form JAX starts them itself. Where that is no longer so, the note is wrong.
    old = "from hlo_widgets.compiler import exporting; exporting.export_exactly = lambda *_: None"
    for first, is_started in (("", False), (old, True)):
        done = subprocess.run(
            [sys.executable, "-c", f"{first}\n{textwrap.dedent(script)}"],
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == [str(is_started)] * 2


@pytest.mark.parametrize(
    "value",
    [10**400, 10**5000, 2**63, -(2**63) - 1, "\ud800", None, [1]],
    ids=["400 digits", "5000 digits", "above", "below", "surrogate", "none", "list"],
)
def test_a_flag_with_a_value_that_no_compiler_takes_is_named(value):
    with pytest.raises(NotCompilableError, match="xla_cpu_enable_fast_math") as caught:
        compile_cpu(add_one, SPEC, flags={"xla_cpu_enable_fast_math": value})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("flags", [[("xla_a", 1)], "xla_a=1", [], 3])
def test_flags_that_are_no_mapping(flags):
    with pytest.raises(NotCompilableError, match="flags are a mapping of names to values"):
        compile_cpu(add_one, SPEC, flags=flags)


def test_a_number_of_64_bits_reaches_the_compiler():
    with pytest.raises(CompileError, match="No such compile option: 'xla_nonsense'"):
        compile_cpu(add_one, SPEC, flags={"xla_nonsense": 2**63 - 1})


def same(x):
    return x


CALLBACKS = {
    "debug_print": lambda x: jax.debug.print("{}", x),
    "debug_callback": lambda x: jax.debug.callback(same, x),
    "io_callback": lambda x: jax.experimental.io_callback(same, SPEC, x),
    "pure_callback": lambda x: jax.pure_callback(same, SPEC, x),
}


@pytest.mark.parametrize("name", CALLBACKS)
@pytest.mark.parametrize("export", [export_exactly, export_publicly])
def test_a_callback_into_python_needs_a_real_device(name, export):
    def looping(x):
        def body(_, y):
            given = CALLBACKS[name](y)
            return y + (1 if given is None else given)  # JAX drops a pure call that nobody uses

        return jax.lax.fori_loop(0, 3, body, x)

    with pytest.raises(NotCompilableError, match=rf'\({name}\).*real device.*compile for "cpu"'):
        export(Call(looping, (SPEC,)), "tpu")
    assert "callback" in compile_cpu(looping, SPEC).hlo_text


def test_a_callback_cannot_go_to_a_worker_with_another_jaxlib():
    call = Call(lambda x: jax.pure_callback(same, SPEC, x), (SPEC,))
    with pytest.raises(NotCompilableError, match=r"pure_callback.*cannot send.*take it out$"):
        export_publicly(call, "cpu")


def test_a_number_that_was_traced_where_its_value_is_needed_is_told_how_to_stay_one():
    def heads_apart(x, heads):
        return x.reshape(heads, -1)

    with pytest.raises(TypeError) as raised:
        compile_for(heads_apart, jax.ShapeDtypeStruct((8, 4), jnp.float32), heads=4, target="cpu")
    assert any("heads was traced" in note for note in raised.value.__notes__)
    static = jax.jit(heads_apart, static_argnames="heads")
    spec = jax.ShapeDtypeStruct((8, 4), jnp.float32)
    assert "f32[4,8]" in compile_for(static, spec, heads=4, target="cpu").hlo_text


def test_no_other_error_gets_that_note():
    def wrong(x, heads):
        raise TypeError("not this one")

    with pytest.raises(TypeError, match="not this one") as raised:
        compile_for(wrong, jax.ShapeDtypeStruct((8, 4), jnp.float32), heads=4, target="cpu")
    assert not any("traced" in note for note in getattr(raised.value, "__notes__", ()))
