"""The programs of decision_programs.py, compiled now with `explain=True`."""

from __future__ import annotations

import importlib.util
from functools import cache, partial

import pytest
from jax.sharding import PartitionSpec

import hlo_widgets as hw
from tests.analysis.decision_programs import programs

_PACKAGES = {"v6e": "libtpu", "h100": "jax_cuda12_plugin"}
_MESHES = {"v6e": "v6e:2x2", "h100": "h100:1x4"}


@cache
def explained(name):
    """Compile "mlp.v6e" once a run; return the result. Skips where the compiler is missing."""
    program, target = name.split(".")
    if importlib.util.find_spec(_PACKAGES[target]) is None:
        pytest.skip(f"{_PACKAGES[target]} is not installed")
    function, *arguments = programs()[program]
    compile_it = partial(hw.compile_for, function, *arguments, explain=True)
    if program != "sum_over_chips":
        return compile_it(target=target)
    # Both arguments are split along what is summed over.
    chips = hw.target(_MESHES[target])
    return compile_it(
        target=chips,
        mesh=chips.abstract_mesh(("chips",), (4,)),
        in_shardings=(PartitionSpec(None, "chips"), PartitionSpec("chips")),
        out_shardings=PartitionSpec(),
    )
