"""What is odd about a module's attributes: names that nobody knows, values that do not end well.

Attributes are read one instruction at a time, when they are asked for. To warn about them all are
looked at, but only when the warnings are asked for, and by patterns that run over the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from hlo_widgets.hlo.attributes import attributes_end
from hlo_widgets.hlo.scanner import shorten
from hlo_widgets.hlo.statement import USUAL, read_statement

if TYPE_CHECKING:
    from hlo_widgets.hlo.instruction import HloInstruction
    from hlo_widgets.hlo.module import HloModule

# What XLA's parser allows on some instruction (jaxlib 0.10.2 names them when it refuses one), and
# what older and newer versions print.
_OF_INSTRUCTIONS = frozenset(
    "algorithm api_version async_execution_thread backend_config batch_group_count body"
    " branch_computations called_computations calls channel_id collapsed_slice_dims comparator"
    " composite_attributes condition constrain_layout control-predecessors convolution_kind"
    " cross_program_prefetch_index custom_call_has_side_effect custom_call_target"
    " custom_call_schedule delta dim_labels dimensions direction distribution domain"
    " dynamic_slice_sizes entry epsilon exit exponent_bits false_computation feature_group_count"
    " feature_index fft_length fft_type frontend_attributes index index_vector_dim"
    " indices_are_sorted infeed_config inferred_dimension input_batching_dims"
    " inserted_window_dims iota_dimension is_associative is_composite is_cross_program_prefetch"
    " is_fusion is_host_transfer is_reverse is_stable k kind largest left_side lhs_batch_dims"
    " lhs_contracting_dims lhs_ragged_dims literal lower mantissa_bits metadata mode num_carries"
    " offset_dims opaque operand_batching_dims operand_layout_constraints operand_precision origin"
    " original_value outfeed_config outfeed_shape output_to_operand_aliasing padding padding_type"
    " parameter_replication ragged_dims replica_groups result_accuracy rhs_batch_dims"
    " rhs_contracting_dims rhs_group_dims scatter scatter_dims_to_operand_dims"
    " scatter_indices_batching_dims schedule select sharding slice slice_sizes"
    " source_target_pairs sparsity sparsity_config start_index_map start_indices_batching_dims"
    " statistics to_apply transpose_a transpose_b trip_count true_computation type unique_indices"
    " unit_diagonal update_window_dims use_global_device_ids window".split()
)
_OF_MODULES = frozenset(
    "alias_passthrough_params allow_spmd_sharding_propagation_to_output"
    " allow_spmd_sharding_propagation_to_parameters buffer_donor buffer_donors"
    " entry_computation_layout frontend_attributes input_output_alias is_scheduled num_partitions"
    " origin_recovery_table replica_count".split()
)
# Lines that are looked at one by one, names that are sought, and those that a warning says.
# Arbitrary.
_MOST = 1000
_NAMES_SOUGHT = 50
_SHOWN = 5

# Nothing here goes beyond the end of its line, so that no line is looked at twice.
_STRING = r"\"[^\"\\\n]*+(?:\\[^\n][^\"\\\n]*+)*+\""
_PLAIN = r"(?:[^\s,\"{}()\[\]]++|\[[^\]\n]*+\]|\([^)\n]*+\))++"


def _braces(depth: int) -> str:
    inner = rf"|{_braces(depth - 1)}" if depth else ""
    return rf"\{{(?:[^{{}}\"\n]++|{_STRING}{inner})*+\}}"


_BRACES = _braces(8)
_NAMES = re.compile(rf", ([\w.$-]++)=(?:{_BRACES}|{_STRING})?+")
_BROKEN = re.compile(
    rf"^[ \t]*+{USUAL}(?:, [\w.$-]++=(?:{_BRACES}|{_STRING}|{_PLAIN}))*+[ \t]*+(?!/[/*])(?=[^\n])",
    re.MULTILINE,
)


def attribute_notes(module: HloModule) -> Iterator[str]:
    """Yield what is to be told about a module's attributes, as whole sentences."""
    unknown = _unknown(module)
    if unknown:
        names = ", ".join(shorten(name) for name in unknown[:_SHOWN])
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        yield f"attributes that this reader does not know are kept as they are: {names}{more}"
    broken = _broken(module)
    if broken:
        first = broken[0]
        others = f" and of {len(broken) - 1} more" if len(broken) > 1 else ""
        yield (
            f"the attributes of %{shorten(first.name)} (line {first.line}){others} cannot be read"
            " to their end; XLA's parser refuses such text"
        )


def _unknown(module: HloModule) -> list[str]:
    """Return names of attributes that no XLA has, each once, in text order."""
    names = dict.fromkeys(name for name in module.attributes if name not in _OF_MODULES)
    found = dict.fromkeys(_NAMES.findall(module.source, len(module.header)))
    candidates = [name for name in found if name not in _OF_INSTRUCTIONS][:_NAMES_SOUGHT]
    wanted = re.compile("|".join(map(re.escape, candidates))) if candidates else None
    for item in module.instructions():
        # The pattern may have met a name inside of something else.
        looks_odd = wanted is not None and wanted.search(item.text) is not None
        if looks_odd or item in module.spans:
            names.update(dict.fromkeys(n for n in item.attributes if n not in _OF_INSTRUCTIONS))
    return list(names)


def _broken(module: HloModule) -> list[HloInstruction]:
    """Return instructions on a line of their own whose attributes are no list of attributes."""
    lines = {
        module.line_at(match.end()) for match in islice(_BROKEN.finditer(module.source), _MOST)
    }
    found = []
    for item in module.instructions() if lines else ():
        if item.line in lines and item not in module.spans and item not in module.texts:
            text = item.text
            if attributes_end(text, read_statement(text).end) < len(text):
                found.append(item)
    return found
