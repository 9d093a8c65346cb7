"""`compile_for`: a function and its arguments in, a compiled module out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hlo_widgets.compiler.availability import require_available
from hlo_widgets.compiler.environment import explain_worker
from hlo_widgets.compiler.exporting import export_program, export_publicly
from hlo_widgets.compiler.flags import Flags, check_explain_flags, plain_flags
from hlo_widgets.compiler.handshake import installed_versions, own_versions
from hlo_widgets.compiler.orders import Order, compile_program
from hlo_widgets.compiler.pool import workers
from hlo_widgets.compiler.progress import Phase, report
from hlo_widgets.compiler.result import CompilationResult
from hlo_widgets.compiler.settings import settings
from hlo_widgets.compiler.shardings import Call
from hlo_widgets.compiler.targets import Target, find_target

__all__ = ["compile_call", "compile_for"]


def compile_for(
    fun: Callable[..., Any],
    *args: Any,
    target: str | Target = "v6e",
    flags: Flags | None = None,
    explain: bool = False,
    refresh: bool = False,
    mesh: Any = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    **kwargs: Any,
) -> CompilationResult:
    """Compile a function for hardware that need not be there.

    The function is traced and lowered in this process, never run on data, and touches no device:
    JAX's backends are not started. (Where the compiler process has another release of jaxlib, or
    jax has moved what this way needs, `jax.export` starts them, and a note of the result says so.)
    The compiler runs in a child process, which is started on first use and kept for the next
    compile.

    Args:
        fun: A function, a jitted function (its options are kept), a `functools.partial` or a bound
            method. Where one of its own keyword arguments is called as one of this function's,
            bind it with `functools.partial`.
        *args: Its arguments: arrays, scalars, `jax.ShapeDtypeStruct`, and pytrees of them.
        target: A name from `list_targets()`, also with a topology as in "v5e:4x4".
        flags: Compiler options by name, such as `{"xla_jf_enable_multi_output_fusion": False}`.
        explain: Have the compiler write down what it decides about fusion, for `decisions` of the
            result. It takes longer, and runs in a process of its own beside that of other compiles.
        refresh: Compile even where the result of an identical compile is on disk.
        mesh: For a target of many chips: `target(...).abstract_mesh(...)`, which a bare
            `PartitionSpec` in the shardings below and inside `fun` speaks of. Arguments that are
            `jax.ShapeDtypeStruct` with a `NamedSharding` need none of the three.
        in_shardings: As `jax.jit` takes it, for a function that is not jitted.
        out_shardings: As `jax.jit` takes it, for a function that is not jitted.
        **kwargs: Keyword arguments of `fun`.

    Returns:
        The compiled module with what made it.

    Raises:
        UnknownTargetError: If there is no such target.
        TargetUnavailableError: If its compiler is not installed here.
        NotCompilableError: If `fun` cannot be called or calls back into Python, or a flag is not a
            name with a plain value, or is one that `explain` sets itself.
        CompileTimeoutError: If the compiler takes longer than `settings.time_limit_seconds`.
        CompileError: If the compiler refuses, with its own words, or its process ends.
        Exception: Whatever tracing `fun` raises, unchanged.
    """
    call = Call(fun, args, kwargs, mesh, in_shardings, out_shardings)
    return compile_call(call, target, flags, explain=explain, refresh=refresh)


def compile_call(
    call: Call,
    target: str | Target,
    flags: Flags | None = None,
    *,
    explain: bool = False,
    refresh: bool = False,
) -> CompilationResult:
    """Compile a function as `compile_for` does, whatever its arguments are called.

    Args:
        call: The function with its arguments.
        target: As `compile_for` takes it.
        flags: As `compile_for` takes them.
        explain: As `compile_for` takes it.
        refresh: As `compile_for` takes it.

    Raises:
        Exception: As `compile_for`.
    """
    chosen = find_target(target)
    options = plain_flags(flags)
    if explain:
        check_explain_flags(options)
    if settings.command is None:
        require_available(chosen)
    worker = explain_worker(chosen.platform) if explain else chosen.platform
    workers.start(worker, chosen.name)
    return _compile(call, Order(chosen, options, worker, refresh))


def _compile(call: Call, order: Order) -> CompilationResult:
    platform = order.target.platform
    versions = _versions(order)
    report(Phase.TRACING)
    if _reads_bytecode(versions):
        result = compile_program(export_program(call, platform), order, versions)
        if result is not None:
            return result
    result = compile_program(export_publicly(call, platform), order, versions)
    assert result is not None  # noqa: S101 - what is public does not move
    return result


def _versions(order: Order) -> Mapping[str, str]:
    """Return the versions of what compiles."""
    if settings.command is None:
        # What is installed is what a worker of this Python runs: no need to wait for it.
        return installed_versions(order.target.platform)
    return workers.versions(order.worker, order.target.name)


def _reads_bytecode(versions: Mapping[str, str]) -> bool:
    """Say whether a worker reads what this process's jaxlib writes: only the same release does."""
    return versions.get("jaxlib") in {own_versions()["jaxlib"], "unknown"}
