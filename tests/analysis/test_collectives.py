"""Who exchanges data with whom, and how many bytes reach each device."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_widgets.analysis import collectives_in
from hlo_widgets.analysis.replica_groups import read_pairs, read_replica_groups
from hlo_widgets.hlo import parse_hlo_module

ADD = """
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}
"""


def collective(line, header="num_partitions=8", operand="f32[1000]"):
    """The one collective of a module with one instruction called `c`."""
    module = parse_hlo_module(f"""HloModule m, {header}
{ADD}
ENTRY %main (p: {operand}) -> f32[] {{
  %p = {operand} parameter(0)
  %c = {line}
  ROOT %zero = f32[] constant(0)
}}
""")
    (found,) = collectives_in(module.instruction("c"))
    return found


GLOBAL = "channel_id=1, use_global_device_ids=true"
FOURS = f"replica_groups={{{{0,1,2,3}},{{4,5,6,7}}}}, {GLOBAL}"


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,1},{2,3}}", ((0, 1), (2, 3))),
        ("{ {0, 1}, {2} }", ((0, 1), (2,))),
        ("{}", ()),
        ("[2,2]<=[4]", ((0, 1), (2, 3))),
        ("[4,2]<=[2,4]T(1,0)", ((0, 4), (1, 5), (2, 6), (3, 7))),
        ("mesh['x'=2,'y'=2] {'x'}", ((0, 2), (1, 3))),
        ("mesh['x'=2,'y'=2] {'y'}", ((0, 1), (2, 3))),
        ("mesh['x'=2,'y'=2] {'y','x'}", ((0, 2, 1, 3),)),
        ("mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'x'}", ((0, 1), (2, 3))),
        ("mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'b'}", ((0, 2), (1, 3))),
        ("mesh['x'=8] {'x':(1)2}", ((0, 4), (1, 5), (2, 6), (3, 7))),
        ("mesh['x'=8] {'x':(2)2}", ((0, 2), (1, 3), (4, 6), (5, 7))),
        ("mesh['x'=2,'y'=2] {}", ((0,), (1,), (2,), (3,))),
    ],
)
def test_every_form_of_groups(text, groups):
    assert read_replica_groups(text) == groups


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "{{0,1}",
        "[2,2]<=[5]",
        "[2,2]<=[4]T(1,0)",
        "[2,2]<=[2,2]T(0,0)",
        "[1000000000,1000000000]<=[1000000000,1000000000]",
        "[999999999999999999999999,1]<=[999999999999999999999999]",
        "mesh['x'=2] {'z'}",
        "mesh['x'=8] {'x':(3)2}",
        "mesh['x'=8] {'x':(1)2,'x':(2)2}",
        "mesh['x'=4], device_ids=(0,1) {'x'}",
        "mesh['x'=99999999999] {'x'}",
        # One size of 0, and others that would fill all memory.
        "[1,0]<=[0,1000000000000]T(1,0)",
        "[0,1]<=[1000000000000,0]",
        "mesh['y'=1000000000000,'x'=0] {}",
        "mesh['x'=2,'y'=2], device_ids=([0,100000000000]T(1,0)) {'x'}",
        f"[1,1]<=[{'1,' * 60_000}1]",
        f"{{{{{'9' * 5_000}}}}}",
        "{{\u0663,\u0664}}",  # digits, but none that XLA writes
    ],
)
def test_what_is_no_group_is_not_known(text):
    assert read_replica_groups(text) is None


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.randoms(), st.data())
def test_a_transposed_count_is_numpys(shape, random, data):
    order = list(range(len(shape)))
    random.shuffle(order)
    total = int(np.prod(shape))
    size = data.draw(st.sampled_from([n for n in range(1, total + 1) if total % n == 0]))
    text = f"[{total // size},{size}]<=[{','.join(map(str, shape))}]T({','.join(map(str, order))})"
    expected = np.arange(total).reshape(shape).transpose(order).reshape(-1, size)
    assert read_replica_groups(text) == tuple(map(tuple, expected.tolist()))


@pytest.mark.parametrize(
    ("line", "words", "size"),
    [
        (
            f"f32[4000] all-gather(%p), {FOURS}",
            "2 groups of 4 devices: {0,1,2,3} {4,5,6,7}",
            4,
        ),
        (f"f32[] all-reduce(%p), replica_groups={{}}, {GLOBAL}", "all 8 devices", 8),
        (
            f"f32[] all-reduce(%p), replica_groups={{{{0,1,2,3,4,5,6,7}}}}, {GLOBAL}",
            "all 8 devices",
            8,
        ),
        (
            f"f32[] all-reduce(%p), replica_groups={{{{1,0}},{{2}},{{3}},{{4}},{{5}}}}, {GLOBAL}",
            "5 groups of up to 2 devices: {1,0} {2} {3} {4} and 1 more",
            2,
        ),
        (
            "f32[] all-to-all(%p), channel_id=1, replica_groups=[1,4]<=[4], dimensions={0}",
            "1 group of 4 devices: {0,1,2,3}",
            4,
        ),
        ("f32[] all-reduce(%p), replica_groups=what", "groups not known", None),
    ],
)
def test_groups_in_words(line, words, size):
    found = collective(line)
    assert found.words == words
    assert found.group_size == size


def test_groups_of_many_are_shortened_where_the_rest_is_clear():
    many = collective(f"f32[] all-reduce(%p), replica_groups=[2,16]<=[16,2]T(1,0), {GLOBAL}")
    assert many.words == "2 groups of 16 devices: {0,2,...,30} {1,3,...,31}"
    odd = ",".join(map(str, [0, 1, 2, 3, 4, 5, 7, 9, 20]))
    found = collective(f"f32[] all-reduce(%p), replica_groups={{{{{odd}}}}}, {GLOBAL}")
    assert found.words == "1 group of 9 devices: {0,1,2,3,4,5 and 3 more}"


def test_what_the_numbers_stand_for():
    both = "replica_count=4, num_partitions=2"
    groups = "replica_groups={{0,1},{2,3}}"
    of_replicas = collective(f"f32[] all-reduce(%p), {groups}", both)
    assert (of_replicas.words, of_replicas.group_size) == (
        "2 groups of 2 replicas: {0,1} {2,3}",
        2,
    )
    with_all = collective(f"f32[] all-reduce(%p), {groups}, channel_id=1", both)
    assert with_all.words == "2 groups of 2 replicas with all their partitions: {0,1} {2,3}"
    assert with_all.group_size == 4
    of_partitions = collective("f32[] all-to-all(%p), replica_groups={{0,1}}, channel_id=1", both)
    assert of_partitions.words == "all 2 partitions"
    one_each = collective(f"f32[] all-reduce(%p), {groups}", "replica_count=4")
    assert one_each.words == "2 groups of 2 devices: {0,1} {2,3}"
    no_header = collective("f32[] all-reduce(%p), replica_groups={}", "is_scheduled=true")
    assert (no_header.words, no_header.group_size, no_header.bytes_moved) == (
        "all devices",
        None,
        None,
    )


def permute(pairs):
    return collective(f"f32[1000] collective-permute(%p), source_target_pairs={pairs}")


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ("{{0,1},{1,2},{2,3},{3,0}}", "1 ring of 4: 0 → 1 → 2 → 3 → 0"),
        ("{{0,1},{1,2},{4,5},{5,6}}", "2 chains of 3: 0 → 1 → 2, 4 → 5 → 6"),
        ("{{2,3},{1,2}}", "1 chain of 3: 1 → 2 → 3"),
        ("{{0,1},{1,0},{2,2},{3,5}}", "3 messages: 3 → 5, 0 → 1 → 0"),
        ("{{0,0},{1,1}}", "nobody sends to another"),
        ("{}", "nobody sends to another"),
        (
            "{" + ",".join(f"{{{i},{(i + 1) % 16}}}" for i in range(16)) + "}",
            "1 ring of 16: 0 → 1 → 2 → ... → 0",
        ),
        ("{" + ",".join(f"{{{i},{i ^ 1}}}" for i in range(12)) + "}", None),
        ("{{0,1,2}}", "pairs not known"),
        ("what", "pairs not known"),
    ],
)
def test_pairs_in_words(pairs, words):
    expected = "6 rings of 2: 0 → 1 → 0, 2 → 3 → 2, 4 → 5 → 4, 6 → 7 → 6 and 2 more"
    assert permute(pairs).words == (words or expected)


def test_pairs_that_are_no_permutation_are_read_as_they_stand():
    assert read_pairs("{{0,1},{0,2}}") == ((0, 1), (0, 2))
    words = "3 messages, several from or to one device: "
    assert permute("{{0,1},{0,2},{0,3}}").words == words + "0 → 1, 0 → 2, 0 → 3"
    assert permute("{{0,1},{1,2},{2,1}}").words == words + "0 → 1, 1 → 2, 2 → 1"


@pytest.mark.parametrize(
    ("line", "bytes_moved"),
    [
        # 4,000 bytes go in on each device.
        (f"f32[4000] all-gather(%p), {FOURS}, dimensions={{0}}", 12_000),
        (f"f32[1000] all-reduce(%p), {FOURS}, to_apply=%add", 6_000),
        (f"f32[250] reduce-scatter(%p), {FOURS}, to_apply=%add", 3_000),
        (f"f32[1000] all-to-all(%p), {FOURS}, dimensions={{0}}", 3_000),
        (f"f32[1000] collective-broadcast(%p), {FOURS}", 4_000),
        (f"f32[1000] all-reduce(%p), replica_groups=[8,1]<=[8], {GLOBAL}", 0),
        (f"f32[1000] collective-broadcast(%p), replica_groups=[8,1]<=[8], {GLOBAL}", 0),
        ("f32[1000] collective-permute(%p), source_target_pairs={{0,1}}", 4_000),
        ("f32[1000] collective-permute(%p), source_target_pairs={{0,0}}", 0),
        ("f32[1000] collective-permute(%p), source_target_pairs=what", None),
        (f"f32[1000] ragged-all-to-all(%p, %p, %p, %p, %p, %p), {FOURS}", None),
        (f"f32[1000] all-reduce(%p), replica_groups=what, {GLOBAL}", None),
        (f"f32[1000] all-reduce(), {FOURS}", None),
        (
            "f32[9] collective-permute(%p, %p), source_target_pairs={{0,1}}, slice_sizes={{4}}",
            None,
        ),
        (f"(f32[1000], f32[1000]) all-reduce(%p, %p), {FOURS}, to_apply=%add", 12_000),
        (f"f32[1000] all-reduce(%p), replica_groups={{{{0,1,2}}}}, {GLOBAL}", 5_334),
    ],
)
def test_bytes_that_reach_a_device(line, bytes_moved):
    assert collective(line).bytes_moved == bytes_moved


def test_a_size_that_is_not_known_leaves_the_bytes_unknown():
    found = collective(f"f32[?] all-reduce(%p), {FOURS}", operand="f32[?]")
    assert found.bytes_moved is None
    assert found.words == "2 groups of 4 devices: {0,1,2,3} {4,5,6,7}"


PAIR = f"""HloModule pair, num_partitions=8

