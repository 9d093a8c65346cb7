"""The arguments of a call as a list of texts that can be changed one by one."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hlo_widgets.compiler import ArgumentKind, CallArguments
from hlo_widgets.errors import NotCompilableError, SpecError


def f(x, params, n=2, *, mode="relu"):
    return x


def spec(shape, dtype=jnp.bfloat16, **more):
    return jax.ShapeDtypeStruct(shape, dtype, **more)


def texts(arguments):
    return {argument.label: argument.text for argument in arguments.arguments}


@pytest.fixture
def call():
    params = {"w1": spec((8, 4)), "layers": [spec((3,), jnp.float32), 0.5]}
    return CallArguments.of_call(f, (jnp.ones((2, 8)), params, 3), {"mode": "gelu"})


def test_leaves_are_named_by_parameter_and_path(call):
    assert texts(call) == {
        "x": "f32[2,8]",
        "params['layers'][0]": "f32[3]",
        "params['layers'][1]": "0.5",
        "params['w1']": "bf16[8,4]",
        "n": "3",
        "mode": "'gelu'",
    }
    assert [argument.kind for argument in call.arguments][:3] == ["array", "array", "literal"]
    assert call.arguments[3].dimensions == (8, 4)


def test_what_is_not_changed_is_what_was_given(call):
    (x, params, n), kwargs = call.changed(4, "7").call
    assert isinstance(x, jax.Array)
    assert (n, kwargs) == (7, {"mode": "gelu"})
    assert params["layers"][1] == 0.5


def test_a_change_makes_other_arguments_and_leaves_these(call):
    other = call.changed(3, "f32[8, 16]")
    assert texts(other)["params['w1']"] == "f32[8,16]"
    assert other.call[0][1]["w1"] == spec((8, 16), jnp.float32)
    assert texts(call)["params['w1']"] == "bf16[8,4]"
    assert not other.is_like(call)
    assert other.changed(3, "bf16[8,4]").is_like(call)


def test_a_plain_value_is_edited_as_a_whole():
    call = CallArguments.of_call(f, (spec((2,)), (1, 2)), {"mode": None})
    assert texts(call) == {"x": "bf16[2]", "params": "(1, 2)", "mode": "None"}
    (_, sizes), kwargs = call.changed(1, "[1, 2, 3]").changed(2, "'x'").call
    assert (sizes, kwargs) == ([1, 2, 3], {"mode": "x"})


def test_what_is_not_a_literal_keeps_its_name():
    call = CallArguments.of_call(f, (jax.random.key(0), jnp.tanh, float("inf")), {})
    assert [argument.kind for argument in call.arguments] == [ArgumentKind.FIXED] * 3
    assert [argument.text for argument in call.arguments] == ["key<fry>[]", "tanh", "inf"]
    with pytest.raises(NotCompilableError, match="x cannot be written here"):
        call.changed(0, "f32[2]")


def test_texts_that_cannot_be_read_say_how_to_write_them(call):
    with pytest.raises(SpecError, match="Write it like"):
        call.changed(0, "bf16(3)")
    with pytest.raises(NotCompilableError, match="Write it like 3"):
        call.changed(4, "import os")
    with pytest.raises(NotCompilableError):
        call.changed(4, "")


def test_a_sharding_stays_with_another_shape():
    mesh = jax.sharding.AbstractMesh((2,), ("d",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    call = CallArguments.of_call(f, (spec((8,), sharding=sharding), 0), {})
    assert call.changed(0, "f32[16]").call[0][0].sharding == sharding


def test_arrays_read_as_jax_takes_them():
    args = (np.zeros((2,)), np.arange(3), np.float32(1), spec((), jnp.float8_e4m3fn))
    call = CallArguments.of_call(lambda *xs: xs, args, {})
    assert texts(call) == {
        "xs[0]": "f32[2]",
        "xs[1]": "s32[3]",
        "xs[2]": "f32[]",
        "xs[3]": "f8e4m3fn[]",
    }


def test_partials_and_jitted_functions_keep_their_names():
    jitted = jax.jit(f, static_argnames="mode")
    assert list(texts(CallArguments.of_call(jitted, (1, 2), {}))) == ["x", "params"]
    partial = functools.partial(f, 1)
    assert list(texts(CallArguments.of_call(partial, (2,), {"n": 1}))) == ["params", "n"]
    assert list(texts(CallArguments.of_call(max, (2, 3), {}))) == ["argument 0", "argument 1"]


@pytest.mark.parametrize(
    "text", ["{[]: 1}", "0x" + "f" * 10_000, "1e999", "...", "{[1]}", "[" * 300, "-" * 5_000 + "1"]
)
def test_a_text_of_what_cannot_be_a_literal_says_how_to_write_one(call, text):
    with pytest.raises(NotCompilableError, match="n: ") as caught:
        call.changed(4, text)
    assert len(str(caught.value)) < 300
    assert texts(call)["n"] == "3"


def test_a_size_of_thousands_of_digits_is_no_shape(call):
    with pytest.raises(SpecError):
        call.changed(0, f"f32[{'9' * 5_000}]")


def test_a_value_without_words_is_called_by_its_type():
    class Mute:
        def __repr__(self):
            raise ZeroDivisionError

    call = CallArguments.of_call(f, (Mute(), 10**5_000, 2), {})
    assert [argument.kind for argument in call.arguments] == ["fixed", "fixed", "literal"]
    assert [argument.text for argument in call.arguments] == ["Mute", "int", "2"]


def test_an_object_with_a_shape_of_its_own_is_no_array():
    class Layer:
        shape = None
        dtype = None

    (argument,) = CallArguments.of_call(lambda layer: layer, (Layer(),), {}).arguments
    assert argument.kind is ArgumentKind.FIXED
