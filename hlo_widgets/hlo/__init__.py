"""HLO text to a model and back; the standard library is all it needs."""

from __future__ import annotations

from hlo_widgets.hlo import opcode
from hlo_widgets.hlo.dump_folder import DumpedText, list_dump
from hlo_widgets.hlo.instruction import FusionKind, HloInstruction
from hlo_widgets.hlo.metadata import OpMetadata
from hlo_widgets.hlo.module import HloComputation, HloModule
from hlo_widgets.hlo.parser import parse_hlo_module, parse_hlo_modules
from hlo_widgets.hlo.reader import read_hlo
from hlo_widgets.hlo.shape import Layout, Shape, Tile
from hlo_widgets.hlo.source_tables import SourceFrame

__all__ = [
    "DumpedText",
    "FusionKind",
    "HloComputation",
    "HloInstruction",
    "HloModule",
    "Layout",
    "OpMetadata",
    "Shape",
    "SourceFrame",
    "Tile",
    "list_dump",
    "opcode",
    "parse_hlo_module",
    "parse_hlo_modules",
    "read_hlo",
]