%wrapped (q: f32[1000]) -> f32[250] {{
  %q = f32[1000] parameter(0)
  ROOT %inner = f32[250] reduce-scatter(%q), {FOURS}, dimensions={{0}}
}}

%body (r: f32[1000]) -> f32[1000] {{
  %r = f32[1000] parameter(0)
  ROOT %in_loop = f32[1000] all-reduce(%r), {FOURS}
}}

ENTRY %main (p: f32[1000]) -> f32[4000] {{
  %p = f32[1000] parameter(0)
  %b-start = ((f32[1000]), f32[250], u32[]) async-start(%p), calls=%wrapped
  %b-update = ((f32[1000]), f32[250], u32[]) async-update(%b-start)
  %b-done = f32[250] async-done(%b-update)
  %call = f32[1000] call(%p), to_apply=%body
  %plain = f32[1000] negate(%call)
  %a-start = (f32[1000], f32[4000]) all-gather-start(%plain), {FOURS}, dimensions={{0}}
  ROOT %a-done = f32[4000] all-gather-done(%a-start)
}}
"""


def test_pairs_and_asynchronous_calls_are_told_by_every_member():
    module = parse_hlo_module(PAIR)
    for name in ("a-start", "a-done"):
        (found,) = collectives_in(module.instruction(name))
        assert (found.kind, found.bytes_moved) == ("all-gather", 12_000)
    for name in ("b-start", "b-update", "b-done", "inner"):
        (found,) = collectives_in(module.instruction(name))
        assert (found.kind, found.bytes_moved) == ("reduce-scatter", 3_000)
    # What a call runs is told by its own instructions.
    assert collectives_in(module.instruction("call")) == ()
    assert collectives_in(module.instruction("plain")) == ()


FUSED = f"""HloModule fused, num_partitions=8
{ADD}
%slice (x: f32[1000], at: s32[]) -> f32[250] {{
  %x = f32[1000] parameter(0)
  %at = s32[] parameter(1)
  %r = f32[1000] all-reduce(%x), {FOURS}, to_apply=%add
  ROOT %s = f32[250] dynamic-slice(%r, %at), dynamic_slice_sizes={{250}}
}}

