"""What the GPU compiler must be told about a GPU that is not there.

The figures are those of the device descriptions that XLA itself tests with, in
`xla/backends/gpu/target_config/specs` of github.com/openxla/xla (read 2026-11): `h100_sxm.txtpb`,
`v100.txtpb` and so on. They were read from real devices there, except where a whole generation
shares a limit. Rates of single units (`scalar_unit_description`) are left out: the compiler takes
its own where none are given.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GPUS", "Gpu", "target_config"]


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA GPU, in the units of XLA's `GpuDeviceInfoProto`.

    Attributes:
        description: The name that the driver gives it; also what JAX calls the device's kind.
        compute_capability: Major and minor number.
        has_accelerated_features: Whether code for exactly this generation is asked for, the "a" in
            "sm_90a".
        core_count: Number of streaming multiprocessors.
        fpus_per_core: Single-precision units of each.
        memory_bandwidth: Bytes a second.
        l2_cache_bytes: Size of the second-level cache.
        clock_ghz: Highest clock of the multiprocessors.
        memory_bytes: Size of the device memory.
        shared_memory_per_core: Bytes of shared memory of a multiprocessor.
        shared_memory_per_block: Most bytes that one block may ask for.
        threads_per_core: Most threads that a multiprocessor holds.
    """

    description: str
    compute_capability: tuple[int, int]
    has_accelerated_features: bool
    core_count: int
    fpus_per_core: int
    memory_bandwidth: int
    l2_cache_bytes: int
    clock_ghz: float
    memory_bytes: int
    shared_memory_per_core: int
    shared_memory_per_block: int
    threads_per_core: int = 2048


GPUS = {
    "p100": Gpu(
        "Tesla P100-SXM2-16GB", (6, 0), False, 56, 64,
        732_160_000_000, 4_194_304, 1.4805, 17_066_885_120, 65_536, 49_152,
    ),
    "v100": Gpu(
        "Tesla V100-SXM2-16GB", (7, 0), False, 80, 64,
        898_048_000_000, 6_291_456, 1.53, 16_935_682_048, 98_304, 98_304,
    ),
    "a100": Gpu(
        "NVIDIA A100-SXM4-80GB", (8, 0), False, 108, 64,
        2_039_040_000_000, 41_943_040, 1.41, 85_100_068_864, 167_936, 166_912,
    ),
    "a100-40gb": Gpu(
        "NVIDIA A100-SXM4-40GB", (8, 0), False, 108, 64,
        1_555_200_000_000, 41_943_040, 1.41, 42_331_013_120, 167_936, 166_912,
    ),
    "a6000": Gpu(
        "NVIDIA RTX A6000", (8, 6), False, 84, 128,
        768_096_000_000, 6_291_456, 1.8, 51_041_271_808, 102_400, 101_376, 1536,
    ),
    "h100": Gpu(
        "NVIDIA H100 80GB HBM3", (9, 0), True, 132, 128,
        3_352_320_000_000, 52_428_800, 1.98, 84_978_434_048, 233_472, 232_448,
    ),
    "h100-pcie": Gpu(
        "NVIDIA H100 PCIe", (9, 0), True, 114, 128,
        2_039_040_000_000, 52_428_800, 1.755, 84_942_979_072, 233_472, 232_448,
    ),
    "h200": Gpu(
        "NVIDIA H200 141GB HBM3e", (9, 0), True, 132, 128,
        4_800_000_000_000, 52_428_800, 1.98, 151_397_597_184, 233_472, 232_448,
    ),
    "b200": Gpu(
        "NVIDIA B200", (10, 0), True, 148, 128,
        7_672_320_000_000, 132_644_864, 1.965, 191_514_411_008, 233_472, 232_448,
    ),
    "gb200": Gpu(
        "NVIDIA GB200", (10, 0), True, 152, 128,
        7_928_064_000_000, 135_528_448, 2.062, 197_897_748_480, 233_472, 232_448,
    ),
    "b300": Gpu(
        "NVIDIA B300", (10, 3), False, 158, 128,
        7_936_000_000_000, 135_528_448, 1.965, 297_021_865_984, 233_472, 232_448,
    ),
    "gb300": Gpu(
        "NVIDIA GB300", (10, 3), True, 152, 128,
        7_928_064_000_000, 135_528_448, 2.07, 297_021_079_552, 233_472, 232_448,
    ),
    "rtx6000pro": Gpu(
        "NVIDIA RTX PRO 6000 Blackwell", (12, 0), False, 188, 128,
        1_792_000_000_000, 134_217_728, 2.6, 103_079_215_104, 131_072, 101_376, 1536,
    ),
}  # fmt: skip
"""The GPUs by the names that people say, oldest first."""


def target_config(gpu: Gpu) -> str:
    """Write a GPU as the text of a `GpuTargetConfigProto`.

    Limits that every NVIDIA GPU since 2016 shares are filled in: threads of a block and a warp,
    sizes of a grid, registers.
    """
    major, minor = gpu.compute_capability
    features = "ACCELERATED_FEATURES" if gpu.has_accelerated_features else "NONE"
    return f"""
gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {gpu.shared_memory_per_core}
  shared_memory_per_block_optin: {gpu.shared_memory_per_block}
  threads_per_core_limit: {gpu.threads_per_core}
  core_count: {gpu.core_count}
  fpus_per_core: {gpu.fpus_per_core}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  memory_bandwidth: {gpu.memory_bandwidth}
  l2_cache_size: {gpu.l2_cache_bytes}
  clock_rate_ghz: {gpu.clock_ghz}
  device_memory_size: {gpu.memory_bytes}
  cuda_compute_capability {{ major: {major} minor: {minor} feature_extension: {features} }}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 8 }}
device_description_str: "{gpu.description}"
"""
