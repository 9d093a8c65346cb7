"""From text to modules."""

from __future__ import annotations

import re

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo.attributes import ATTRIBUTE_NAME
from hlo_widgets.hlo.builder import ModuleBuilder
from hlo_widgets.hlo.collection import collection_held_back
from hlo_widgets.hlo.damage import looks_wrapped, mend
from hlo_widgets.hlo.lines import LineReader
from hlo_widgets.hlo.module import HloModule
from hlo_widgets.hlo.scanner import GAP, NAME, parse_error, scan_value, shorten, skip_space

_MODULE = re.compile(rf"HloModule(?=[\s/]){GAP}")
_MLIR = re.compile(
    r"^[ \t]*+(?:module\s++(?:@|attributes|\{)|func\.func\b|\"?builtin\.module|#loc"
    r"|%\S++ = \"?(?:stablehlo|mhlo|chlo)\.)",
    re.MULTILINE,
)
_MLIR_REASON = (
    "this is MLIR (StableHLO), the input of the compiler, not HLO; compile it, or take the HLO"
    " text of jax.jit(f).lower(...).compile().as_text()"
)


def parse_hlo_module(text: str) -> HloModule:
    """Read the text of one HLO module.

    Args:
        text: What a compiler printed or a person wrote; header, source tables and attributes may
            be missing.

    Returns:
        The module. Shapes, attributes, metadata and backend configs are read when first asked for.
        Its `warnings` say what was mended; of a text with several modules it is the first.

    Raises:
        HloParseError: The text is not HLO.
    """
    modules, more = _parse(text, only_first=True)
    if more:
        modules[0].warn("the text holds more than one module; this is the first of them")
    return modules[0]


def parse_hlo_modules(text: str) -> tuple[HloModule, ...]:
    """Read a text that holds one HLO module after another.

    Each module's `text` is its own part, and its lines are counted in that part.

    Raises:
        HloParseError: A part is not HLO; the place is that in the whole text.
    """
    return tuple(_parse(text, only_first=False)[0])


def _parse(text: str, only_first: bool) -> tuple[list[HloModule], bool]:
    with collection_held_back():
        return _parse_mended(text, only_first)


def _parse_mended(text: str, only_first: bool) -> tuple[list[HloModule], bool]:
    """Read text as it is or, where that fails or looks odd, with its wrapped lines joined."""
    source, mended = mend(text)
    failure: HloParseError | None = None
    try:
        modules, more = _read_all(text, source, mended, only_first)
        # Only text that the fast path could not read can be wrapped, and few texts are.
        if not any(module.spans for module in modules) or not looks_wrapped(source):
            return modules, more
    except HloParseError as error:
        if _MLIR.search(source):
            raise parse_error(source, skip_space(source, 0), _MLIR_REASON) from None
        failure = error
    again, mended = mend(text, unwrap=True)
    if again != source:
        try:
            return _read_all(text, again, mended, only_first)
        except HloParseError:
            pass
    if failure is not None:
        raise failure
    return modules, more


def _read_all(
    text: str, source: str, mended: list[str], only_first: bool
) -> tuple[list[HloModule], bool]:
    module, end = _read(text, source, mended)
    modules = [module]
    position = end
    if only_first or not source[end:].strip():
        return modules, bool(source[end:].strip())
    module.text = module.source = source[:end]
    while source[position:].strip():
        part = source[position:]
        try:
            module, end = _read(part, part, mended)
        except HloParseError as error:
            line = error.line + source.count("\n", 0, position)
            raise HloParseError(
                error.reason, line, error.column, error.excerpt, error.caret
            ) from None
        module.text = module.source = part[:end]
        modules.append(module)
        position += end
    return modules, False


def _read(text: str, source: str, mended: list[str]) -> tuple[HloModule, int]:
    module = HloModule(text, source)
    builder = ModuleBuilder(module)
    for note in mended:
        builder.warn(note)
    reader = LineReader(builder)
    end = reader.read(_read_header(module, 0))
    if not builder.computations and not module.name and end < len(source):
        # There were only words before the module.
        end = reader.read(_read_header(module, end))
    if not builder.computations:
        raise _no_computation(source, reader.grammar.first_error)
    return builder.finish(), end


def _read_header(module: HloModule, start: int) -> int:
    """Read `HloModule name, attributes`; return the position after it."""
    source = module.source
    header = _MODULE.match(source, skip_space(source, start))
    if header is None:
        return start
    name = NAME.match(source, header.end())
    if name is None:
        raise parse_error(source, header.end(), "expected the name of the module")
    module.name = name[1]
    first = position = name.end()
    while True:
        comma = skip_space(source, position)
        if not source.startswith(",", comma):
            break
        key = ATTRIBUTE_NAME.match(source, skip_space(source, comma + 1))
        if key is None:
            raise parse_error(source, comma + 1, "expected an attribute of the module after ','")
        end = scan_value(source, skip_space(source, key.end()))
        if end < 0:
            raise parse_error(
                source, key.start(), f"the value of {shorten(key[1])!r} is never closed"
            )
        position = end
    module.header = source[first:position]
    return position


def _no_computation(source: str, first_error: HloParseError | None) -> HloParseError:
    if first_error is not None:
        return first_error
    what = "this module has no computation" if "HloModule" in source else "this text is empty"
    return parse_error(source, skip_space(source, 0), what)
