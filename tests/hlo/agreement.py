"""Does our reader see what XLA's parser sees? A list of differences, empty where they agree."""

from __future__ import annotations

from hlo_widgets.hlo import HloModule, Layout, Shape
from hlo_widgets.hlo.attributes import split_attributes
from hlo_widgets.hlo.shape import parse_shape
from hlo_widgets.hlo.statement import read_statement

# Pairs that have opcodes of their own. Written here once more, so that the reader's own list is
# checked by another.
_OWN_PAIRS = frozenset("all-gather all-reduce async collective-permute copy recv send".split())


def with_default_layout(shape: Shape) -> Shape:
    """The shape as XLA prints it: with a layout for each array, major to minor by default."""
    if shape.tuple_shapes:
        inner = tuple(map(with_default_layout, shape.tuple_shapes))
        return Shape(shape.element_type, tuple_shapes=inner)
    layout = shape.layout
    if not shape.dimensions or not shape.is_array:
        # XLA prints a layout of a scalar only where it says more than nothing.
        empty = layout is None or layout == Layout()
        return Shape(shape.element_type, (), (), None if empty else layout)
    if layout is None:
        layout = Layout(tuple(range(len(shape.dimensions) - 1, -1, -1)))
    return Shape(shape.element_type, shape.dimensions, shape.dynamic_dimensions, layout)


def differences(module: HloModule, answer) -> list[str]:
    """Compare a module with the oracle's answer for the same text."""
    theirs = dict(answer["computations"])
    ours = {item.name: item for item in module.computations}
    found = []
    if len(ours) != len(module.computations):
        return []  # a name twice: XLA refuses or renames
    extra = [name for name in theirs if name not in ours]
    missing = [name for name in ours if name not in theirs]
    if extra or missing:
        return [f"computations: XLA alone {extra[:5]}, we alone {missing[:5]}"]
    roots = answer["roots"]
    for name, computation in ours.items():
        found += _compare(computation, theirs[name], roots.get(name))
        if len(found) > 5:
            break
    return found


def _compare(computation, theirs, root) -> list[str]:
    ours = computation.instructions
    where = f"in {computation.name}"
    if len(ours) != len(theirs):
        return [f"{where}: we {len(ours)} instructions, XLA {len(theirs)}"]
    index = {id(item): number for number, item in enumerate(ours)}
    # XLA makes names unique in the whole module, so what is compared is the place, not the name.
    their_index = {item["name"]: number for number, item in enumerate(theirs)}
    found = []
    if root is not None and their_index.get(root) != index[id(computation.root_instruction)]:
        found.append(f"{where}: root we %{computation.root_instruction.name}, XLA %{root}")
    for item, other in zip(ours, theirs, strict=True):
        if [index.get(id(x)) for x in item.operands] != [their_index[n] for n in other["operands"]]:
            found.append(f"{where}: operands of %{item.name}: {item.operands} {other['operands']}")
        if sorted(index[id(x)] for x in item.users) != sorted(
            their_index[n] for n in other["users"]
        ):
            found.append(f"{where}: users of %{item.name}: {item.users} {other['users']}")
        found += _compare_text(item, other["text"], where)
        if _xla_opcode(item.opcode) != other["opcode"]:
            found.append(f"{where}: opcode of %{item.name}: {item.opcode}, XLA {other['opcode']}")
        called = sorted(computation.name for computation in item.called_computations)
        if called != sorted(other["calls"]):
            found.append(f"{where}: calls of %{item.name}: {called}, XLA {other['calls']}")
    return found


def _compare_text(item, text, where) -> list[str]:
    statement = read_statement(text)
    attributes = split_attributes(text, statement.end)
    found = []
    if with_default_layout(item.shape) != with_default_layout(parse_shape(statement.shape)):
        found.append(f"{where}: shape of %{item.name}: {item.shape}, XLA {statement.shape}")
    if attributes.get("kind") != item.fusion_kind and item.opcode == "fusion":
        found.append(f"{where}: kind of %{item.name}: {item.fusion_kind} {attributes.get('kind')}")
    return found


def _xla_opcode(opcode: str) -> str:
    """XLA's opcode for what a text writes: `slice-start` is an `async-start` to it."""
    base, _, ending = opcode.rpartition("-")
    is_pair = ending in {"start", "update", "done"} and base not in _OWN_PAIRS
    return f"async-{ending}" if is_pair else opcode
