"""The values of a program from pass to pass, and of what a compiler quotes between two passes."""

from __future__ import annotations

from hlo_widgets.analysis.decisions.log import DecisionSource
from hlo_widgets.analysis.decisions.values.module import ModuleValues, is_applied, number_module
from hlo_widgets.analysis.decisions.values.numbering import ValueNumbering
from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloModule, parse_hlo_module

__all__ = ["ChainValues"]

_ENTRY = "ENTRY %quoted () -> () {{\n{}\n}}"


class ChainValues:
    """The values of a program from pass to pass."""

    def __init__(self) -> None:
        self._numbering = ValueNumbering()
        self._modules: list[ModuleValues] = []
        self._numbers: dict[str, int] = {}
        self._applied: dict[str, str] = {}

    def add(self, module: HloModule) -> ModuleValues:
        """Number the values of the module after the next pass."""
        values = number_module(module, self._modules[-1] if self._modules else self._numbering)
        self._modules.append(values)
        self._numbers = {**values.numbers, **self._numbers}
        for computation in module.computations:
            if computation.name not in self._applied and is_applied(computation):
                self._applied[computation.name] = computation.to_string(metadata=False)
        return values

    def homes_of_quoted(self, source: DecisionSource) -> dict[str, tuple[str, ...]]:
        """Find who computes the values of ops that stand in no module, only in a compiler's words.

        Compilers make fusions, grow them and drop them again within one pass.

        Returns:
            The ops that compute the value after the first pass that has one, by name; without those
            whose value nobody computes.
        """
        texts = {n: text for n, text in source.texts.items() if n not in self._numbers}
        if not texts or not self._modules:
            return {}
        fusions = [fusion for name, fusion in source.fusions.items() if name in texts]
        texts |= {n: fusion.text for n, fusion in source.fusions.items() if n in texts}
        whole = [text for text in texts.values() if _can_be_read(_ENTRY.format(text))]
        bodies = [fusion.body for fusion in fusions if _can_be_read(fusion.body)]
        entry = _ENTRY.format("\n".join(whole))
        parts = ("HloModule quoted", *self._applied.values(), *bodies, entry)
        try:
            quoted = parse_hlo_module("\n".join(parts))
        except HloParseError:
            return {}
        values = number_module(quoted, ModuleValues(self._numbering, self._numbers))
        numbers = {name: number for name in texts if (number := values.of(name)) is not None}
        homes = {name: self._homes_of(number) for name, number in numbers.items()}
        return {name: found for name, found in homes.items() if found}

    def _homes_of(self, number: int) -> tuple[str, ...]:
        """Return who computes a value after the first pass after which anybody does."""
        found = (values.computing(number) for values in self._modules)
        return next((homes for homes in found if homes), ())


def _can_be_read(text: str) -> bool:
    """Return whether a quote is whole: one that is cut would take all others with it."""
    try:
        parse_hlo_module(text)
    except HloParseError:
        return False
    return True
