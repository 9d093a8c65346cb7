"""The command `hlo-widgets`: tables, pictures, answers and captures without a notebook."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlo_widgets.errors import (
    DecisionFileError,
    HloLookupError,
    HloParseError,
    HloWidgetsError,
    TargetUnavailableError,
)

if TYPE_CHECKING:
    from hlo_widgets.analysis.decisions import DecisionLog

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: The arguments; `sys.argv` without the program's name by default.

    Returns:
        The exit status: 0, or 1 for an error that is expected (a file that is missing or is not
        HLO, a compiler that is missing or refuses), which is written to standard error in words.
        Wrong arguments end the process with status 2, as `argparse` does.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    if options.run is None:
        parser.error(f"name a command: {_COMMANDS}; -h after it says what it takes")
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130  # as a shell reports SIGINT
    except (HloWidgetsError, OSError) as error:
        _say(f"hlo-widgets: {_words(error, options)}", file=sys.stderr)
        return 1
    return 0


def _words(error: HloWidgetsError | OSError, options: argparse.Namespace) -> str:
    """Say what went wrong, with the file that it is about and what to do."""
    file = getattr(options, "module", None) or getattr(options, "file", None)
    if isinstance(error, OSError):
        return _words_of_system(error)
    if isinstance(error, HloParseError):
        return f"cannot read {file}: {error}"
    if isinstance(error, HloLookupError):
        more = "" if error.hint else f" `hlo-widgets table {file}` lists those that do work."
        return f"{error}{more}"
    return str(error)


def _words_of_system(error: OSError) -> str:
    name = error.filename
    if name is None or error.strerror != os.strerror(error.errno or 0):
        return str(error).partition("] ")[2] or str(error)
    folder = Path(name).absolute().parent
    if isinstance(error, FileNotFoundError):
        missing = f"file or folder {name!r}" if folder.exists() else f"folder {str(folder)!r}"
        return f"there is no {missing}; check the path"
    if isinstance(error, FileExistsError):
        return f"{name!r} is a file and no folder; name another path"
    if isinstance(error, NotADirectoryError):
        return f"a part of {name!r} is a file and no folder; check the path"
    if isinstance(error, IsADirectoryError):
        return f"{name!r} is a folder; name a file"
    if isinstance(error, PermissionError):
        return f"{name!r} may not be opened by you; change its permissions or name another path"
    return f"{name!r}: {error.strerror}"


_COMMANDS = "table, svg, why, targets or capture"


def _say(text: str, **options: Any) -> None:
    """Print text that may come from a file: what would steer a terminal is written as an escape."""
    from hlo_widgets.analysis.words import plain_text

    print(plain_text(text), **options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hlo-widgets",
        description="See what XLA made of a JAX function, for hardware that need not be there.",
    )
    # Not from the package itself, whose top imports the magic.
    version = metadata.version("hlo-widgets")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_table(commands)
    _add_svg(commands)
    _add_why(commands)
    _add_targets(commands)
    _add_capture(commands)
    return parser


def _add_table(commands: Any) -> None:
    table = commands.add_parser(
        "table",
        help="print the cost table of a compiled module",
        description="Print a line for each instruction that does work, with its figures.",
    )
    table.add_argument("file", type=Path, help="HLO text, a dump, or a dump folder")
    table.add_argument("--target", metavar="NAME", help="what it was compiled for, such as v6e")
    table.add_argument(
        "--format",
        choices=("text", "csv", "json"),
        default="text",
        help="text shows the main columns; csv and json have all of them (default: text)",
    )
    table.set_defaults(run=_run_table)


def _add_svg(commands: Any) -> None:
    svg = commands.add_parser(
        "svg",
        help="draw a compiled module",
        description="Draw the graph of a compiled module, its fusions as boxes, as SVG.",
    )
    svg.add_argument("file", type=Path, help="HLO text, a dump, or a dump folder")
    svg.add_argument("--out", type=Path, help="file to write (default: standard output)")
    svg.add_argument(
        "--expand",
        action="append",
        default=[],
        metavar="NAME",
        help="open this fusion, loop or call; repeatable",
    )
    svg.add_argument(
        "--color-by", choices=("kind", "cycles", "memory"), default="kind", help="default: kind"
    )
    svg.set_defaults(run=_run_svg)


def _add_why(commands: Any) -> None:
    why = commands.add_parser(
        "why",
        help="say why two ops are not one kernel",
        description="Count what a compiler wrote down about fusion and what its passes did to "
        "fusions; or, with two ops, say why they are not one kernel.",
        epilog="A compile writes records into FOLDER with the flags xla_dump_to=FOLDER and "
        "xla_dump_fusion_visualization (TPU, CPU) or xla_dump_hlo_pass_re=.*fusion.* (GPU). "
        "compile_for(..., explain=True) in Python needs no folder.",
    )
    why.add_argument(
        "file", type=Path, help="a dump folder, a file of records, or HLO for what it alone tells"
    )
    why.add_argument("ops", nargs="*", default=[], metavar="OP", help="names of two ops, or none")
    why.add_argument(
        "--module", type=Path, metavar="FILE", help="the HLO that a single file of records is about"
    )
    why.set_defaults(run=_run_why, fail=why.error)


def _add_targets(commands: Any) -> None:
    targets = commands.add_parser(
        "targets",
        help="list what can be compiled for",
        description="List the targets, what is installed here to compile for each, and the pip "
        "line for what is missing.",
    )
    targets.set_defaults(run=_run_targets)


def _add_capture(commands: Any) -> None:
    capture = commands.add_parser(
        "capture",
        help="compile the example programs again",
        description="Compile the example programs and write their text, with a manifest of what "
        "made it and the figures in it, and a table of the MLP on every target.",
    )
    capture.add_argument(
        "--target",
        action="append",
        metavar="NAME",
        help="repeatable (default: those that the folder holds, else v5e and v6e)",
    )
    capture.add_argument(
        "--program", action="append", metavar="NAME", help="repeatable (default: all)"
    )
    capture.add_argument(
        "--out", type=Path, default=Path("captures"), help="folder to write to (default: captures)"
    )
    capture.set_defaults(run=_run_capture)


# Each command imports what it needs when it runs, so that --help and mistakes in arguments are
# quick.


def _run_table(options: argparse.Namespace) -> None:
    from hlo_widgets.compiler import find_target
    from hlo_widgets.hlo import read_hlo
    from hlo_widgets.tables import cost_table

    if options.target is not None:
        find_target(
            options.target
        )  # a name that nobody knows is an error, not a table without words
    table = cost_table(read_hlo(options.file), target=options.target)
    if options.format == "csv":
        _say(table.to_csv(index=False), end="")
    elif options.format == "json":
        rows = json.loads(table.to_json(orient="records"))
        print(json.dumps({**table.attrs, "table": rows}, indent=1))
    else:
        _say(_main_columns(table))
        _say(f"\n{table.attrs['module']}: {table.attrs['total']}")


_MAIN_COLUMNS = (
    "name",
    "fusion_kind",
    "root_opcode",
    "trip_count",
    "estimated_cycles",
    "cycles_share",
    "vmem_bytes",
    "bytes_in",
    "bytes_out",
    "op_name",
    "cost_source",
)


def _main_columns(table: Any) -> str:
    # A column in which nothing is known only takes room on a terminal.
    shown = table[list(_MAIN_COLUMNS)].dropna(axis="columns", how="all")
    if len(shown) == 0:
        return "no instruction does work"
    if "cycles_share" in shown:
        shares = shown["cycles_share"].astype(object).map("{:.1%}".format, na_action="ignore")
        shown = shown.assign(cycles_share=shares)
    text: str = shown.to_string(index=False, na_rep="", max_colwidth=48)
    return text


def _run_svg(options: argparse.Namespace) -> None:
    from hlo_widgets.api import render_svg

    svg = render_svg(options.file, expanded=options.expand, color_by=options.color_by)
    if options.out is None:
        _say(svg)
    else:
        options.out.write_text(svg, encoding="utf-8")


def _run_why(options: argparse.Namespace) -> None:
    from hlo_widgets.analysis.decisions import read_decisions
    from hlo_widgets.analysis.why import why_not_fused
    from hlo_widgets.api import as_module

    if not options.ops:
        try:
            log = read_decisions(options.file)
        except DecisionFileError as error:
            ask = "; of HLO alone, ask about two ops by name" if options.file.is_file() else ""
            raise DecisionFileError(error.path, error.reason + ask) from error
        _say("\n".join(_log_lines(log)))
        return
    if len(options.ops) != 2:
        options.fail(f"name two ops, or none, not {len(options.ops)}")
    try:
        log = read_decisions(options.file)
    except DecisionFileError:
        if options.module is not None:
            raise
        log = None  # it may be HLO, and the answer says that there is no record
    _say(str(why_not_fused(as_module(options.module or options.file), *options.ops, log)))


def _log_lines(log: DecisionLog) -> Iterator[str]:
    from hlo_widgets.analysis.why import explained_terms

    yield f"{len(log)} records: {_counted(log.by_verdict)}"
    yield f"in the final module: {_counted(log.by_exactness)}"
    if log.by_reason:
        yield "refused or ineligible, in the compiler's words (… is the name of an op):"
    for reason, count in log.by_reason.items():
        yield f"{count:6} {reason}"
    for term in explained_terms(log.by_reason):
        yield f"       [ours] {term}"
    for record in log.passes:
        if record.changes:
            yield f"pass {record.number}, {record.name}: {record.changes}"
    for words, count in log.unread.items():
        yield f"{count:6} not understood: {words}"
    yield from log.notes


def _counted(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "none"


def _run_targets(_: argparse.Namespace) -> None:
    from hlo_widgets.compiler import list_targets

    print(_TARGET_LINE.format("name", "platform", "device kind", "chips", "installed here"))
    for target in list_targets():
        found = target.availability
        here = ", ".join(f"{name} {version}" for name, version in found.installed.items())
        state = here if found.is_available else f"no: {found.install or found.reason}"
        line = (target.name, target.platform, target.device_kind, str(target.chips), state)
        print(_TARGET_LINE.format(*line))
    print(f"\n{_MORE_CHIPS}")


_TARGET_LINE = "{:<12}{:<10}{:<31}{:<7}{}"
_MORE_CHIPS = (
    "More chips: v5e:4x4, v5p:4x4x4 (chips of a TPU), h100:8 (GPUs of a host), h100:2x8 (hosts by "
    "GPUs of each)."
)


def _run_capture(options: argparse.Namespace) -> None:
    from hlo_widgets import captures

    for program in options.program or captures.program_names():
        for target in options.target or captures.targets_of(program, options.out):
            try:
                text, entry = captures.capture(program, target)
            except TargetUnavailableError as error:
                if options.target:
                    raise
                # Nobody asked for this one by name: what is there stays.
                print(f"{program} for {target} is left as it is: {error.reason}", flush=True)
                continue
            captures.write_capture(options.out, text, entry)
            rows = f"{entry['known_rows']} of {entry['rows']} rows with an estimate"
            print(f"{options.out / entry['file']}: {rows}", flush=True)
            for note in entry["notes"]:
                print(f"  {note}", flush=True)
    overview = captures.write_overview(options.out)
    if overview is not None:
        print(overview, flush=True)
