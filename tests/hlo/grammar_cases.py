"""Small modules, one piece of syntax each. XLA's parser reads all but those in `REFUSED_BY_XLA`."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "grammar"

TYPES = (
    "pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 f4e2m1fn"
    " f8e3m4 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu"
).split()
LAYOUTS = (
    "{1,0}",
    " {1,0}",
    "{0,1:T(8,128)}",
    "{1,0:T(8,128)(2,1)S(1)}",
    "{1,0:E(4)}",
    "{1,0:T(8,128)E(4)S(1)}",
    "{1,0:M(128)}",
    "{1,0:L(2)}",
    "{1,0:T(2,128)L(2)S(3)}",
    "{1,0:D(C,D)P((s32[2,3]{1,0}))}",
    "{1,0:P(s32[2,3]{1,0})}",
    "{1,0:#(u32)}",
    "{1,0:*(u16)}",
    "{1,0:#(u32)*(u16)}",
    "{1,0:S(5)SC(1:4)}",
    "{1,0:SC(1:4)}",
    "{1,0:T(*,128)}",
    "{1,0:T(8,128)(2,1)L(4)E(4)S(1)M(16)}",
)
CONSTANTS = (
    ("f32[]", "1e-05"),
    ("f32[2]", "{1, 2.5}"),
    ("f32[2,2]", "{ { 1, 2 }, { 3, 4 } }"),
    ("f32[4]", "{...}"),
    ("f32[2,2]{1,0}", "{...}"),
    ("f32[]", "inf"),
    ("f32[]", "-inf"),
    ("f32[]", "nan"),
    ("f32[]", "nan(0x7)"),
    ("f32[]", "-nan"),
    ("c64[]", "(1, 2)"),
    ("c64[2]", "{(1, 2), (3, -inf)}"),
    ("pred[2]", "{1, 0}"),
    ("pred[]", "true"),
    ("pred[3]", "{true, false, true}"),
    ("s4[2]", "{-1, 3}"),
    ("u64[]", "18446744073709551615"),
    ("f32[0]", "{}"),
    ("(f32[], s32[2])", "(1, {1, 2})"),
    ("f32[2,3,1]", "{ /*i0=0*/ { {1}, {2}, {3} }, { {4}, {5}, {6} } }"),
    ("f8e5m2[2]", "{1, nan}"),
    ("token[]", ""),
)
REPLICA_GROUPS = ("{{0,1},{2,3}}", "{}", "[2,2]<=[4]", "[2,4]<=[4,2]T(1,0)", "{{0}}")
SHARDINGS = (
    "{replicated}",
    "{maximal device=1}",
    "{devices=[2,2]<=[4]}",
    "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
    "{devices=[2,2]0,1,2,3}",
    "{devices=[1,2]0,1}",
    "{manual}",
    "{unknown}",
    "{unreduced}",
    "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dims={replicated}}",
    "{replicated shard_like 3}",
    "{replicated shard_as 1}",
    '{devices=[2,2]<=[4] metadata={op_name="a->b), c" source_file="x,y" source_line=3}}',
)


def _entry(*lines: str, before: str = "") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"HloModule m\n{before}ENTRY e {{\n{body}}}\n"


_ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"


def _cases() -> dict[str, str]:
    found = {path.stem: path.read_bytes().decode() for path in sorted(FOLDER.glob("*.hlo"))}
    for name in TYPES:
        p, c = f"p = {name}[3,4] parameter(0)", f"ROOT c = {name}[3,4] copy(p)"
        found[f"type {name}"] = _entry(p, c)
    for layout in LAYOUTS:
        p = f"p = f32[8,128]{layout} parameter(0)"
        found[f"layout {layout}"] = _entry(p, f"ROOT a = f32[8,128]{layout} negate(p)")
    for shape, value in CONSTANTS:
        found[f"constant {shape} {value}"] = _entry(f"ROOT c = {shape} constant({value})")
    for groups in REPLICA_GROUPS:
        reduced = f"ROOT c = f32[8] all-reduce(p), channel_id=1, replica_groups={groups}"
        found[f"replica_groups {groups}"] = _entry(
            "p = f32[8] parameter(0)",
            f"{reduced}, use_global_device_ids=true, to_apply=add",
            before=_ADD,
        )
    for sharding in SHARDINGS:
        found[f"sharding {sharding}"] = _entry(
            f"p = f32[8,8] parameter(0), sharding={sharding}",
            f"ROOT c = (f32[8,8]) tuple(p), sharding={{{sharding}}}",
        )
    return found


CASES = _cases()
# What jaxlib 0.10.2 does not read and other versions of XLA print or read.
REFUSED_BY_XLA = {
    "constant token[] ",
    "custom_apply",
    "custom_literal",
    "custom_literal2",
    "layout {1,0:D(C,D)P((s32[2,3]{1,0}))}",
    "layout {1,0:P(s32[2,3]{1,0})}",
    "leading_digit",
    "scalar_braces",
    "unbounded_bound",
}
