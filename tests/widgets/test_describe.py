"""The facts of an op in the details, where other parts of the Explorer tell the same."""

from __future__ import annotations

import pytest

import hlo_widgets as hw


@pytest.mark.parametrize("target", ["v6e", "h100"])
def test_the_ops_inside_are_those_of_the_box_and_of_the_table(target):
    explorer = hw.explore(hw.captures.load("mlp", target))
    boxes = {box["id"]: box for box in explorer._picture.widget.picture["boxes"]}
    counts = explorer.table.set_index("name")["instruction_count"]
    for name, count in counts.items():
        explorer.select(name)
        facts = dict(explorer._details.widget.detail["facts"])
        body = explorer.module.instruction(name).called_computations
        if not body:
            assert "ops inside" not in facts
            continue
        parameters = len(body[0].parameters)
        words = f"{parameters} {'is a parameter' if parameters == 1 else 'are parameters'}"
        assert facts["ops inside"] == f"{count}, of which {words}"
        assert f"{count} ops inside" in boxes[name]["lines"]
    explorer.close()
