from __future__ import annotations

import pytest

from hlo_widgets.compiler import Target, find_target, list_targets
from hlo_widgets.errors import UnknownTargetError


def test_every_listed_target_is_found_by_its_name():
    targets = list_targets()
    assert [find_target(target.name) for target in targets] == targets
    assert {"cpu", "v5e", "v5p", "v6e", "tpu7x"} <= {target.name for target in targets}


def test_only_tpus_need_another_package():
    needs = {target.platform: target.needs for target in list_targets()}
    assert needs == {"cpu": None, "tpu": "libtpu>=0.0.45"}


def test_a_target_has_what_the_compiler_is_asked_for():
    assert find_target("v5p") == Target(
        name="v5p",
        platform="tpu",
        device_kind="TPU v5",
        topology="v5p:1x1x1",
        chips=1,
        needs="libtpu>=0.0.45",
    )


def test_case_and_blanks_do_not_matter_and_a_target_is_itself():
    assert find_target(" V6E ") is find_target("v6e")
    assert find_target(find_target("cpu")) is find_target("cpu")


@pytest.mark.parametrize(
    ("name", "suggested"), [("v6", "v6e"), ("v7x", "tpu7x"), ("v5pp", "v5p"), ("CPUs", "cpu")]
)
def test_a_misspelt_name_brings_the_nearest(name, suggested):
    with pytest.raises(UnknownTargetError) as caught:
        find_target(name)
    assert suggested in caught.value.suggestions
    assert "Did you mean" in str(caught.value)
    assert "v5e" in caught.value.known


def test_a_name_like_no_other_brings_the_list_alone():
    with pytest.raises(UnknownTargetError, match="Known targets: cpu, v2"):
        find_target("quantum")
