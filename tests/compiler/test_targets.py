from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

import hlo_widgets as hw
from hlo_widgets.compiler import Target, compile_for, find_target, list_targets
from hlo_widgets.compiler.gpus import GPUS
from hlo_widgets.compiler.local import target_of_kind
from hlo_widgets.errors import CompileError, TargetUnavailableError, UnknownTargetError
from tests.compiler.support import (
    SOFTMAX_SPEC,
    add_one,
    clean_environment,
    needs_libtpu,
    row_softmax,
)


def test_every_listed_target_is_found_by_its_name():
    targets = [target for target in list_targets() if target.name != "local"]
    assert [find_target(target.name) for target in targets] == targets
    assert {"cpu", "v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"} <= {t.name for t in targets}
    assert {"v100", "a100", "h100", "h200", "b200", "rtx6000pro"} <= {t.name for t in targets}


def test_a_target_has_what_the_compiler_is_asked_for():
    assert find_target("v5p") == Target(
        name="v5p", platform="tpu", device_kind="TPU v5", topology="v5p:1x1x1", chips=1, devices=1
    )


@pytest.mark.parametrize(
    ("name", "topology", "chips", "devices"),
    [
        ("v5e:4x4", "v5e:4x4", 16, 16),
        ("V5E:16X16", "v5e:16x16", 256, 256),
        ("v5e:2x2x1", "v5e:2x2", 4, 4),
        ("v5p:4x4x4", "v5p:4x4x4", 64, 64),
        ("v5p:2x2", "v5p:2x2x1", 4, 4),
        ("v4:2x2x2", "v4:2x2x2", 8, 8),
        ("v3:4x4", "v3:4x4", 16, 32),
        ("tpu7x:2x2x1", "tpu7x:2x2x1", 4, 8),
        ("h100:8", "h100", 8, 8),
        ("h100:2x8", "h100", 16, 16),
    ],
)
def test_a_topology_in_the_name(name, topology, chips, devices):
    target = find_target(name)
    assert (target.topology, target.chips, target.devices) == (topology, chips, devices)
    assert target.name == name.lower()


def test_hosts_and_gpus_of_each_reach_the_compiler():
    assert dict(find_target("h100:8").topology_options)["topology"] == "1x1x8"
    assert dict(find_target("h100:2x8").topology_options)["topology"] == "1x2x8"


def test_gpu_figures_are_written_as_the_compiler_reads_them():
    config = dict(find_target("h100").topology_options)["target_config"]
    assert "cuda_compute_capability { major: 9 minor: 0 " in config
    assert "feature_extension: ACCELERATED_FEATURES" in config
    assert "core_count: 132\n" in config
    assert "memory_bandwidth: 3352320000000\n" in config
    assert 'device_description_str: "NVIDIA H100 80GB HBM3"' in config


SHARED_FIGURES = Path(__file__).parents[3] / "shared" / "facts" / "gpu_targets.tsv"


@pytest.mark.skipif(not SHARED_FIGURES.exists(), reason="no table of figures to compare with")
def test_the_gpu_figures_agree_with_the_collected_ones():
    lines = [line for line in SHARED_FIGURES.read_text().splitlines() if line[:1] != "#"]
    for row in csv.DictReader(lines, delimiter="\t"):
        gpu = GPUS[row["name"]]
        assert gpu.description == row["device_description_str"]
        assert gpu.compute_capability == (int(row["cc_major"]), int(row["cc_minor"]))
        assert gpu.has_accelerated_features == (row["feature_extension"] != "NONE")
        assert gpu.core_count == int(row["core_count"])
        assert gpu.fpus_per_core == int(row["fpus_per_core"])
        assert gpu.memory_bandwidth == int(row["memory_bandwidth"])
        assert gpu.l2_cache_bytes == int(row["l2_cache_size"])
        assert gpu.clock_ghz == float(row["clock_rate_ghz"])
        assert gpu.memory_bytes == int(row["device_memory_size"])
        assert gpu.shared_memory_per_core == int(row["shared_memory_per_core"])
        assert gpu.shared_memory_per_block == int(row["shared_memory_per_block_optin"])


