"""A toolchain whose compilers write down what they decide about fusion, inside a worker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hlo_widgets.compiler.explain_folder import ExplainFolder, has_room
from hlo_widgets.compiler.explain_records import collect_records, pack_records
from hlo_widgets.compiler.lowered import Made
from hlo_widgets.compiler.toolchains import Request, Toolchain

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
_NOT_DRAWN = "the program is large: its fusion visualisation was not asked for, which takes minutes"
_WITHOUT_IT = {
    "tpu": "; the compiler's log has every refusal without it, but not every fusion",
    "cuda": "; the compiler's queue has every fusion without it, but not every refusal",
}
_NO_ROOM = (
    "the folder for temporary files is full: the compiler's records may be cut, and what they do"
    " not tell is not known; make room, or name another folder in TMPDIR, and compile again"
)
_MODULE = re.compile(r"\s*HloModule ([^\s,]+)")


class ExplainingToolchain(Toolchain):
    """A toolchain that returns the compiler's records along with the text.

    A TPU compiler's log is part of them; the variables that make it talk are set when the worker
    starts. Its log names the two ops and the reason of a refusal only where it draws, which is a
    request of its own: whatever becomes of that, the text is on its way.
    """

    def __init__(self, platform: str) -> None:
        super().__init__(platform)
        self._folder = ExplainFolder()

    def _compile(self, request: Request, content: bytes, flags: Mapping[str, Any]) -> Made:
        with self._folder.request() as folder:
            dumps = _PICTURES if request.draws else _PASSES
            options = {**flags, **dumps, "xla_dump_to": str(folder)}
            made = super()._compile(request, content, options)
            if request.draws:
                return _with_records(made, folder, None)
            named = _MODULE.match(made.hlo_text)
            made = _with_records(made, folder, named[1] if named else "")
        # A CPU compiler writes nothing else.
        if self.platform == "cpu" or len(made.hlo_text) <= _MOST_DRAWN:
            return replace(made, can_draw=True)
        return replace(made, notes=(*made.notes, _NOT_DRAWN + _WITHOUT_IT[self.platform]))


def _with_records(made: Made, folder: Path, module_name: str | None) -> Made:
    try:
        records, left_out = collect_records(folder, module_name)
    except OSError as error:
        return replace(
            made, notes=(f"the compiler's records could not be read: {error}",), is_whole=False
        )
    made = replace(made, records=pack_records(records), records_left_out=left_out)
    if has_room(folder):
        return made
    return replace(made, notes=(*made.notes, _NO_ROOM), is_whole=False)
