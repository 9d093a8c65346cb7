"""Every error that hlo_widgets raises on purpose.

The tree, with the built-in that each error can also be caught as::

    HloWidgetsError
    ├── HloParseError (ValueError)            text that is not HLO, with the place
    ├── HloFileError (ValueError)             a file or folder that cannot be read as HLO, and why
    ├── DecisionFileError (ValueError)        a file with no fusion decisions to read, and why
    ├── HloLookupError (KeyError)             no such instruction or computation
    ├── UnknownCaptureError (KeyError)        a capture that this package does not carry
    ├── UnknownTargetError (ValueError)       a target name nobody knows
    ├── TargetUnavailableError (RuntimeError) a known target whose compiler is not installed here
    ├── CompileError (RuntimeError)           the compiler refused or died
    │   ├── CompileTimeoutError (TimeoutError)
    │   └── CompileCancelledError             it was called off, or overtaken by a newer one
    ├── SpecError (ValueError)                a shape such as "bf16[1024,512]" that cannot be read
    ├── NotCompilableError (TypeError)        neither HLO nor a function with arguments
    └── DrawingError (RuntimeError)           the layout program failed

Facts are attributes; the message is built from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "CompileCancelledError",
    "CompileError",
    "CompileTimeoutError",
    "DecisionFileError",
    "DrawingError",
    "HloFileError",
    "HloLookupError",
    "HloParseError",
    "HloWidgetsError",
    "NotCompilableError",
    "SpecError",
    "TargetUnavailableError",
    "UnknownCaptureError",
    "UnknownTargetError",
]


def _did_you_mean(suggestions: Sequence[str]) -> str:
    return f" Did you mean {' or '.join(map(repr, suggestions))}?" if suggestions else ""


class HloWidgetsError(Exception):
    """The base of every error that this package raises on purpose."""


class HloParseError(HloWidgetsError, ValueError):
    """Text that cannot be read as HLO.

    Attributes:
        reason: What is wrong and, where one is known, what to do.
        line: Line of the text, from 1.
        column: Column in that line, from 1, in characters.
        excerpt: A window of that line around the column, never the whole text.
        caret: Position of the column inside `excerpt`, from 0.
    """

    def __init__(self, reason: str, line: int, column: int, excerpt: str, caret: int = 0) -> None:
        super().__init__(reason, line, column, excerpt, caret)
        self.reason = reason
        self.line = line
        self.column = column
        self.excerpt = excerpt
        self.caret = caret

    def __str__(self) -> str:
        message = f"line {self.line}, column {self.column}: {self.reason}"
        if self.excerpt:
            message += f"\n  {self.excerpt}\n  {' ' * self.caret}^"
        return message


class HloFileError(HloWidgetsError, ValueError):
    """A file or folder that holds no HLO that can be read here.

    Attributes:
        path: The file or folder.
        reason: Why it cannot be read and what to do.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot read {self.path}: {self.reason}"


