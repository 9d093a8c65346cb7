"""The functions that notebooks call; each takes a module in any form that a user has it in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hlo_widgets import tables
from hlo_widgets.analysis import why
from hlo_widgets.analysis.decisions import DecisionLog, read_decisions, replay
from hlo_widgets.analysis.why import Explanation
from hlo_widgets.compiler import CompilationResult
from hlo_widgets.drawing import render_dot
from hlo_widgets.errors import HloLookupError, NotCompilableError
from hlo_widgets.graph import ViewState, build_graph, graph_to_dot
from hlo_widgets.graph.view import DEFAULT_NODE_LIMIT
from hlo_widgets.hlo import HloInstruction, HloModule, parse_hlo_module, read_hlo

if TYPE_CHECKING:
    import pandas as pd

    from hlo_widgets.widgets import Compiled, Explorer

__all__ = [
    "as_module",
    "cost_table",
    "explore",
    "explore_call",
    "render_svg",
    "replay_decisions",
    "to_dot",
    "why_not_fused",
]

DEFAULT_TARGET = "v6e"

# The arguments of `compile_for` that `explore` hands on.
_COMPILE_OPTIONS = ("explain", "refresh", "mesh", "in_shardings", "out_shardings")


def explore(
    x: Any,
    *args: Any,
    target: str | None = None,
    flags: Mapping[str, Any] | None = None,
    expanded: Iterable[str] = (),
    color_by: str = "kind",
    node_limit: int = DEFAULT_NODE_LIMIT,
    decisions: DecisionLog | str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Explorer:
    """Show a compiled program as a graph, a table and details, linked.

    Of a function there are controls above the graph that compile it again, for another target, with
    other shapes, flags or static arguments.

    Args:
        x: A module, a `CompilationResult`, the path of a file, HLO text, or a function.
        *args: Arguments of the function, arrays or specs; it is compiled, never run.
        target: What to compile a function for, "v6e" by default; of HLO what it was compiled for,
            which is judged by the text where it is not given.
        flags: Compiler flags for a function.
        expanded: Names of the instructions that are open at the start.
        color_by: "kind", "cycles" or "memory".
        node_limit: The most nodes in one view.
        decisions: What the compiler wrote down about fusion: a `DecisionLog`, or what
            `read_decisions` reads. None takes what came with a `CompilationResult` that was made
            with `explain=True`.
        **kwargs: Keyword arguments of the function; of `compile_for` those called `explain`,
            `refresh`, `mesh`, `in_shardings` and `out_shardings`.

    Raises:
        NotCompilableError: `x` is none of these, or was compiled for another target.
        HloParseError: The text or file is not HLO.
        CompileError: The compiler refused the function.
        HloLookupError: `expanded` names an instruction that is not there.
        DecisionFileError: The decisions cannot be read.
    """
    from hlo_widgets.widgets import Explorer, Shown

    view: Any = {"expanded": expanded, "color_by": color_by, "node_limit": node_limit}
    compiled = None
    if callable(x) and not isinstance(x, HloModule):
        options = {name: kwargs.pop(name) for name in _COMPILE_OPTIONS if name in kwargs}
        compiled = _compile_call(x, args, kwargs, target=target, flags=flags, **options)
        shown = compiled.shown
    elif args or kwargs:
        raise NotCompilableError("arguments were given, but the first one is not a function")
    elif isinstance(x, CompilationResult):
        _check_target(x, target)
        shown = Shown.of_result(x)
    else:
        shown = Shown.of_module(as_module(x), target)
    if decisions is not None:
        shown = shown.with_decisions(_as_log(decisions))
    return Explorer(shown, compiled=compiled, **view)


def explore_call(
    fun: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], **options: Any
) -> Explorer:
    """Compile `fun(*args, **kwargs)` and show it, with controls that compile it again.

    Args:
        fun: The function.
        args: Its positional arguments.
        kwargs: Its keyword arguments, whatever they are called.
        **options: `target`, `flags` and `explain`, as `compile_for` takes them.

    Raises:
        CompileError: The compiler refused the function.
        Exception: As `compile_for`.
    """
    from hlo_widgets.widgets import Explorer

    compiled = _compile_call(fun, args, kwargs, **options)
    return Explorer(compiled.shown, compiled=compiled)


def _compile_call(
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    target: str | None = None,
    flags: Mapping[str, Any] | None = None,
    refresh: bool = False,
    **options: Any,
) -> Compiled:
    from hlo_widgets.widgets import Source, Variant, compile_variant

    source = Source(fun, **options)
    variant = Variant.of_call(source, args, kwargs, target or DEFAULT_TARGET, flags)
    return compile_variant(variant, refresh=refresh)


def cost_table(x: Any, target: str | None = None) -> pd.DataFrame:
    """Return one row for each instruction that does work; see `hlo_widgets.tables.cost_table`.

    Args:
        x: A module, a `CompilationResult`, the path of a file, or HLO text.
        target: What it was compiled for; judged by the text where it is not given.

    Raises:
        NotCompilableError: `x` is none of these, or was compiled for another target.
        HloParseError: The text or file is not HLO.
    """
    if not isinstance(x, CompilationResult):
        return tables.cost_table(as_module(x), target=target)
    _check_target(x, target)
    return tables.cost_table(x.module, target=x.target, versions=x.versions, notes=x.notes)


def to_dot(
    x: Any,
    expanded: Iterable[str] = (),
    color_by: str = "kind",
    theme: str = "light",
    node_limit: int = DEFAULT_NODE_LIMIT,
) -> str:
    """Return the graph of a module as DOT text.

    Args:
        x: A module, a `CompilationResult`, the path of a file, or HLO text.
        expanded: Names of the instructions to show opened.
        color_by: "kind", "cycles" or "memory".
        theme: "light" or "dark".
        node_limit: The most nodes; the graph is built around the costliest when there are more.

    Raises:
        HloLookupError: `expanded` names an instruction that is not there.
    """
    module = as_module(x)
    ids = frozenset().union(*(_ids_to_open(module, name) for name in expanded))
    view = ViewState(expanded=ids, color_by=color_by, node_limit=node_limit)
    return graph_to_dot(build_graph(module, view), theme)


def render_svg(
    x: Any,
    expanded: Iterable[str] = (),
    color_by: str = "kind",
    theme: str = "light",
    node_limit: int = DEFAULT_NODE_LIMIT,
) -> str:
    """Return the graph of a module as SVG text; arguments as `to_dot`.

    Raises:
        DrawingError: The layout program is missing or failed.
    """
    return render_dot(to_dot(x, expanded, color_by, theme, node_limit))


def why_not_fused(
    x: Any,
    a: str | HloInstruction,
    b: str | HloInstruction,
    decisions: DecisionLog | str | os.PathLike[str] | None = None,
) -> Explanation:
    """Explain why two ops are not one kernel; see `hlo_widgets.analysis.why.why_not_fused`.

    Args:
        x: A module, a `CompilationResult`, the path of a file or a dump folder, or HLO text.
        a: Name of an op, inside a fusion or not, or the instruction.
        b: Name of another.
        decisions: What the compiler wrote down: a `DecisionLog`, or what `read_decisions` reads.
            None takes those that came with `x`, else explains by the graph alone.

    Raises:
        HloLookupError: No op has such a name.
        DecisionFileError: The decisions cannot be read.
    """
    if decisions is None and isinstance(x, CompilationResult):
        decisions = x.decisions
    log = None if decisions is None else _as_log(decisions)
    try:
        return why.why_not_fused(as_module(x), a, b, log)
    except HloLookupError as error:
        if error.hint:
            raise
        hint = "`hw.cost_table` lists the ops that do work, and the graph shows all."
        raise HloLookupError(error.kind, error.name, error.suggestions, hint) from None


def replay_decisions(
    x: CompilationResult | DecisionLog | str | os.PathLike[str],
) -> replay.Replay:
    """Replay the fusions that a compiler recorded; see `analysis.decisions.replay`.

    Args:
        x: A result of `explain=True`, a `DecisionLog`, or what `read_decisions` reads.

    Returns:
        The replay; without steps where nothing is on record.

    Raises:
        DecisionFileError: The decisions cannot be read.
    """
    return replay.replay_decisions(x.decisions if isinstance(x, CompilationResult) else _as_log(x))


def as_module(x: Any) -> HloModule:
    """Return the module of anything that holds one.

    Args:
        x: A module, a `CompilationResult`, the path of a file, or HLO text.

    Raises:
        NotCompilableError: `x` is none of these.
        HloParseError: The text is not HLO.
        OSError: The file cannot be read.
    """
    if isinstance(x, HloModule):
        return x
    if isinstance(x, CompilationResult):
        return x.module
    if isinstance(x, str) and _is_hlo_text(x):
        return parse_hlo_module(x)
    if isinstance(x, str | os.PathLike):
        return _read_file(x)
    raise NotCompilableError(
        f"a {type(x).__name__} is neither HLO (a module, a compiled result, text, a file's path)"
        " nor a function with its arguments"
    )


def _as_log(decisions: DecisionLog | str | os.PathLike[str]) -> DecisionLog:
    return decisions if isinstance(decisions, DecisionLog) else read_decisions(decisions)


def _check_target(result: CompilationResult, target: str | None) -> None:
    if target not in (None, result.target):
        raise NotCompilableError(
            f"this was compiled for {result.target!r}: compile the function again for {target!r}"
        )


def _read_file(path: str | os.PathLike[str]) -> HloModule:
    try:
        return read_hlo(path)
    except FileNotFoundError as error:
        words = "neither HLO text nor the name of a file that is here"
        raise FileNotFoundError(error.errno, words, os.fspath(path)) from None


def _is_hlo_text(text: str) -> bool:
    """Return whether a string is HLO rather than a path: no path has a line break or ` = `."""
    return "\n" in text or " = " in text or text.lstrip().startswith("HloModule")


def _ids_to_open(module: HloModule, name: str) -> frozenset[str]:
    """Return the id of an instruction and of everything that it lies in."""
    from hlo_widgets.graph.paths import resolve, surrounding_ids

    node_id = resolve(module.entry_computation, name)
    if node_id is None:
        raise HloLookupError("instruction that a graph can show and that is called", name)
    return frozenset({node_id}) | surrounding_ids(node_id)