%start (y: f32[1000]) -> (f32[4000], u32[]) {{
  %y = f32[1000] parameter(0)
  %g0 = f32[4000] all-gather(%y), {FOURS}, dimensions={{0}}
  ROOT %cs = (f32[4000], u32[]) custom-call(%g0), custom_call_target="AsyncCollectiveStart"
}}

%middle (z: f32[1000]) -> (f32[4000], f32[1000]) {{
  %z = f32[1000] parameter(0)
  %g1 = f32[4000] all-gather(%z), {FOURS}, backend_config={{"async_collective_fusion_config":{{}}}}
  %n = f32[1000] negate(%z)
  ROOT %t = (f32[4000], f32[1000]) tuple(%g1, %n)
}}

%end (w: f32[1000]) -> f32[4000] {{
  %w = f32[1000] parameter(0)
  %g2 = f32[4000] all-gather(%w), {FOURS}, dimensions={{0}}
  ROOT %cd = f32[4000] custom-call(%g2), custom_call_target="AsyncCollectiveDone"
}}

%outer (v: f32[1000]) -> f32[4000] {{
  %v = f32[1000] parameter(0)
  ROOT %nested = f32[4000] fusion(%v), kind=kCustom, calls=%end
}}

ENTRY %main (p: f32[1000], i: s32[]) -> f32[4000] {{
  %p = f32[1000] parameter(0)
  %i = s32[] parameter(1)
  %scatter = f32[250] fusion(%p, %i), kind=kCustom, calls=%slice
  %first = (f32[4000], u32[]) fusion(%p), kind=kCustom, calls=%start
  %between = (f32[4000], f32[1000]) fusion(%p), kind=kOutput, calls=%middle
  ROOT %last = f32[4000] fusion(%p), kind=kCustom, calls=%outer
}}
"""


def test_collectives_inside_fusions():
    module = parse_hlo_module(FUSED)
    found = {
        name: collectives_in(module.instruction(name))[0]
        for name in ("scatter", "first", "between", "last")
    }
    assert {name: (one.title, one.bytes_moved) for name, one in found.items()} == {
        # A slice of the sum is all that leaves it: half of what an all-reduce moves.
        "scatter": ("all-reduce-scatter", 3_000),
        "first": ("all-gather starts", 12_000),
        # Bytes are counted once.
        "between": ("all-gather goes on", None),
        "last": ("all-gather ends", None),
    }
