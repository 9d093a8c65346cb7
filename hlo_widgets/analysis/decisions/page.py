"""`_fusion.html`: the fusion visualisation as one page, as GPU and older TPU compilers write it.

Only the captions are read: a JSON list inside a script. Nothing of the page is run.
"""

from __future__ import annotations

import json
import re

from hlo_widgets.analysis.decisions.archive import json_labels
from hlo_widgets.analysis.decisions.frames import read_frames
from hlo_widgets.analysis.decisions.log import DecisionSource
from hlo_widgets.errors import DecisionFileError

__all__ = ["read_fusion_page"]

_FRAMES = re.compile(r"\bconst\s+frames\s*=\s*(?=\[)")
# The list ends here; what follows may be megabytes of graphs, which need not be looked at.
_LIST_END = re.compile(r"\]\s*;")
_MOST_CAPTIONS = 64 * 2**20


def read_fusion_page(text: str, path: str, module: str | None = None) -> DecisionSource:
    """Read the captions in a `_fusion.html`.

    Args:
        text: The page.
        path: Its name.
        module: Name of the module, where it is known.

    Raises:
        DecisionFileError: The page holds no list of frames that can be read.
    """
    start = _FRAMES.search(text)
    if start is None:
        raise DecisionFileError(path, "the page holds no frames of a fusion visualisation")
    captions = text[start.end() : start.end() + _MOST_CAPTIONS]
    try:
        frames, end = json.JSONDecoder(strict=False).raw_decode(captions)
    except (ValueError, RecursionError) as error:
        raise DecisionFileError(path, f"the list of frames is damaged ({error})") from error
    if not _LIST_END.match(captions, end - 1):
        raise DecisionFileError(path, "the list of frames is cut off")
    return read_frames(json_labels(frames, path), path, "fusion visualisation page", module)
