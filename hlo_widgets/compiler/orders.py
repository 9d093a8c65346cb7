"""A lowered program is sent to its compiler, unless the answer is on disk, and the answer read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hlo_widgets.compiler.cache import cache_key, configured_cache
from hlo_widgets.compiler.environment import compiler_variables
from hlo_widgets.compiler.exporting import Program
from hlo_widgets.compiler.flags import Flags
from hlo_widgets.compiler.handshake import PROTOCOL, is_complete
from hlo_widgets.compiler.notes import notes_on
from hlo_widgets.compiler.pictures import with_pictures
from hlo_widgets.compiler.pool import workers
from hlo_widgets.compiler.process import Reply
from hlo_widgets.compiler.progress import Phase, report
from hlo_widgets.compiler.result import CompilationResult
from hlo_widgets.compiler.targets import Target, too_many_chips
from hlo_widgets.errors import CompileError

__all__ = ["Order", "compile_program"]


@dataclass(frozen=True)
class Order:
    """What a program is compiled for, with what, and by which worker.

    Attributes:
        target: What for.
        flags: Compiler options.
        worker: Name of the worker, as `Workers` knows it.
        refresh: Whether to compile even where an answer is on disk.
    """

    target: Target
    flags: Flags
    worker: str
    refresh: bool = False


def compile_program(
    program: Program, order: Order, versions: Mapping[str, str]
) -> CompilationResult | None:
    """Compile a lowered program.

    Args:
        program: The program.
        order: What for.
        versions: Versions of what compiles, for the cache.

    Returns:
        The result, or `None` where the worker's jax has moved what the form of the program needs.

    Raises:
        CompileError: If the compiler refuses, or as `Workers.request`.
    """
    try:
        reply, is_cached = _send(program, order, versions)
    except CompileError as error:
        advice = too_many_chips(order.target)
        if type(error) is not CompileError or not advice:
            raise
        raise CompileError(error.target, f"{error.reason}. {advice}", error.log) from error
    report(Phase.READING)
    header = reply.header
    if header["kind"] == "moved":
        return None
    if header["kind"] != "compiled":
        raise _refusal(order.target, header["reason"])
    text_bytes = len(reply.body) - header["records_bytes"]
    return CompilationResult(
        hlo_text=reply.body[:text_bytes].decode(),
        target=order.target.name,
        versions=header["versions"],
        compile_seconds=header["compile_seconds"],
        flags=order.flags,
        notes=notes_on(header, order.target, program.form),
        devices=header["devices"],
        is_cached=is_cached,
        records=reply.body[text_bytes:],
    )


def _send(program: Program, order: Order, versions: Mapping[str, str]) -> tuple[Reply, bool]:
    """Ask the cache, then the worker; say whether the reply is the cache's."""
    target = order.target
    header = {
        "form": program.form,
        "topology": target.topology,
        "topology_options": dict(target.topology_options),
        "flags": order.flags,
        "spreads": program.spreads,
    }
    cache = configured_cache()
    facts = [order.worker, PROTOCOL, header, compiler_variables()]
    key = cache_key(facts, program.content, versions)
    kept = cache.load(key) if cache is not None and not order.refresh else None
    if kept is not None and is_complete(kept.header):
        return kept, True
    reply, is_lasting = _ask(order, header, program.content)
    if cache is not None and is_lasting:
        cache.store(key, reply)
    return reply, False


def _ask(order: Order, header: Mapping[str, Any], content: bytes) -> tuple[Reply, bool]:
    """Ask the worker; say whether its reply is one to keep."""

    def ask(**more: Any) -> Reply:
        return workers.request(order.worker, order.target.name, {**header, **more}, content)

    reply = ask()
    if reply.header["kind"] != "compiled":
        return reply, False
    is_whole = reply.header["is_whole"]
    if not reply.header["can_draw"]:
        return reply, is_whole
    reply, is_lasting = with_pictures(reply, lambda: ask(draws=True))
    return reply, is_whole and is_lasting


def _refusal(target: Target, reason: str) -> CompileError:
    from hlo_widgets.analysis.memory_report import read_memory_report
    from hlo_widgets.compiler.next_steps import next_steps

    words = "\n".join(filter(None, (reason.rstrip(), next_steps(reason, target))))
    return CompileError(target.name, words, memory_report=read_memory_report(reason))
