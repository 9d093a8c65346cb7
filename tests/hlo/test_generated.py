"""Random well-formed modules, in every style: read right, printed right, and as XLA reads them."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from hlo_widgets.hlo import HloModule, parse_hlo_module
from tests.hlo.agreement import differences
from tests.hlo.strategies import Computation, Style, plans, styles, write


def check_plan(module: HloModule, plan: list[Computation]) -> None:
    """The module is what was planned."""
    assert [item.name for item in module.computations] == [item.name for item in plan]
    assert module.entry_computation.name == plan[-1].name
    for computation, planned in zip(module.computations, plan, strict=True):
        assert [item.name for item in computation.instructions] == [
            item.name for item in planned.instructions
        ]
        users: dict[str, list[str]] = {item.name: [] for item in planned.instructions}
        for item, wanted in zip(computation.instructions, planned.instructions, strict=True):
            assert item.opcode == wanted.opcode
            assert [operand.name for operand in item.operands] == wanted.operands
            assert item.is_root == wanted.is_root
            assert str(item.shape) == wanted.shape
            assert [
                f"{key}={value}".replace("%", "") for key, value in item.attributes.items()
            ] == [attribute.replace("%", "") for attribute in wanted.attributes]
            called = [
                a.split("=")[1] for a in wanted.attributes if a.startswith(("calls=", "to_app"))
            ]
            assert [other.name for other in item.called_computations] == called
            for name in dict.fromkeys(wanted.operands):
                users[name].append(item.name)
        for item in computation.instructions:
            assert [user.name for user in item.users] == users[item.name]


@settings(deadline=None, max_examples=80)
@given(plans(), styles)
def test_reads_what_was_planned(plan: list[Computation], style: Style) -> None:
    module = parse_hlo_module(write(plan, style))
    assert module.warnings == ()
    check_plan(module, plan)


@settings(deadline=None, max_examples=80)
@given(plans(), styles)
def test_prints_what_was_planned(plan: list[Computation], style: Style) -> None:
    module = parse_hlo_module(write(plan, style))
    printed = module.to_string()
    again = parse_hlo_module(printed)
    check_plan(again, plan)
    assert again.to_string() == printed
    short = parse_hlo_module(
        module.to_string(metadata=False, backend_config=False, operand_shapes=True)
    )
    assert not any(
        {"metadata", "backend_config"} & set(item.attributes) for item in short.instructions()
    )
    assert [item.shape for item in short.instructions()] == [
        item.shape for item in module.instructions()
    ]


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(plans(), styles)
def test_agrees_with_xla(oracle, plan: list[Computation], style: Style) -> None:
    text = write(plan, style)
    answer = oracle.structure(text)
    if answer is None or answer == "crash":
        # XLA checks types and layouts that the plan draws at random; what it reads must agree.
        return
    assert differences(parse_hlo_module(text), answer) == []
    assert (
        differences(parse_hlo_module(text), oracle.structure(parse_hlo_module(text).to_string()))
        == []
    )
