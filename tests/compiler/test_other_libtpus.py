"""A libtpu.so that pip did not install, and one of another release than this jax expects.

`HLO_WIDGETS_OTHER_LIBTPUS` names libtpu.so files to try, of releases old or new, separated as on
PATH: `pip download --no-deps libtpu==0.0.42`, and unzip it.
"""

from __future__ import annotations

import os
import shutil
from importlib import metadata
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import compile_for, find_target, shut_down
from hlo_widgets.compiler.availability import named_library
from hlo_widgets.compiler.handshake import installed_versions
from hlo_widgets.compiler.refusals import explained
from hlo_widgets.errors import CompileError
from hlo_widgets.tables import cost_table
from tests.compiler.support import SOFTMAX_SPEC, needs_libtpu, row_softmax

OTHERS = [Path(path) for path in os.environ.get("HLO_WIDGETS_OTHER_LIBTPUS", "").split(":") if path]


@pytest.fixture
def library(monkeypatch):
    """Name a library to workers that start from now on."""

    def name(path):
        shut_down()
        monkeypatch.setenv("TPU_LIBRARY_PATH", str(path))

    yield name
    shut_down()


@needs_libtpu
def test_a_named_library_is_not_taken_for_the_installed_one(library, tmp_path):
    version = metadata.version("libtpu")
    other = tmp_path / "libtpu.so"
    library(other)
    # JAX passes over a path where there is nothing.
    assert named_library() is None
    assert installed_versions("tpu")["libtpu"] == version
    other.write_bytes(b"no library")
    assert named_library() == other
    assert find_target("v6e").availability.installed == {"libtpu": str(other)}
    # Part of the key of cached compiles: another file in the same place is another compiler.
    first = installed_versions("tpu")["libtpu"]
    assert first.startswith(f"{other} of 10 bytes")
    other.write_bytes(b"no library either")
    assert installed_versions("tpu")["libtpu"] != first
    assert "libtpu" not in installed_versions("cpu")


@needs_libtpu
def test_the_installed_library_named_by_its_path_has_its_version(library, tmp_path):
    import libtpu

    linked = tmp_path / "libtpu.so"
    linked.symlink_to(libtpu.get_library_path())
    for path in (libtpu.get_library_path(), linked):
        library(path)
        assert installed_versions("tpu")["libtpu"] == metadata.version("libtpu")


@needs_libtpu
@pytest.mark.slow
def test_a_result_names_the_library_that_compiled_it(library, tmp_path):
    import libtpu

    copy = tmp_path / "libtpu.so"
    shutil.copy(libtpu.get_library_path(), copy)
    library(copy)
    result = compile_for(row_softmax, SOFTMAX_SPEC, target="v6e")
    assert result.versions["libtpu"] == str(copy)
    assert "Built on" in result.versions["compiler"]
    assert cost_table(result.module).attrs["total_estimated_cycles"] == 20_556


@pytest.mark.slow
@pytest.mark.skipif(not OTHERS, reason="HLO_WIDGETS_OTHER_LIBTPUS names no libtpu.so to try")
@pytest.mark.parametrize("path", OTHERS, ids=[str(path) for path in OTHERS])
@pytest.mark.parametrize("target", ["v2", "v5e", "v6e", "tpu7x"])
def test_another_release_says_what_it_lacks(library, path, target):
    library(path)
    square = jax.ShapeDtypeStruct((256, 256), jnp.bfloat16)
    for fun, spec in ((row_softmax, SOFTMAX_SPEC), (lambda x: jax.nn.gelu(x @ x), square)):
        try:
            result = compile_for(fun, spec, target=target)
        except CompileError as error:
            last_line = error.reason.splitlines()[-1]
            assert last_line.startswith(("This compiler is older than this jax", "This libtpu"))
            continue
        assert result.versions["libtpu"] == str(path)
        lacks_figures = any("no cycle and VMEM estimates" in note for note in result.notes)
        known = cost_table(result.module).attrs["known_rows"]
        assert lacks_figures == (known == 0)


def test_advice_stands_below_the_compilers_own_words():
    words = "INVALID_ARGUMENT: Invalid TPU external name: TPU7x"
    assert explained(words) == f"{words}\nThis libtpu knows no such TPU; a newer one may."
    assert explained("INTERNAL: something else") == "INTERNAL: something else"
