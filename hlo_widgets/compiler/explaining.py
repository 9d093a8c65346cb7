"""A toolchain whose compilers write down what they decide about fusion, inside a worker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hlo_widgets.compiler.explain_folder import ExplainFolder
from hlo_widgets.compiler.explain_records import collect_records, pack_records
from hlo_widgets.compiler.lowered import Made
from hlo_widgets.compiler.toolchains import CompiledText, Request, Toolchain

__all__ = ["ExplainingToolchain"]

# The modules around every pass, and what a GPU compiler says of its queue. A TPU compiler's log is
# written meanwhile.
_PASSES = {"xla_dump_hlo_pass_re": ".*", "xla_dump_hlo_as_text": True}
# Each module that is dumped draws all pictures so far once more. Together with the passes a compile
# of two seconds took twenty; apart from them the pictures take two.
_PICTURES = {"xla_dump_fusion_visualization": True, "xla_dump_hlo_as_text": True}
# The time for drawing grows faster than the text, and tells little that a TPU compiler's log
# or a GPU compiler's queue does not. Arbitrary: a train step of 16 layers has 320 kB and takes ten
# seconds.
_MOST_DRAWN = 512 * 1024
_MODULE = re.compile(r"\s*HloModule ([^\s,]+)")


class ExplainingToolchain(Toolchain):
    """A toolchain that returns the compiler's records along with the text.

    A TPU compiler's log is part of them; the variables that make it talk are set when the worker
    starts.
    """

    def __init__(self, platform: str) -> None:
        super().__init__(platform)
        self._folder = ExplainFolder()
        self._records: dict[str, bytes] = {}
        self._notes: tuple[str, ...] = ()

    def compile(self, request: Request, content: bytes) -> CompiledText:
        """Compile a program, and pack what the compiler dumped meanwhile; as `Toolchain`."""
        compiled = super().compile(request, content)
        records, self._records = self._records, {}
        return replace(compiled, records=pack_records(records), notes=self._notes)

    def _compile(self, request: Request, content: bytes, flags: Mapping[str, Any]) -> Made:
        with self._folder.request() as folder:
            dumps = {**flags, **_PASSES, "xla_dump_to": str(folder)}
            made = super()._compile(request, content, dumps)
            named = _MODULE.match(made.hlo_text)
            self._records, left_out = collect_records(folder, named[1] if named else "")
        self._notes = ()
        if left_out:
            self._notes = (f"{left_out} files of the compiler's records were too much to be sent",)
        # A CPU compiler writes nothing else.
        if self.platform == "cpu" or len(made.hlo_text) <= _MOST_DRAWN:
            self._draw(request, content, flags)
        else:
            self._notes += ("the program is large: its fusion visualisation was not asked for",)
        return made

    def _draw(self, request: Request, content: bytes, flags: Mapping[str, Any]) -> None:
        """Compile once more for the captions of the compiler's pictures, and for its log.

        A TPU compiler's log names the two ops and the reason of a refusal only where it draws.
        """
        from jax.errors import JaxRuntimeError

        try:
            with self._folder.request() as folder:
                dumps = {**flags, **_PICTURES, "xla_dump_to": str(folder)}
                super()._compile(request, content, dumps)
                records = collect_records(folder)[0]
        except JaxRuntimeError as error:
            self._notes += (f"the compiler made no fusion visualisation: {error}"[:200],)
            return
        # The log under the same name is the better one.
        self._records |= records
