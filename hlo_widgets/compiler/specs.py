"""Shapes as JAX takes them, from XLA's or NumPy's names of element types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jax import ShapeDtypeStruct as ShapeDtypeStruct  # noqa: PLC0414 - so that others may name the type

__all__ = ["element_type_names", "make_spec", "spec_of", "xla_name"]

_DTYPE_OF_XLA_NAME = {
    "pred": "bool",
    "s2": "int2",
    "s4": "int4",
    "s8": "int8",
    "s16": "int16",
    "s32": "int32",
    "s64": "int64",
    "u2": "uint2",
    "u4": "uint4",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
    "f4e2m1fn": "float4_e2m1fn",
    "f8e3m4": "float8_e3m4",
    "f8e4m3": "float8_e4m3",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
}


def element_type_names() -> tuple[str, ...]:
    """List XLA's names of the element types, then NumPy's."""
    return (*_DTYPE_OF_XLA_NAME, *_DTYPE_OF_XLA_NAME.values())


def make_spec(element_type: str, dimensions: Sequence[int]) -> ShapeDtypeStruct:
    """Make the spec of an array.

    Args:
        element_type: One of `element_type_names()`.
        dimensions: Sizes, none negative; empty for a scalar.

    Raises:
        KeyError: If there is no such element type.
    """
    import jax
    import jax.numpy as jnp

    name = _DTYPE_OF_XLA_NAME.get(element_type, element_type)
    if name not in _DTYPE_OF_XLA_NAME.values():
        raise KeyError(element_type)
    make: Any = jax.ShapeDtypeStruct  # jax declares no types for it
    return cast("ShapeDtypeStruct", make(tuple(dimensions), jnp.dtype(name)))


def xla_name(dtype: Any) -> str | None:
    """Return XLA's name of the element type that JAX makes of one.

    Args:
        dtype: Of an array or a spec; of NumPy's 64-bit types JAX makes 32-bit ones, unless it is
            told not to.

    Returns:
        Such as "bf16"; `None` for what has no such name, as the keys of random numbers.
    """
    import jax

    try:
        name = str(jax.dtypes.canonicalize_dtype(dtype))
    except (TypeError, ValueError):
        return None
    return next((xla for xla, known in _DTYPE_OF_XLA_NAME.items() if known == name), None)


def spec_of(value: Any, new: ShapeDtypeStruct) -> ShapeDtypeStruct:
    """Put the spec of another shape in the place of an array.

    Args:
        value: The array or spec that was there. How it is spread over devices is kept.
        new: Its shape and element type from now on.
    """
    import jax

    sharding = value.sharding if isinstance(value, jax.ShapeDtypeStruct) else None
    if sharding is None:
        return new
    make: Any = jax.ShapeDtypeStruct  # jax declares no types for it
    return cast("ShapeDtypeStruct", make(new.shape, new.dtype, sharding=sharding))
