"""Arguments in text, as the command line, the magic and notebooks write them."""

from __future__ import annotations

from hlo_widgets.compiler.spec_text import spec

__all__ = ["spec"]
