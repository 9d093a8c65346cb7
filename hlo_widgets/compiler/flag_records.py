"""What a compiler says of its own flags, read as name, value, type and help; standard library only.

A TPU's compiler dumps its flags as `--name=value` lines. XLA itself prints the options of a program
as a text-format message, and its usage with `--help`, which gives types and words but ends where
the log's buffer does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["CompilerFlag", "merge_flags", "read_flagfile", "read_options", "read_usage"]

_FLAGFILE = re.compile(r"^--(?P<name>\w+)=(?P<value>.*)$", re.MULTILINE)
_OPTION = re.compile(r"^(?P<name>\w+): (?P<value>.*)$", re.MULTILINE)
_USAGE = re.compile(
    r"^\t--(?P<name>\w+)=(?P<value>[^\t\n]*?) *\t(?P<kind>\w+)\t(?P<help>[^\n]*)\n", re.MULTILINE
)
_WHOLE = re.compile(r"[+-]?\d+")
_REAL = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+|inf|nan)")
_WORD = re.compile(r"[A-Z][A-Z0-9_]*|auto")


@dataclass(frozen=True)
class CompilerFlag:
    """A flag of a compiler.

    Attributes:
        name: Its name, as `flags` of `compile_for` takes it.
        value: Its value now, as the compiler writes it.
        kind: "bool", "int", "float", "string" or "choice" (one of some words that the compiler
            does not list); as the compiler says, else judged by the value.
        help: What it is for, in the compiler's words; empty where it has none.
    """

    name: str
    value: str
    kind: str
    help: str = ""


def read_flagfile(text: str) -> dict[str, CompilerFlag]:
    """Read lines such as `--xla_tpu_enable_copy_fusion=true`."""
    return _flags(
        (match["name"], match["value"].strip("'\"")) for match in _FLAGFILE.finditer(text)
    )


def read_options(text: str) -> dict[str, CompilerFlag]:
    """Read the lines of a text-format message such as `xla_cpu_enable_fast_math: false`.

    Of a field that stands more than once the values are joined by commas; messages in it are left
    out.
    """
    values: dict[str, list[str]] = {}
    for match in _OPTION.finditer(text):
        values.setdefault(match["name"], []).append(match["value"].strip().strip('"'))
    return _flags((name, ",".join(found)) for name, found in values.items())


def read_usage(text: str) -> dict[str, CompilerFlag]:
    """Read what XLA prints for `--help`; a last line that is cut short is left out."""
    kinds = {"int32": "int", "int64": "int", "double": "float"}
    return {
        match["name"]: CompilerFlag(
            match["name"],
            match["value"].strip('"'),
            kinds.get(match["kind"], match["kind"]),
            match["help"].strip(),
        )
        for match in _USAGE.finditer(text)
    }


def merge_flags(listed: Iterable[Mapping[str, CompilerFlag]]) -> list[CompilerFlag]:
    """Join lists of the same flags, in the order of their names.

    Args:
        listed: The value is taken from the first that has the flag; type and help from the last
            that has help.
    """
    merged: dict[str, CompilerFlag] = {}
    for flags in listed:
        for name, flag in flags.items():
            known = merged.get(name)
            if known is None:
                merged[name] = flag
            elif flag.help:
                merged[name] = CompilerFlag(name, known.value, flag.kind, flag.help)
    return [merged[name] for name in sorted(merged)]


def _flags(pairs: Iterable[tuple[str, str]]) -> dict[str, CompilerFlag]:
    return {name: CompilerFlag(name, value, _kind(value)) for name, value in pairs}


def _kind(value: str) -> str:
    if value in {"true", "false"}:
        return "bool"
    if _WHOLE.fullmatch(value):
        return "int"
    if _REAL.fullmatch(value):
        return "float"
    return "choice" if _WORD.fullmatch(value) else "string"
