from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import textwrap
from importlib import metadata
from pathlib import Path

import jax
import pytest

from hlo_widgets.compiler import find_target
from hlo_widgets.compiler.availability import require_available
from hlo_widgets.errors import TargetUnavailableError
from tests.compiler.support import clean_environment, needs_libtpu

ROOT = Path(__file__).parents[2]
SCRIPT = """
    import hlo_widgets
    from hlo_widgets.compiler import compile_for
    try:
        compile_for(lambda x: x + 1, 1.0, target="v6e")
    except hlo_widgets.TargetUnavailableError as error:
        print(error.target)
        print(error)
    text = compile_for(lambda x: x + 1, 1.0, target="cpu").hlo_text
    print("the CPU compiles:", text.startswith("HloModule jit_"))
"""


def link_packages(folder, without):
    """Make a folder with every package of this environment but one."""
    for entry in Path(jax.__file__).parents[1].iterdir():
        if not entry.name.startswith(without) and not entry.name.endswith(".pth"):
            (folder / entry.name).symlink_to(entry)


@pytest.mark.skipif(sys.platform != "linux", reason="another message elsewhere")
def test_without_libtpu_the_pip_line_is_named_and_the_cpu_still_compiles(tmp_path):
    link_packages(tmp_path, without="libtpu")
    done = subprocess.run(
        [sys.executable, "-S", "-c", textwrap.dedent(SCRIPT)],
        env=clean_environment(PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)])),
        capture_output=True,
        text=True,
        check=True,
    )
    target, why, where, cpu = done.stdout.splitlines()
    assert target == "v6e"
    assert "the package libtpu, which holds the TPU compiler, is not installed" in why
    assert why.endswith('Install it with: pip install "libtpu>=0.0.45"')
    assert where == "TPU compilation needs Linux on x86-64; no TPU is needed."
    assert cpu == "the CPU compiles: True"


@pytest.mark.skipif(sys.platform != "linux", reason="another message elsewhere")
def test_without_the_gpu_compiler_its_pip_line_is_named(tmp_path):
    link_packages(tmp_path, without=("nvidia", "jax_cuda12_plugin"))
    script = """
        import hlo_widgets as hw
        found = hw.target("h100").availability
        print(found.is_available)
        print(found.install)
        try:
            hw.compile_for(lambda x: x + 1, 1.0, target="h100")
        except hw.TargetUnavailableError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-S", "-c", textwrap.dedent(script)],
        env=clean_environment(PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)])),
        capture_output=True,
        text=True,
        check=True,
    )
    install = "pip install jax-cuda12-plugin jax-cuda12-pjrt nvidia-cuda-nvcc-cu12"
    available, line, error, hint = done.stdout.splitlines()
    assert (available, line) == ("False", install)
    # Where nothing of it is installed, the third package is missing too.
    names = re.match(r"cannot compile for 'h100': (.+), of the GPU compiler, are not inst", error)
    assert {"jax-cuda12-plugin", "nvidia-cuda-nvcc-cu12"} <= set(names[1].split(" and "))
    assert error.endswith(install)
    assert hint == "No GPU, driver or CUDA toolkit is needed."


@needs_libtpu
def test_what_is_installed_is_said():
    found = find_target("v6e").availability
    assert found.is_available
    assert found.installed == {"libtpu": metadata.version("libtpu")}
    assert found.install is None
    assert find_target("cpu").availability.installed == {"jaxlib": metadata.version("jaxlib")}


@needs_libtpu
def test_with_libtpu_a_tpu_is_available():
    require_available(find_target("v6e"))


def test_a_library_named_by_its_path_counts(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "libtpu", None)
    monkeypatch.setenv("TPU_LIBRARY_PATH", str(tmp_path / "libtpu.so"))
    with pytest.raises(TargetUnavailableError):
        require_available(find_target("v6e"))
    (tmp_path / "libtpu.so").touch()
    require_available(find_target("v6e"))


def test_another_machine_is_told_where_it_would_work(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(TargetUnavailableError) as caught:
        require_available(find_target("v5e"))
    assert "TPU compilation needs Linux on x86-64, and this is Linux on aarch64" in str(
        caught.value
    )
    assert 'pip install "libtpu>=0.0.45"' in caught.value.remedy
    require_available(find_target("cpu"))
