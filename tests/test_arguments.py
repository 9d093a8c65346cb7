from __future__ import annotations

import jax.numpy as jnp
import pytest

from hlo_widgets.arguments import spec
from hlo_widgets.compiler.specs import element_type_names
from hlo_widgets.errors import SpecError


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("bf16[1024,512]", (1024, 512), jnp.bfloat16),
        (" float32 [ 2 , 3 ] ", (2, 3), jnp.float32),
        ("f32[]", (), jnp.float32),
        ("pred[0]", (0,), jnp.bool_),
        ("s4[8]", (8,), jnp.int4),
        ("u8[1]", (1,), jnp.uint8),
        ("f64[2]", (2,), jnp.dtype("float64")),
        ("c64[2]", (2,), jnp.complex64),
        ("f8e4m3fn[4]", (4,), jnp.float8_e4m3fn),
        ("f8e5m2[4]", (4,), jnp.float8_e5m2),
        ("int32[7]", (7,), jnp.int32),
    ],
)
def test_shapes_are_read(text, shape, dtype):
    read = spec(text)
    assert (read.shape, read.dtype) == (shape, jnp.dtype(dtype))


@pytest.mark.parametrize("name", element_type_names())
def test_every_element_type_is_known_to_jax(name):
    assert spec(f"{name}[2]").shape == (2,)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bf6[2]", "did you mean 'bf16'"),
        ("object[2]", "no element type 'object'"),
        ("f32", "not an element type followed by sizes in brackets"),
        ("f32[2", "not an element type followed by sizes in brackets"),
        ("f32[-1]", "'-1' is not a size"),
        ("f32[<=8]", "'<=8' is not a size"),
        ("f32[2,]", "'' is not a size"),
        ("f32[²]", "'²' is not a size"),
        ("f32[2]{0:T(256)}", "leave out the {...}"),
        ("f32[2] f32[3]", "after the bracket"),
        (7, "not text"),
    ],
)
def test_what_cannot_be_read_says_why(text, reason):
    with pytest.raises(SpecError) as caught:
        spec(text)
    assert reason in str(caught.value)
    assert "bf16[1024,512]" in str(caught.value)
