"""Which ops of two modules compute the same value, whatever they are called and fused into.

Value numbering, as optimising compilers do it: two ops have the same number if they do the same to
the same operands. Fusions are looked into, so that another grouping of ops changes no number. From
one module to the next an op that keeps its name keeps its number: where a pass wrote anew how a
value comes about, all that is computed from it is still found.
"""

from hlo_widgets.analysis.decisions.values.chain import ChainValues
from hlo_widgets.analysis.decisions.values.module import ModuleValues, number_module, running_ops
from hlo_widgets.analysis.decisions.values.numbering import ValueNumbering

__all__ = ["ChainValues", "ModuleValues", "ValueNumbering", "number_module", "running_ops"]
