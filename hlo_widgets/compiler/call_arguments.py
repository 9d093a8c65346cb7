"""The arguments of a call, one by one and in text, so that each can be changed."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from hlo_widgets.compiler.spec_text import spec
from hlo_widgets.compiler.specs import spec_of, xla_name
from hlo_widgets.errors import NotCompilableError

__all__ = ["Argument", "ArgumentKind", "CallArguments"]

# Longer words for what cannot be edited help nobody. Arbitrary.
_MOST_CHARACTERS = 60
_UNREADABLE = object()


class ArgumentKind(StrEnum):
    """How an argument is written."""

    ARRAY = "array"
    """As a shape, such as `bf16[1024,512]`."""

    LITERAL = "literal"
    """As a Python literal, such as `3`, `'relu'` or `(1, 2)`; static arguments mostly are."""

    FIXED = "fixed"
    """As what it is called; another one cannot be written."""

    __repr__ = str.__repr__


@dataclass(frozen=True)
class Argument:
    """An array or a plain value among the arguments of a call.

    Attributes:
        label: The name of the parameter with the way into it, such as `params['w1']`.
        kind: How it is written.
        text: It, in words; what the user edits.
        dimensions: The sizes of an array; empty for a scalar and for what is none.
    """

    label: str
    kind: ArgumentKind
    text: str
    dimensions: tuple[int, ...] = ()


@dataclass(frozen=True)
class CallArguments:
    """The arguments of a call as a list; changing one gives another list.

    Attributes:
        arguments: In the order of the call: arrays, each of a pytree, and other values.
    """

    arguments: tuple[Argument, ...]
    _values: tuple[Any, ...] = field(repr=False)
    _rebuild: Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]] = field(repr=False)

    @classmethod
    def of_call(
        cls, fun: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> CallArguments:
        """List the arguments of `fun(*args, **kwargs)`."""
        import jax

        names = [*_positional_names(fun, len(args)), *kwargs]
        arguments: list[Argument] = []
        values: list[Any] = []
        trees = []
        for name, value in zip(names, (*args, *kwargs.values()), strict=True):
            paths, tree = jax.tree_util.tree_flatten_with_path(value)
            if not any(_is_array(leaf) for _, leaf in paths):
                # A plain value is edited as a whole, be it a number or a tuple of sizes.
                paths, tree = [((), value)], None
            trees.append((tree, len(paths)))
            for path, leaf in paths:
                arguments.append(_argument(f"{name}{jax.tree_util.keystr(path)}", leaf))
                values.append(leaf)

        def rebuild(leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
            built = list(_built(trees, leaves))
            return tuple(built[: len(args)]), dict(zip(kwargs, built[len(args) :], strict=True))

        return cls(tuple(arguments), tuple(values), rebuild)

    @property
    def call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments, each as it was given or last changed."""
        return self._rebuild(self._values)

    def changed(self, index: int, text: str) -> CallArguments:
        """Return the arguments with one of them written anew.

        Args:
            index: Which of `arguments`.
            text: The new one, as its kind is written.

        Raises:
            SpecError: If it should be a shape and is none.
            NotCompilableError: If it should be a Python literal and is none, or cannot be written.
        """
        argument = self.arguments[index]
        value = _read(argument, self._values[index], text)
        values = [*self._values]
        arguments = [*self.arguments]
        values[index] = value
        arguments[index] = _argument(argument.label, value)
        return replace(self, arguments=tuple(arguments), _values=tuple(values))

    def is_like(self, other: CallArguments) -> bool:
        """Whether another list reads the same; what has no text of its own has to be the same."""
        if self.arguments != other.arguments:
            return False
        pairs = zip(self.arguments, self._values, other._values, strict=True)
        return all(a is b for argument, a, b in pairs if argument.kind is ArgumentKind.FIXED)


def _built(trees: Sequence[tuple[Any, int]], leaves: Sequence[Any]) -> Iterator[Any]:
    import jax

    start = 0
    for tree, count in trees:
        mine = leaves[start : start + count]
        start += count
        yield mine[0] if tree is None else jax.tree_util.tree_unflatten(tree, mine)


def _positional_names(fun: Callable[..., Any], count: int) -> list[str]:
    """Name each positional argument by its parameter."""
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):  # what is written in C may have none
        parameters = []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [one.name for one in parameters if one.kind in plain][:count]
    rest = next((one.name for one in parameters if one.kind == one.VAR_POSITIONAL), "argument ")
    more = range(count - len(names))
    named = [f"{rest}[{n}]" if not rest.endswith(" ") else f"{rest}{len(names) + n}" for n in more]
    return names + named


def _is_array(leaf: Any) -> bool:
    # Somebody's own object may have attributes of these names.
    shape = getattr(leaf, "shape", None)
    return isinstance(shape, tuple) and getattr(leaf, "dtype", None) is not None


def _argument(label: str, value: Any) -> Argument:
    if _is_array(value):
        name = xla_name(value.dtype)
        dimensions = tuple(value.shape)
        kind = ArgumentKind.FIXED if name is None else ArgumentKind.ARRAY
        text = f"{name or value.dtype}[{','.join(map(str, dimensions))}]"
        return Argument(label, kind, text, () if name is None else dimensions)
    words = _words(value)
    if words is not None and _is_literal(value, words):
        return Argument(label, ArgumentKind.LITERAL, words)
    name = getattr(value, "__name__", words or type(value).__name__)
    return Argument(label, ArgumentKind.FIXED, _short(name))


def _words(value: Any) -> str | None:
    """Return the words for a value; `None` where it has none."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - the user's own code, and numbers of 4,300 digits
        return None


def _is_literal(value: Any, words: str) -> bool:
    try:
        again = ast.literal_eval(words)
        return type(again) is type(value) and bool(again == value)
    except Exception:  # noqa: BLE001 - the parser has many, and == may be the user's own code
        return False


def _read(argument: Argument, value: Any, text: str) -> Any:
    if argument.kind is ArgumentKind.FIXED:
        raise NotCompilableError(f"{argument.label} cannot be written here: change it in the cell")
    if argument.kind is ArgumentKind.ARRAY:
        return spec_of(value, spec(text))
    try:
        read = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        read = _UNREADABLE
    words = _words(read)
    # What cannot be written again could not be changed again either, such as 1e999.
    if words is None or not _is_literal(read, words):
        raise NotCompilableError(
            f"{argument.label}: cannot read {_short(repr(text))} as a Python value. "
            "Write it like 3, True, 'relu' or (1, 2)."
        )
    return read


def _short(words: str) -> str:
    return words if len(words) <= _MOST_CHARACTERS else words[: _MOST_CHARACTERS - 1] + "…"
