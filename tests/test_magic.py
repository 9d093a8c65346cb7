"""`%%hlo_fusion` in a real IPython shell."""

import atexit
import gc
import importlib.util
import inspect
import re
import weakref

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import hlo_widgets as hw
from hlo_widgets import magic
from hlo_widgets.errors import CompileError, NotCompilableError, UnknownTargetError
from hlo_widgets.widgets import Explorer

needs_libtpu = pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None,
    reason='needs the TPU compiler: pip install "libtpu>=0.0.45", Linux x86-64 only',
)

# Files of the package; the folder of a checkout may have the same name.
OUR_FRAMES = re.compile(r"hlo_widgets/(?:magic|api|compiler/|widgets/)")

SOFTMAX = """
def row_softmax(x):
    m = jnp.max(x, axis=-1, keepdims=True); e = jnp.exp(x - m)
    return e / jnp.sum(e, axis=-1, keepdims=True)
row_softmax(hw.spec("bf16[1024,512]"))
"""


@pytest.fixture(scope="module")
def session():
    """Start a shell once: starting one takes a second."""
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell(config=config)
    shell.run_cell("%load_ext hlo_widgets").raise_error()
    yield shell
    shell.atexit_operations()
    atexit.unregister(shell.atexit_operations)


@pytest.fixture
def shell(session):
    session.reset()
    session.run_cell("import functools\nimport jax, jax.numpy as jnp, hlo_widgets as hw")
    return session


def run(shell, body, arguments="--target cpu"):
    return shell.run_cell(f"%%hlo_fusion {arguments}\n{body.lstrip()}", store_history=True)


def explore(shell, body, arguments="--target cpu"):
    result = run(shell, body, arguments)
    result.raise_error()
    assert isinstance(result.result, Explorer)
    return result.result


def parameters(explorer):
    entry = explorer.module.entry_computation
    return sorted(p.shape.to_string(with_layout=False) for p in entry.parameters)


@needs_libtpu
def test_the_example_of_the_design_gives_the_known_figures(shell):
    explorer = explore(shell, SOFTMAX, "--target v6e")
    assert list(explorer.table["estimated_cycles"]) == [5604, 6212, 8740]
    assert list(explorer.table["vmem_bytes"]) == [1052672, 1146880, 1196032]


@needs_libtpu
def test_the_target_is_v6e_unless_told(shell):
    assert explore(shell, SOFTMAX, "").table.attrs["target"] == "v6e"


def test_definitions_stay_and_the_call_is_not_made(shell):
    explore(
        shell,
        """
        calls = []
        def f(x):
            calls.append(type(x).__name__)
            return x * 2
        f(jnp.ones(4))
        """.replace("\n        ", "\n"),
    )
    assert callable(shell.user_ns["f"])
    assert "Array" not in "".join(shell.user_ns["calls"]).replace("Tracer", "")
    assert shell.user_ns["calls"] == [shell.user_ns["calls"][0]]
    assert "__hlo_fusion_collect__" not in shell.user_ns


@pytest.mark.parametrize(
    ("body", "shapes"),
    [
        ("f = lambda x: x + 1\nf(hw.spec('f32[4]'))", ["f32[4]"]),
        ("f = lambda x: x + 1\nf(jnp.ones((2, 3)))", ["f32[2,3]"]),
        ("f = jax.jit(lambda x: x + 1)\nf(jnp.ones(5))", ["f32[5]"]),
        ("jax.jit(lambda x: x + 1)(jnp.ones(5))", ["f32[5]"]),
        ("f = functools.partial(lambda n, x: x * n, 3)\nf(jnp.ones(5))", ["f32[5]"]),
        (
            (
                "class Model:\n    def apply(self, x): return x * 2\nmodel = Model()\n"
                "model.apply(jnp.ones(6))"
            ),
            ["f32[6]"],
        ),
        (
            (
                "def f(tree): return tree['a'] + tree['b'][0]\n"
                "f({'a': jnp.ones(7), 'b': [jnp.ones(7)]})"
            ),
            ["f32[7]", "f32[7]"],
        ),
        (
            (
                "def f(*xs, **more): return sum(xs) * more['k']\n"
                "xs = [jnp.ones(3)] * 2\nmore = {'k': jnp.ones(())}\nf(*xs, **more)"
            ),
            ["f32[3]", "f32[3]", "f32[]"],
        ),
        (
            "def f(x, n): return x ** n\ng = jax.jit(f, static_argnames='n')\ng(jnp.ones(3), n=3)",
            ["f32[3]"],
        ),
        (
            "def f(x, n): return x ** n\ng = jax.jit(f, static_argnums=1)\ng(jnp.ones(3), 3)",
            ["f32[3]"],
        ),
        ("f = lambda x: x + 1\nf(jnp.ones(8));", ["f32[8]"]),
        (
            "f = lambda x: x + 1\nf(  # the call\n    jnp.ones(8),\n)\n\n# and a last word",
            ["f32[8]"],
        ),
        ("f = lambda x: x + 1\nn = %system echo 9\nf(jnp.ones(int(n[0])))", ["f32[9]"]),
    ],
)
def test_calls_of_every_kind(shell, body, shapes):
    assert parameters(explore(shell, body)) == shapes


