"""The reader and XLA's own parser over captures, public files and modules compiled on the spot."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hlo_widgets.hlo import parse_hlo_module
from tests.hlo.agreement import differences
from tests.hlo.conftest import REPOSITORY
from tests.hlo.programs import TPU_ENVIRONMENT

NEEDED = {"cpu": "jaxlib", "tpu": "libtpu", "cuda": "jax_cuda12_plugin"}
# What each platform compiled when this was written, less some slack: a silent failure must not
# pass.
AT_LEAST = {"cpu": 55, "tpu": 55, "cuda": 45}
QUICK = [
    "row_softmax",
    "scan_grad",
    "switch",
    "sort_pairs",
    "int4_matmul",
    "fft",
    "collective_psum",
]


def assert_agrees(oracle, text: str, printed: bool = True) -> None:
    answer = oracle.structure(text)
    assert isinstance(answer, dict), "XLA's parser does not read this text"
    module = parse_hlo_module(text)
    assert module.warnings == ()
    assert differences(module, answer) == []
    if printed:
        for options in ({}, {"metadata": False, "backend_config": False, "operand_shapes": True}):
            again = module.to_string(**options)
            answer = oracle.structure(again)
            assert isinstance(answer, dict), "XLA's parser does not read what we print"
            assert differences(parse_hlo_module(again), answer) == []


def compiled(platform: str, *only: str) -> dict[str, str | None]:
    """Compile the programs of `programs.py` in a process of their own."""
    if importlib.util.find_spec(NEEDED[platform]) is None:
        pytest.skip(f"{NEEDED[platform]} is not installed")
    script = Path(__file__).with_name("programs.py")
    done = subprocess.run(
        [sys.executable, str(script), platform, *only],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **TPU_ENVIRONMENT},
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_captures(oracle, row_softmax_text: str) -> None:
    assert_agrees(oracle, row_softmax_text)
    for path in sorted((REPOSITORY / "captures").rglob("*.txt")):
        assert_agrees(oracle, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "name",
    [
        "gemma2_2b.unoptimized.hlo",
        "maxtext_train_step.gpu.after_optimizations.hlo.txt",
        "mobilenet_v2.unoptimized.hlo",
        "small/gpu_fp8_cublas_dotted_names.hlo",
        "small/multiline_backend_config.hlo",
        "small/op_name_with_newline_escapes.hlo",
        "small/stack_frame_tables_jax09.hlo",
        "small/tpu_take_not_fused_after_passes.hlo",
        "tpu_dump_dir/module_0000.jit_iota.after_optimizations.txt",
        "tpu_dump_dir/module_0002.jit_f.after_optimizations.txt",
        "tpu_dump_dir/module_0002.jit_f.before_optimizations.txt",
    ],
)
def test_public_files(oracle, cases: Path, name: str) -> None:
    text = (cases / name).read_text(encoding="utf-8")
    assert_agrees(oracle, text, printed=len(text) < 1_000_000)


def test_some_compiled_functions(oracle) -> None:
    texts = compiled("cpu", *QUICK)
    assert set(texts) == set(QUICK)
    for text in texts.values():
        assert text is not None
        assert_agrees(oracle, text)


@pytest.mark.slow
@pytest.mark.parametrize("platform", NEEDED)
def test_all_compiled_functions(oracle, platform: str) -> None:
    texts = {name: text for name, text in compiled(platform).items() if text is not None}
    assert len(texts) >= AT_LEAST[platform]
    for name, text in texts.items():
        try:
            assert_agrees(oracle, text)
        except AssertionError as error:
            raise AssertionError(f"{platform} {name}: {error}") from error
