"""GPU compiles on a machine without GPU, driver and CUDA toolkit."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import compile_for, list_targets
from tests.compiler.support import (
    SMALL_MLP_SPECS,
    SOFTMAX_SPEC,
    add_one,
    clean_environment,
    in_a_mount_namespace,
    mlp,
    needs_cuda,
    row_softmax,
    worker_that,
)

pytestmark = needs_cuda

GPU_NAMES = [target.name for target in list_targets() if target.platform == "cuda"]
SPEC = jax.ShapeDtypeStruct((256, 256), jnp.float32)
ESTIMATE = '"reification_cost":[{'
FIGURES = "xla_gpu_collect_cost_model_stats"


def kinds(text):
    return set(re.findall(r"kind=(k\w+)", text))


@pytest.mark.parametrize("target", GPU_NAMES)
def test_every_listed_gpu_compiles(target):
    result = compile_for(add_one, SPEC, target=target)
    assert result.target == target
    assert kinds(result.hlo_text) == {"kLoop"}
    assert (ESTIMATE in result.hlo_text) == (result.notes == ())


def test_a_softmax_is_one_triton_kernel_with_estimates():
    result = compile_for(row_softmax, SOFTMAX_SPEC, target="h100")
    assert "triton_softmax" in result.hlo_text
    assert ESTIMATE in result.hlo_text
    assert result.notes == ()
    assert result.versions["jax-cuda12-plugin"]
    assert "H100" in result.versions["compiler"]


def test_the_mlp_has_triton_matmuls_and_a_reduction():
    text = compile_for(mlp, SMALL_MLP_SPECS[0], *SMALL_MLP_SPECS[1:], target="h200").hlo_text
    assert text.count('"kind":"__triton') >= 2
    assert "kCustom" in kinds(text)


@pytest.mark.parametrize("target", ["a100", "v100"])
def test_a_gpu_without_a_cost_model_is_compiled_without_and_says_so(target):
    for fun in (row_softmax, add_one):  # the second knows what the first found out
        result = compile_for(fun, SOFTMAX_SPEC, target=target)
        assert ESTIMATE not in result.hlo_text
        (note,) = result.notes
        assert note.startswith(f"the compiler has no cost model for {target}, so there are no est")
        assert "Cannot find key: sm_" in note
        assert result.flags == {}


def test_the_users_own_word_on_estimates_counts():
    result = compile_for(add_one, SPEC, target="h100", flags={FIGURES: False})
    assert ESTIMATE not in result.hlo_text
    assert FIGURES in result.notes[0]
    assert result.flags == {FIGURES: False}
    with pytest.raises(RuntimeError, match="sm_80"):
        compile_for(add_one, SPEC, target="a100", flags={FIGURES: True})


HIDDEN = """
    import json, os, shutil, sys
    for name in ("nvcc", "ptxas"):
        assert shutil.which(name) is None, name
    assert not os.path.exists("/usr/local/cuda/bin"), "the toolkit is not hidden"
    import jax, jax.numpy as jnp
    import hlo_widgets as hw
    result = hw.compile_for(jax.nn.softmax, hw.spec("f32[64,64]"), target="h100")
    print(result.target, "kCustom" in result.hlo_text, result.notes)
"""


def test_no_cuda_toolkit_of_the_machine_is_needed():
    toolkits = sorted({folder.resolve() for folder in Path("/usr/local").glob("cuda*")})
    mounts = " && ".join(f"mount -t tmpfs none {folder}" for folder in toolkits)
    prefix = in_a_mount_namespace(mounts) if toolkits else []
    if prefix is None:
        pytest.skip("this machine has a CUDA toolkit, and does not let a test hide it")
    folders = [
        folder
        for folder in os.environ["PATH"].split(os.pathsep)
        if not (Path(folder) / "nvcc").exists() and "cuda" not in folder
    ]
    environment = clean_environment(PATH=os.pathsep.join(folders), JAX_PLATFORMS="cpu")
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_DIR", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    done = subprocess.run(
        [*prefix, sys.executable, "-c", textwrap.dedent(HIDDEN)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["h100", "True", "()"], done.stderr


def test_the_public_way_compiles_too(changed_settings):
    changed_settings.command = worker_that("from jaxlib.mlir import ir", "del ir.Module.parse")
    result = compile_for(functools.partial(jnp.matmul), SPEC, SPEC, target="h100")
    assert result.hlo_text.startswith("HloModule jit_call")
    assert ESTIMATE in result.hlo_text
