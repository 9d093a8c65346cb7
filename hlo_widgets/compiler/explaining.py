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

__all__ = ["EXPLAIN_FLAGS", "ExplainingToolchain"]

EXPLAIN_FLAGS = {
    "xla_dump_hlo_pass_re": ".*",
    "xla_dump_hlo_as_text": True,
    "xla_dump_fusion_visualization": True,
}
"""What makes every compiler dump its decisions and the modules around its passes."""

_MODULE = re.compile(r"\s*HloModule ([^\s,]+)")


class ExplainingToolchain(Toolchain):
    """A toolchain that returns the compiler's records along with the text.

    A TPU compiler's log is part of them; the variables that make it talk are set when the worker
    starts.
    """

    def __init__(self, platform: str) -> None:
        super().__init__(platform)
        self._folder = ExplainFolder()
        self._records: tuple[Mapping[str, bytes], int] = {}, 0

    def compile(self, request: Request, content: bytes) -> CompiledText:
        """Compile a program, and pack what the compiler dumped meanwhile; as `Toolchain`."""
        compiled = super().compile(request, content)
        (files, left_out), self._records = self._records, ({}, 0)
        return replace(compiled, records=pack_records(files), records_left_out=left_out)

    def _compile(self, request: Request, content: bytes, flags: Mapping[str, Any]) -> Made:
        with self._folder.request() as folder:
            flags = {**flags, **EXPLAIN_FLAGS, "xla_dump_to": str(folder)}
            made = super()._compile(request, content, flags)
            name = _MODULE.match(made.hlo_text)
            self._records = collect_records(folder, name[1] if name else "")
        return made
