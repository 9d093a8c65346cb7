"""What an Explorer's function is compiled with: arguments, target and flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hlo_widgets.compiler import (
    Call,
    CallArguments,
    CompilationResult,
    compile_call,
    find_target,
    plain_flags,
)

__all__ = ["Source", "Variant", "flag_texts"]


@dataclass(frozen=True)
class Source:
    """The function of an Explorer, and what stays the same in all its variants.

    Attributes:
        fun: The function.
        mesh: As `compile_for` takes it.
        in_shardings: As `compile_for` takes it.
        out_shardings: As `compile_for` takes it.
        explain: Whether fusion decisions are asked for.
    """

    fun: Callable[..., Any]
    mesh: Any = None
    in_shardings: Any = None
    out_shardings: Any = None
    explain: bool = False


@dataclass(frozen=True)
class Variant:
    """One way to compile a function.

    Attributes:
        source: The function.
        arguments: Its arguments.
        target: The name of what it is compiled for.
        flags: Compiler options beyond the defaults.
    """

    source: Source
    arguments: CallArguments = field(repr=False)
    target: str
    flags: Mapping[str, bool | int | float | str] = field(default_factory=dict)

    @classmethod
    def of_call(
        cls,
        source: Source,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        target: str,
        flags: Mapping[str, Any] | None = None,
    ) -> Variant:
        """Return the variant of a call; arguments as `compile_for`.

        Raises:
            UnknownTargetError: There is no such target.
            NotCompilableError: A flag is not a name with a plain value.
        """
        arguments = CallArguments.of_call(source.fun, args, kwargs)
        return cls(source, arguments, find_target(target).name, plain_flags(flags))

    def compile(self, *, refresh: bool = False) -> CompilationResult:
        """Compile it; raises as `compile_for`."""
        args, kwargs = self.arguments.call
        source = self.source
        call = Call(
            source.fun, args, kwargs, source.mesh, source.in_shardings, source.out_shardings
        )
        return compile_call(call, self.target, self.flags, explain=source.explain, refresh=refresh)

    def with_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Variant:
        """Return the variant with other arguments.

        Args:
            args: All positional ones; empty leaves those of before.
            kwargs: Keyword arguments to set; the others stay.
        """
        old_args, old_kwargs = self.arguments.call
        arguments = CallArguments.of_call(
            self.source.fun, args or old_args, {**old_kwargs, **kwargs}
        )
        return replace(self, arguments=arguments)

    def with_argument(self, index: int, text: str) -> Variant:
        """Return the variant with another argument; raises as `CallArguments.changed`."""
        return replace(self, arguments=self.arguments.changed(index, text))

    def with_target(self, target: str) -> Variant:
        """Return the variant for another target; raises as `find_target`."""
        return replace(self, target=find_target(target).name)

    def with_flags(self, flags: Mapping[str, Any]) -> Variant:
        """Return the variant with these flags alone; raises as `of_call`."""
        return replace(self, flags=plain_flags(flags))

    def with_flag(self, name: str, value: bool | float | str | None) -> Variant:
        """Return the variant with a flag set, or left at its default by `None`."""
        flags = {known: kept for known, kept in self.flags.items() if known != name}
        return replace(self, flags=flags if value is None else {**flags, name: value})

    def is_same(self, other: Variant) -> bool:
        """Whether both read the same, and hold the same where words do not tell."""
        return (
            self.target == other.target
            and flag_texts(self.flags) == flag_texts(other.flags)
            and self.arguments.is_like(other.arguments)
        )

    def changes_from(self, other: Variant) -> list[str]:
        """Say what is another than in another variant: arguments and flags, not the target."""
        before = {argument.label: argument.text for argument in other.arguments.arguments}
        changed = [
            f"{argument.label} = {argument.text}"
            for argument in self.arguments.arguments
            if before.get(argument.label) != argument.text
        ]
        mine, theirs = flag_texts(self.flags), flag_texts(other.flags)
        changed += [f"{name}={value}" for name, value in mine.items() if theirs.get(name) != value]
        return changed + [f"{name} unset" for name in theirs if name not in mine]


def flag_texts(flags: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of flags as XLA writes them: `true` for a truth, all else as it is."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in flags.items()
    }
