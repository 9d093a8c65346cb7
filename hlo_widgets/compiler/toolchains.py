"""The compilers, inside a worker: the only code that uses jax's internals.

A `Toolchain` compiles programs for the targets of one platform. Everything here runs in the child
process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hlo_widgets.compiler.availability import versions_of
from hlo_widgets.compiler.devices import describe_devices
from hlo_widgets.compiler.lowered import (
    Made,
    MovedInternalsError,
    WrongDeviceCountError,
    compile_bytecode,
    compile_exported,
)

__all__ = ["CompiledText", "MovedInternalsError", "Request", "Toolchain", "WrongDeviceCountError"]

# Fills `reification_cost` of instructions, where the compiler has a cost model for that GPU.
_GPU_FIGURES = "xla_gpu_collect_cost_model_stats"
# What an instruction with an estimate has in its text.
_FIGURE = {"tpu": '"estimated_cycles"', "cuda": '"reification_cost":[{'}
_PACKAGES = {
    "cpu": (),
    "tpu": ("libtpu",),
    "cuda": ("jax-cuda12-plugin", "jax-cuda12-pjrt", "nvidia-cuda-nvcc-cu12"),
}


@dataclass(frozen=True)
class Request:
    """What to compile and what for.

    Attributes:
        form: "bytecode" or "exported", as in `Program`.
        topology: The arrangement of chips; `None` for a CPU.
        topology_options: What describes it beside its name.
        flags: Compiler options.
        spreads: For each input and output, whether the compiler may choose its sharding; `None`
            where the program is for one device.
        draws: Whether not the text is wanted but what the compiler writes down where it draws its
            fusions.
    """

    form: str
    topology: str | None = None
    topology_options: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Any] = field(default_factory=dict)
    spreads: tuple[tuple[bool, ...], tuple[bool, ...]] | None = None
    draws: bool = False


@dataclass(frozen=True)
class CompiledText:
    """What a toolchain made of a program.

    Attributes:
        made: The compiled module and what is known of it.
        has_figures: Whether this compiler prints estimates for this target; `None` where no target
            of its kind has any.
        why_no_figures: The compiler's own words for having none; empty where it has no words.
    """

    made: Made
    has_figures: bool | None
    why_no_figures: str = ""


class Toolchain:
    """The compiler of one platform, with the devices that it has compiled for so far.

    Args:
        platform: "cpu", "tpu" or "cuda".
    """

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self._devices: dict[tuple[str | None, str], list[Any]] = {}
        self._why_none: dict[tuple[str | None, str], str | None] = {}

    def versions(self, request: Request) -> dict[str, str]:
        """List the versions of what compiles, and the compiler's description of itself."""
        import jax
        import jaxlib

        # CUDA 13 has packages of other names.
        found = {**dict.fromkeys(_PACKAGES[self.platform], "unknown"), **versions_of(self.platform)}
        versions = {"jax": jax.__version__, "jaxlib": jaxlib.__version__, **found}
        description = str(self._described(request)[0].client.platform_version)
        return {**versions, "compiler": " ".join(description.split())}

    def compile(self, request: Request, content: bytes) -> CompiledText:
        """Compile a program.

        Args:
            request: What for.
            content: The program.

        Raises:
            MovedInternalsError: If its form is "bytecode" and this jax has moved what that needs.
            WrongDeviceCountError: If the program is sharded over another number of devices.
            jax.errors.JaxRuntimeError: If the compiler refuses.
        """
        if self.platform == "cuda" and _GPU_FIGURES not in request.flags:
            return self._compile_with_gpu_figures(request, content)
        made = self._compile(request, content, request.flags)
        if self.platform == "cpu":
            return CompiledText(made, None)
        why = self._why_no_figures(request, made.hlo_text)
        return CompiledText(made, why is None, why or "")

    def _compile(self, request: Request, content: bytes, flags: Mapping[str, Any]) -> Made:
        devices = self._described(request)
        if request.form == "bytecode":
            return compile_bytecode(content, devices, flags, request.spreads)
        return compile_exported(content, devices, flags)

    def _described(self, request: Request) -> list[Any]:
        key = _key(request)
        if key not in self._devices:
            self._devices[key] = describe_devices(
                self.platform, request.topology, request.topology_options
            )
        return self._devices[key]

    def _compile_with_gpu_figures(self, request: Request, content: bytes) -> CompiledText:
        """Ask for estimates, and do without them where the compiler has no model to make them."""
        from jax.errors import JaxRuntimeError

        why = self._why_none.get(_key(request))
        if why is None:
            try:
                made = self._compile(request, content, {**request.flags, _GPU_FIGURES: True})
                return CompiledText(made, has_figures=True)
            except JaxRuntimeError as error:
                why = str(error)
                # The program may be what it dislikes, so one that it takes elsewhere decides
                # about the next ones.
                self._why_none[_key(request)] = self._probe(request, {_GPU_FIGURES: True})
        made = self._compile(request, content, {**request.flags, _GPU_FIGURES: False})
        return CompiledText(made, has_figures=False, why_no_figures=_first_line(why))

    def _why_no_figures(self, request: Request, text: str) -> str | None:
        """Say whether this compiler prints estimates: compiling shows it, a version does not."""
        if self.platform == "cuda":
            has_them = _FIGURE["cuda"] in text
            return None if has_them else f"{_GPU_FIGURES} is {request.flags[_GPU_FIGURES]}"
        key = (self.platform, "")  # what one topology shows holds for all of this compiler
        if _FIGURE[self.platform] in text:
            self._why_none[key] = None
        elif key not in self._why_none:
            # A program may have nothing to estimate, so one that always has decides.
            self._why_none[key] = self._probe(request, {})
        return self._why_none[key]

    def _probe(self, request: Request, flags: Mapping[str, Any]) -> str | None:
        """Compile a small program that a compiler with estimates has one for.

        Returns:
            Why it has none; `None` where it has one.
        """
        import jax
        import jax.numpy as jnp

        sharding = jax.sharding.SingleDeviceSharding(self._described(request)[0])
        jitted = jax.jit(
            lambda x: jnp.exp(x).sum(axis=-1), in_shardings=sharding, out_shardings=sharding
        )
        make: Any = jax.ShapeDtypeStruct  # jax declares no types for it
        lowered = jitted.lower(make((1024, 512), jnp.float32))
        try:
            text = str(lowered.compile(compiler_options=dict(flags)).as_text())
        except jax.errors.JaxRuntimeError as error:
            return str(error)
        return None if _FIGURE[self.platform] in text else ""


def _key(request: Request) -> tuple[str | None, str]:
    return request.topology, repr(sorted(request.topology_options.items()))


def _first_line(words: str) -> str:
    # A compiler may list every replica group of a pod; 200 characters are enough to search for.
    line = words.strip().splitlines()[0] if words.strip() else ""
    return line if len(line) <= 200 else line[:200] + "…"
