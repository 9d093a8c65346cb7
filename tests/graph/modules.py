"""Small modules that show one thing each."""

LOOP = """HloModule loop

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%body (state: (s32[], f32[8])) -> (s32[], f32[8]) {
  %state = (s32[], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%state), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %x = f32[8] get-tuple-element(%state), index=1
  %twice = f32[8] add(%x, %x)
  ROOT %out = (s32[], f32[8]) tuple(%next, %twice)
}

%condition (state.1: (s32[], f32[8])) -> pred[] {
  %state.1 = (s32[], f32[8]) parameter(0)
  %i.1 = s32[] get-tuple-element(%state.1), index=0
  %most = s32[] constant(5)
  ROOT %again = pred[] compare(%i.1, %most), direction=LT
}

ENTRY %main (start: s32[], y: f32[8]) -> f32[] {
  %start = s32[] parameter(0)
  %y = f32[8] parameter(1)
  %init = (s32[], f32[8]) tuple(%start, %y)
  %loop = (s32[], f32[8]) while(%init), condition=%condition, body=%body
  %last = f32[8] get-tuple-element(%loop), index=1
  %cast = f32[8] bitcast(%last)
  %zero = f32[] constant(0)
  ROOT %total = f32[] reduce(%cast, %zero), dimensions={0}, to_apply=%add
}
"""

BRANCHES = """HloModule branches

%left (l: f32[4]) -> f32[4] {
  %l = f32[4] parameter(0)
  ROOT %up = f32[4] negate(%l)
}

%right (r: f32[4]) -> f32[4] {
  %r = f32[4] parameter(0)
  ROOT %down = f32[4] exponential(%r)
}

ENTRY %main (p: pred[], u: f32[4], v: f32[4]) -> f32[4] {
  %p = pred[] parameter(0)
  %u = f32[4] parameter(1)
  %v = f32[4] parameter(2)
  ROOT %pick = f32[4] conditional(%p, %u, %v), true_computation=%left, false_computation=%right
}
"""


def chain(length: int) -> str:
    """Return a module of `length` ops in a row, the last one the root."""
    lines = ["HloModule chain", "", "ENTRY %main (p: f32[4]) -> f32[4] {"]
    lines.append("  %op.0 = f32[4] parameter(0)")
    for number in range(1, length):
        root = "ROOT " if number == length - 1 else ""
        lines.append(f"  {root}%op.{number} = f32[4] negate(%op.{number - 1})")
    return "\n".join([*lines, "}", ""])


def fan(users: int) -> str:
    """Return a module whose one parameter is read by `users` ops, all collected by the root."""
    lines = ["HloModule fan", "", "ENTRY %main (p: f32[4]) -> (f32[4]) {"]
    lines.append("  %p = f32[4] parameter(0)")
    lines += [f"  %n.{number} = f32[4] negate(%p)" for number in range(users)]
    names = ", ".join(f"%n.{number}" for number in range(users))
    shapes = ", ".join(["f32[4]"] * users)
    return "\n".join([*lines, f"  ROOT %all = ({shapes}) tuple({names})", "}", ""])