@pytest.mark.parametrize("name", ["fun", "target", "flags", "explain"])
def test_a_functions_own_arguments_may_have_our_names(shell, name):
    body = f"def f(x, {name}): return x + {name}\nf(jnp.ones(4), {name}=jnp.ones(4))"
    assert parameters(explore(shell, body)) == ["f32[4]", "f32[4]"]


def test_a_name_binds_the_explorer(shell):
    explorer = explore(shell, "(lambda x: x + 1)(jnp.ones(4))", "--target cpu --name ex")
    assert shell.user_ns["ex"] is explorer


@pytest.fixture
def cell(shell, monkeypatch):
    """Run one and the same cell, as a front end that names its cells does."""
    monkeypatch.setattr(magic, "_cell_id", lambda _: "the cell")

    def cell(arguments=""):
        return explore(shell, "(lambda x: x + 1)(jnp.ones(4))", f"--target cpu {arguments}")

    return cell


def test_a_cell_that_is_run_again_closes_what_it_has_shown(shell, cell):
    first = cell("--name ex")
    shell.run_cell("ex")  # IPython's own names of results keep nothing open
    second = cell("--name ex")
    with pytest.raises(NotCompilableError, match="closed"):
        first.recompile()
    second.recompile()


def test_what_a_variable_still_holds_stays_open(shell, cell):
    first = cell("--name a")
    second = cell("--name b")
    shell.run_cell("mine = b")
    cell("--name b")
    for explorer in (first, second):
        explorer.recompile(hw.spec("f32[5]"))
        assert "f32[5]" in explorer.module.text


def test_the_magic_keeps_no_explorer_alive(shell, cell):
    explorer = cell()
    explorer.close()
    shell.reset()
    gone = weakref.ref(explorer)
    del explorer
    gc.collect()
    assert gone() is None


def test_variables_may_stand_in_the_magics_line(shell):
    shell.user_ns["where"] = "cpu"
    explore(shell, "(lambda x: x + 1)(jnp.ones(4))", "--target {where}")


def test_flags_reach_the_compiler(shell):
    flag = "--flag xla_cpu_enable_fast_math=true"
    body = "def f(x, y): return x @ y + 1\nf(jnp.ones((8, 8)), jnp.ones((8, 8)))"
    explore(shell, body, f"--target cpu {flag} --flag xla_llvm_disable_expensive_passes=True")


def test_decisions_are_asked_for_with_explain_and_by_nobody_else(shell):
    assert explore(shell, SOFTMAX)._shown.decisions is None
    assert explore(shell, SOFTMAX, "--target cpu --explain")._shown.decisions is not None


def test_the_function_of_a_cell_can_be_compiled_again(shell):
    explorer = explore(shell, SOFTMAX)
    shell.push({"explorer": explorer})
    shell.run_cell('explorer.recompile(hw.spec("f32[64,32]"))').raise_error()
    assert "f32[64,32]" in explorer.module.text


@needs_libtpu
def test_a_flag_changes_what_the_compiler_does(shell):
    plain = explore(shell, SOFTMAX, "--target v6e")
    unfused = explore(shell, SOFTMAX, '--target v6e --flag xla_disable_hlo_passes="tpu_fusion"')
    assert (
        unfused.table.attrs["total_estimated_cycles"]
        > (plain.table.attrs["total_estimated_cycles"])
    )


def test_source_lines_are_those_of_the_cell(shell):
    body = "\n\ndef f(x):\n    y = jnp.sin(x)\n    return y @ y\n\nf(jnp.ones((4, 4)))"
    explorer = explore(shell, "# a first line" + body)
    module = explorer.module
    frames = {
        frame
        for instruction in module.instructions()
        if instruction.metadata.stack_frame_id
        for frame in module.source_frames(instruction.metadata.stack_frame_id)
    }
    # The magic is line 1 of the cell, the comment line 2.
    assert {frame.line for frame in frames if frame.function == "f"} == {5, 6}
    f = shell.user_ns["f"]
    assert {frame.file for frame in frames if frame.function == "f"} == {f.__code__.co_filename}
    assert inspect.getsource(f) == "def f(x):\n    y = jnp.sin(x)\n    return y @ y\n"


def test_a_cell_has_the_file_that_the_kernel_would_give_it(shell):
    seen = {}
    get_code_name = shell.compile.get_code_name

    def watch(raw_code, *rest):
        name = get_code_name(raw_code, *rest)
        seen[name] = raw_code
        return name

    shell.compile.get_code_name = watch
    try:
        explore(shell, "def f(x): return x + 1\nf(jnp.ones(4))")
    finally:
        del shell.compile.get_code_name
    cell = "%%hlo_fusion --target cpu\ndef f(x): return x + 1\nf(jnp.ones(4))"
    assert seen[shell.user_ns["f"].__code__.co_filename] == cell