def test_local_is_the_device_of_this_process():
    script = (
        "import hlo_widgets as hw; print(hw.target('local').name, hw.target(hw.target('cpu')).name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=clean_environment(JAX_PLATFORMS="cpu"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["cpu", "cpu"]


@pytest.mark.parametrize(
    ("platform", "device_kind", "name"),
    [
        ("cpu", "cpu", "cpu"),
        ("tpu", "TPU v5 lite", "v5e"),
        ("gpu", "NVIDIA H200 141GB HBM3e", "h200"),
    ],
)
def test_devices_are_known_by_their_kind(platform, device_kind, name):
    assert target_of_kind(platform, device_kind).name == name


def test_a_device_that_no_target_describes():
    with pytest.raises(TargetUnavailableError, match="this process has a GeForce 256") as caught:
        target_of_kind("gpu", "GeForce 256")
    assert "h100 (NVIDIA H100 80GB HBM3)" in caught.value.remedy


def test_case_and_blanks_do_not_matter_and_a_target_is_itself():
    assert find_target(" V6E ") is find_target("v6e")
    assert find_target(find_target("cpu")) is find_target("cpu")


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("v6", "v6e"),
        ("v7x", "tpu7x"),
        ("v5pp", "v5p"),
        ("CPUs", "cpu"),
        ("h1000", "h100"),
        ("rtx6000", "rtx6000pro"),
        ("v5x:4x4", "v5e:4x4"),
        ("v5e:four", "v5e:4x4"),
        ("v5e:0x4", "v5e:4x4"),
        ("v5p:4", "v5p:4x4x4"),
        ("h100:1x2x3", "h100:8"),
    ],
)
def test_a_misspelt_name_brings_the_nearest(name, suggested):
    with pytest.raises(UnknownTargetError) as caught:
        find_target(name)
    assert suggested in caught.value.suggestions
    assert "Did you mean" in str(caught.value)
    assert "v5e" in caught.value.known


def test_a_name_like_no_other_brings_the_list_alone():
    with pytest.raises(UnknownTargetError, match="Known targets: cpu, local, v2"):
        find_target("quantum")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("v5e:4x4x4", "chips as two numbers: 'v5e:4x4'. Of the first two numbers each"),
        ("v5p:4", "chips as three numbers: 'v5p:4x4x4'"),
        ("h100:3x3x3", "'h100:2x8' for two hosts of eight"),
        ("cpu:4", "'cpu' takes no number of chips"),
    ],
)
def test_of_hardware_that_is_known_it_is_told_which_numbers_of_chips_can_be_written(name, words):
    with pytest.raises(UnknownTargetError) as caught:
        find_target(name)
    assert words in str(caught.value)
    # What is wrong is the number: neither other hardware nor the list of it helps.
    kind = name.partition(":")[0]
    assert all(one.partition(":")[0] == kind for one in caught.value.suggestions)
    assert "Known targets" not in str(caught.value)


@needs_libtpu
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("v5e:4x5", ("v5e:4x4", "v5e:4x6")),
        ("v6e:1x3", ("v6e:1x2", "v6e:1x4")),
        ("v5p:3x4x5", ("v5p:2x4x5", "v5p:4x4x5")),
    ],
)
def test_an_arrangement_that_the_compiler_refuses_brings_those_that_work(name, nearest):
    spec = hw.spec("f32[8,128]")
    with pytest.raises(CompileError, match=r"is not divisible by") as caught:
        compile_for(add_one, spec, target=name)
    for other in nearest:
        assert repr(other) in caught.value.reason
        assert compile_for(add_one, spec, target=other).target == other


@needs_libtpu
def test_a_compiler_that_ends_over_too_many_chips_brings_how_many_there_can_be():
    with pytest.raises(CompileError, match=r"1,024 chips may be too many: a v5e has 256"):
        compile_for(row_softmax, SOFTMAX_SPEC, target="v5e:32x32")