class DecisionFileError(HloWidgetsError, ValueError):
    """A file or folder from which no fusion decisions can be read, or that is not safe to read.

    Attributes:
        path: The file or folder.
        reason: What is wrong with it and, where one is known, what to do.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot read fusion decisions from {self.path}: {self.reason}"


class HloLookupError(HloWidgetsError, KeyError):
    """A module has no instruction or computation of that name.

    Attributes:
        kind: "instruction" or "computation".
        name: The name that was asked for.
        suggestions: Names that are spelled nearly the same, best first.
        hint: What is known of the name, and what to do; "" for nothing.
    """

    def __init__(
        self, kind: str, name: str, suggestions: Sequence[str] = (), hint: str = ""
    ) -> None:
        super().__init__(kind, name, tuple(suggestions), hint)
        self.kind = kind
        self.name = name
        self.suggestions = tuple(suggestions)
        self.hint = hint

    def __str__(self) -> str:
        words = f"this module has no {self.kind} {self.name!r}.{_did_you_mean(self.suggestions)}"
        return f"{words} {self.hint}".rstrip()


class _UnknownNameError(HloWidgetsError):
    """A name that is not in a list of known ones.

    Attributes:
        name: What was asked for.
        known: Everything that would have been accepted.
        suggestions: Accepted names spelled nearly the same, best first.
        hint: What to write, where a part of the name is known; then the list is not told.
    """

    _wrong = "unknown name {name!r}."
    _known = "Known"

    def __init__(
        self, name: str, known: Sequence[str], suggestions: Sequence[str] = (), hint: str = ""
    ) -> None:
        super().__init__(name, tuple(known), tuple(suggestions), hint)
        self.name = name
        self.known = tuple(known)
        self.suggestions = tuple(suggestions)
        self.hint = hint

    def __str__(self) -> str:
        wrong = self._wrong.format(name=self.name)
        rest = self.hint or f"{self._known}: {', '.join(self.known)}."
        return f"{wrong}{_did_you_mean(self.suggestions)} {rest}"


class UnknownCaptureError(_UnknownNameError, KeyError):
    """A program, or a program and target, that `captures/` does not hold.

    Attributes:
        name: What was asked for.
        known: Everything that would have been accepted.
        suggestions: Accepted names spelled nearly the same, best first.
    """

    _wrong = "there is no capture of {name!r}."


class UnknownTargetError(_UnknownNameError, ValueError):
    """A compile target that this package does not know.

    Attributes:
        name: The name that was asked for.
        known: Every name that would have been accepted.
        suggestions: Accepted names spelled nearly the same, best first.
        hint: Which numbers of chips can be written, where the hardware is known.
    """

    _wrong = "unknown target {name!r}."
    _known = "Known targets"


class TargetUnavailableError(HloWidgetsError, RuntimeError):
    """A known target whose compiler cannot be used on this machine.

    Attributes:
        target: The name of the target.
        reason: Why it cannot be used.
        remedy: What to do, with the exact command where there is one.
    """

    def __init__(self, target: str, reason: str, remedy: str) -> None:
        super().__init__(target, reason, remedy)
        self.target = target
        self.reason = reason
        self.remedy = remedy

    def __str__(self) -> str:
        return f"cannot compile for {self.target!r}: {self.reason}. {self.remedy}"


class CompileError(HloWidgetsError, RuntimeError):
    """The compiler refused the program, or its process died.

    Attributes:
        target: The name of the target.
        reason: The compiler's own words, or what happened to its process.
        log: The end of the compiler process's log; empty where it wrote none.
        memory_report: What the compiler said about a memory that was too small, read: a
            `hlo_widgets.analysis.MemoryReport`. `None` where the error is about something else.
    """

    def __init__(self, target: str, reason: str, log: str = "", memory_report: Any = None) -> None:
        super().__init__(target, reason, log)
        self.target = target
        self.reason = reason
        self.log = log
        self.memory_report = memory_report

    def __str__(self) -> str:
        words = self.reason
        if self.memory_report is not None:
            words = f"{self.memory_report}\n\nThe compiler's own words:\n{words}"
        message = f"compiling for {self.target!r} failed: {words}"
        if self.log:
            message += f"\nEnd of the compiler's log:\n{self.log}"
        return message


class CompileCancelledError(CompileError):
    """The compile was called off, or a newer one under the same key has overtaken it.

    Nothing is wrong with the program.
    """

    def __str__(self) -> str:
        return f"compiling for {self.target!r} was given up: {self.reason}"


class CompileTimeoutError(CompileError, TimeoutError):
    """The compiler did not answer within its time limit and was ended."""


class SpecError(HloWidgetsError, ValueError):
    """A shape in text, such as "bf16[1024,512]", that cannot be read.

    Attributes:
        text: The text that was given.
        reason: What is wrong with it.
    """

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text, reason)
        self.text = text
        self.reason = reason

    def __str__(self) -> str:
        return (
            f'cannot read {self.text!r} as a shape: {self.reason}. Write it like "bf16[1024,512]".'
        )


class NotCompilableError(HloWidgetsError, TypeError):
    """Something was given that is neither HLO nor a function with its arguments.

    Attributes:
        reason: What was given and what would be accepted.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DrawingError(HloWidgetsError, RuntimeError):
    """The program that lays out the graph failed, is missing or ran too long.

    Attributes:
        program: The program that was run.
        reason: What happened.
        stderr: The end of what the program wrote to its standard error.
    """

    def __init__(self, program: str, reason: str, stderr: str = "") -> None:
        super().__init__(program, reason, stderr)
        self.program = program
        self.reason = reason
        self.stderr = stderr

    def __str__(self) -> str:
        message = f"{self.program}: {self.reason}"
        if self.stderr:
            message += f"\n{self.stderr}"
        return message
