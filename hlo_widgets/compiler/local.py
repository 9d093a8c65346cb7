"""The target of the device that this process really has."""

from __future__ import annotations

from hlo_widgets.compiler.targets import Target, list_targets
from hlo_widgets.errors import TargetUnavailableError

__all__ = ["local_target", "target_of_kind"]


def local_target() -> Target:
    """Find the target of the first device that JAX has here. Starts JAX's backends.

    Raises:
        TargetUnavailableError: If no target describes that device.
    """
    import jax

    device = jax.local_devices()[0]
    return target_of_kind(device.platform, device.device_kind)


def target_of_kind(platform: str, device_kind: str) -> Target:
    """Find the target of a device.

    Args:
        platform: The device's platform as JAX says it: "cpu", "tpu" or "gpu".
        device_kind: What JAX calls it, such as "TPU v5 lite" or "NVIDIA H100 80GB HBM3".

    Raises:
        TargetUnavailableError: If no target describes it.
    """
    if platform == "cpu":
        return next(target for target in list_targets() if target.platform == "cpu")
    of_platform = [
        t for t in list_targets() if t.platform == {"gpu": "cuda"}.get(platform, platform)
    ]
    for target in of_platform:
        if target.device_kind == device_kind:
            return target
    known = ", ".join(f"{target.name} ({target.device_kind})" for target in of_platform)
    raise TargetUnavailableError(
        "local",
        f"this process has a {device_kind}, which no target describes",
        f"Name the nearest of these instead: {known}" if known else "Name a target instead",
    )