@pytest.mark.parametrize(
    "body",
    ["x = 1", "f = lambda x: x\ny = f(1)", "def f(x): return x", "1 + 1", "f", "", "# only words"],
)
def test_a_last_line_that_is_no_call_is_said_before_anything_runs(shell, body, capsys):
    result = run(shell, f"ran = True\n{body}")
    with pytest.raises(UsageError, match="must be a call"):
        result.raise_error()
    assert "ran" not in shell.user_ns
    shown = capsys.readouterr()
    assert (shown.out + shown.err).count("\n") <= 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--target cpu --flag nonsense", "NAME=VALUE"),
        ("--target cpu --flag =3", "NAME=VALUE"),
        ("--target cpu --name 3x", "not a name"),
        ("--target cpu --name class", "not a name"),
        ("--colour red", "unrecognized arguments"),
    ],
)
def test_wrong_options_are_said_in_a_line(shell, arguments, words):
    result = run(shell, "ran = True\nprint(1)", arguments)
    with pytest.raises(UsageError, match=words):
        result.raise_error()
    assert "ran" not in shell.user_ns


def test_an_unknown_target_suggests_and_nothing_runs(shell, capsys):
    result = run(shell, "ran = True\nprint(1)", "--target v6")
    with pytest.raises(UnknownTargetError, match="Did you mean 'v6e'"):
        result.raise_error()
    assert "ran" not in shell.user_ns
    shown = capsys.readouterr().out
    assert shown.startswith("UnknownTargetError: unknown target 'v6'.")
    assert "Traceback" not in shown


def test_an_unknown_flag_is_refused_in_the_compilers_words(shell, capsys):
    result = run(shell, "(lambda x: x + 1)(jnp.ones(4))", "--target cpu --flag xla_nonsense=1")
    with pytest.raises(CompileError, match="No such compile option: 'xla_nonsense'"):
        result.raise_error()
    shown = capsys.readouterr().out
    assert shown.startswith("CompileError: ")
    assert "Traceback" not in shown


def test_what_cannot_be_called_is_said(shell):
    with pytest.raises(NotCompilableError):
        run(shell, "three = 3\nthree(jnp.ones(4))").raise_error()


def test_a_syntax_error_is_shown_at_its_line(shell, capsys):
    result = run(shell, "a = 1\ndef f(x) return x\nf(1)")
    with pytest.raises(SyntaxError):
        result.raise_error()
    shown = capsys.readouterr().out
    assert re.search(r"3\n +def f\(x\) return x\n +\^\nSyntaxError: expected ':'", shown)


def test_a_syntax_error_in_an_imported_module_keeps_its_traceback(shell, tmp_path, capsys):
    (tmp_path / "broken_module.py").write_text("def f(x) return x\n")
    body = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport broken_module\nprint(1)"
    with pytest.raises(SyntaxError):
        run(shell, body).raise_error()
    shown = capsys.readouterr().out
    shell.run_cell("sys.path.pop(0)")
    assert "import broken_module" in shown
    assert "broken_module.py" in shown


def test_an_error_that_takes_no_attributes_is_still_shown(shell, capsys):
    body = (
        "class Frozen(Exception):\n"
        "    def __setattr__(self, name, value):\n"
        "        if not name.startswith('__'): raise AttributeError(name)\n"
        "        super().__setattr__(name, value)\n"
        "def f(x): raise Frozen('cold')\nf(jnp.ones(4))"
    )
    with pytest.raises(Exception, match="cold"):
        run(shell, body).raise_error()
    assert "cold" in capsys.readouterr().out


def test_an_error_while_tracing_is_shown_at_the_users_line(shell, capsys):
    body = "def f(x):\n    return x @ jnp.ones((3, 3))\nf(jnp.ones((4, 4)))"
    result = run(shell, body)
    with pytest.raises(TypeError, match="dot_general"):
        result.raise_error()
    shown = capsys.readouterr().out
    assert re.search(r"-+> 3 +return x @ jnp.ones\(\(3, 3\)\)", shown)
    assert OUR_FRAMES.search(shown) is None


def test_an_error_in_a_definition_or_an_argument_is_the_users_own(shell, capsys):
    with pytest.raises(ZeroDivisionError):
        run(shell, "a = 1\nb = a / 0\nprint(b)").raise_error()
    shown = capsys.readouterr().out
    assert re.search(r"-+> 3 +b = a / 0", shown)
    assert OUR_FRAMES.search(shown) is None
    with pytest.raises(ZeroDivisionError):
        run(shell, "f = lambda x: x\nf(\n    1 / 0\n)").raise_error()
    assert re.search(r"-+> 4 +1 / 0", capsys.readouterr().out)
    assert "__hlo_fusion_collect__" not in shell.user_ns


def test_a_cause_that_the_user_gave_is_kept(shell):
    body = (
        "def f(x):\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n"
        "        raise ValueError('mine') from error\nf(jnp.ones(4))"
    )
    with pytest.raises(ValueError, match="mine") as error:
        run(shell, body).raise_error()
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_the_magic_documents_itself(shell):
    text = shell.find_cell_magic("hlo_fusion").__doc__
    assert "--target" in text
    assert "NAME=VALUE" in text
