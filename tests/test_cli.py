"""The command `hlo-widgets`, run as users run it."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import hlo_widgets
from hlo_widgets import captures
from hlo_widgets.cli import main
from tests.analysis.dumps import dump_folder, file_of

CAPTURES = Path(__file__).parents[1] / "captures"
SOFTMAX = str(CAPTURES / "row_softmax.v6e.hlo.txt")
COMMANDS = ["table", "svg", "why", "targets", "capture"]


def test_the_command_is_installed_and_says_what_it_can_do():
    command = Path(sys.executable).with_name("hlo-widgets")
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"usage: hlo-widgets {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["table"], ["svg", SOFTMAX, "--color-by", "taste"], ["why", SOFTMAX, "x"]],
)
def test_wrong_arguments_are_status_2_and_no_traceback(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert "usage: hlo-widgets" in error
    assert "Traceback" not in error


def test_the_table_as_text(capsys):
    assert main(["table", SOFTMAX]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["name", "fusion_kind"]
    assert lines[2].split()[:5] == ["fusion.1", "kLoop", "reduce", "1", "6212"]
    assert "30.2%" in lines[2]
    assert lines[-1] == "jit_row_softmax: 20,556 estimated cycles, 3 of 3 rows known"


@pytest.mark.parametrize("how", [["table"], ["table", "--format", "csv"], ["svg"], ["why"]])
def test_what_would_steer_a_terminal_is_written_as_an_escape(how, tmp_path, capsys):
    file = tmp_path / "steers.hlo"
    file.write_text(
        "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p),"
        ' metadata={op_name="\x1b[2J\x1b]0;title\x07\u202e"}\n}\n'
    )
    ops = ["n", "\x1b[2J"] if how == ["why"] else []
    status = main([how[0], str(file), *ops, *how[1:]])
    said = capsys.readouterr()
    assert status == (1 if ops else 0)
    assert not {"\x1b", "\x07", "\u202e"} & set(said.out + said.err)


def test_the_table_as_csv_and_json(capsys):
    assert main(["table", SOFTMAX, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["vmem_bytes"] for row in rows] == ["1052672", "1146880", "1196032"]
    assert main(["table", SOFTMAX, "--format", "json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert [row["estimated_cycles"] for row in table["table"]] == [5604, 6212, 8740]
    assert table["total_estimated_cycles"] == 20556
    assert table["table"][0]["calls"] is None


def test_the_table_is_for_the_target_that_is_given(capsys):
    assert main(["table", SOFTMAX, "--target", "v6e", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "v6e"


def test_a_module_that_does_no_work_is_said_to_do_none(tmp_path, capsys):
    file = tmp_path / "idle.hlo"
    file.write_text("HloModule idle\n\nENTRY %e (p: s32[]) -> s32[] {\n"
                    "  ROOT %p = s32[] parameter(0)\n}\n")  # fmt: skip
    assert main(["table", str(file)]) == 0
    assert "no instruction does work" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["table", "svg"])
def test_a_file_that_is_missing_or_not_hlo_is_status_1_in_words(command, tmp_path, capsys):
    assert main([command, str(tmp_path / "none.hlo")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hlo-widgets: ")
    assert "none.hlo" in error

    (tmp_path / "prose.txt").write_text("Once upon a time\n")
    assert main([command, str(tmp_path / "prose.txt")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hlo-widgets: ")
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["table", "{tmp}/none"], "there is no file or folder '{tmp}/none'; check the path"),
        (["why", "{tmp}/none/x"], "there is no folder '{tmp}/none'; check the path"),
        (["svg", "{tmp}/none"], "neither HLO text nor the name of a file that is here: "),
        (["table", "{tmp}/empty"], "cannot read {tmp}/empty: line 1, column 1: this text is empty"),
        (["table", "{tmp}/empty/x"], "a part of '{tmp}/empty/x' is a file and no folder"),
        (["svg", SOFTMAX, "--out", "{tmp}/no/x.svg"], "there is no folder '{tmp}/no'"),
        (["svg", SOFTMAX, "--out", "{tmp}"], "'{tmp}' is a folder; name a file"),
        (["table", SOFTMAX, "--target", "v66"], "unknown target 'v66'. Did you mean 'v6e'?"),
        (["why", SOFTMAX, "nope", "fusion.1"], f"`hlo-widgets table {SOFTMAX}` lists those"),
        (["why", SOFTMAX], "of HLO alone, ask about two ops by name"),
        (["capture", "--out", "{tmp}/empty", "--target", "cpu", "--program", "matmul"],
         "'{tmp}/empty' is a file and no folder; name another path"),
    ],
)  # fmt: skip
def test_odd_input_is_answered_with_what_to_do(arguments, words, tmp_path, capsys):
    (tmp_path / "empty").write_text("")
    assert main([part.format(tmp=tmp_path) for part in arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hlo-widgets: ")
    assert words.format(tmp=tmp_path) in error
    assert "Errno" not in error


def test_without_a_command_all_of_them_are_named(capsys):
    with pytest.raises(SystemExit):
        main([])
    assert "name a command: table, svg, why, targets or capture" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["why"])
    assert "are required: file\n" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"hlo-widgets {hlo_widgets.__version__}\n"


def test_targets_without_their_compiler_are_listed_with_what_to_install(capsys, monkeypatch):
    for module in ("libtpu", "jax_cuda12_plugin", "jax_plugins.xla_cuda13"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
    assert main(["targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    states = {line.split()[0]: line for line in lines if line}
    assert states["v6e"].endswith('no: pip install "libtpu>=0.0.45"')
    assert " no: pip install jax-cuda12-plugin " in states["h100"]
    assert states["cpu"].split()[-2] == "jaxlib"


def test_the_picture_goes_to_a_file_or_to_standard_output(tmp_path, capsys):
    out = tmp_path / "softmax.svg"
    assert main(["svg", SOFTMAX, "--out", str(out)]) == 0
    closed = out.read_text(encoding="utf-8")
    assert "<svg" in closed
    assert "fusion.1" in closed
    assert capsys.readouterr().out == ""
    assert main(["svg", SOFTMAX, "--expand", "fusion.1", "--color-by", "cycles"]) == 0
    opened = capsys.readouterr().out
    assert len(opened) > len(closed)


def test_opening_what_is_not_there_is_status_1(capsys):
    assert main(["svg", SOFTMAX, "--expand", "fusion.77"]) == 1
    assert "fusion.77" in capsys.readouterr().err


def test_targets_are_listed_with_what_is_here_and_what_they_need(capsys):
    assert main(["targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "platform", "device", "kind", "chips", "installed", "here"]
    assert any(line.startswith("cpu ") and "jaxlib" in line for line in lines)
    assert any(line.startswith("v6e ") and "tpu" in line and "libtpu" in line for line in lines)
    assert any(line.startswith("h100 ") and "NVIDIA H100" in line for line in lines)
    assert "v5e:4x4" in lines[-1]


def test_capture_writes_text_and_manifest(tmp_path, capsys):
    out = tmp_path / "made"
    assert main(["capture", "--target", "cpu", "--program", "matmul", "--out", str(out)]) == 0
    assert {path.name for path in out.iterdir()} == {"matmul.cpu.hlo.txt", "manifest.json"}
    assert "matmul.cpu.hlo.txt" in capsys.readouterr().out


def test_capture_leaves_what_cannot_be_made_here_and_writes_the_overview(
    tmp_path, capsys, monkeypatch
):
    # As where no libtpu is installed.
    monkeypatch.setitem(sys.modules, "libtpu", None)
    monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
    text, entry = captures.capture("mlp", "cpu")
    captures.write_capture(tmp_path, text, entry)
    captures.write_capture(tmp_path, text, {**entry, "target": "v6e", "file": "mlp.v6e.hlo.txt"})
    command = ["capture", "--program", "mlp", "--out", str(tmp_path)]
    assert main(command) == 0
    told = capsys.readouterr().out.splitlines()
    assert any(line.startswith("mlp for v6e is left as it is: the package libtpu") for line in told)
    assert told[-1] == str(tmp_path / "mlp.md")
    assert "| cpu | 14 | 9 | 0 | 0 | 5 | not known | 0 |" in (tmp_path / "mlp.md").read_text()
    # By name it is an error.
    assert main([*command, "--target", "v6e"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "v6"], "Did you mean 'v6e'"),
        (["--target", "cpu", "--program", "softmax"], "there is no capture of 'softmax'"),
    ],
)
def test_capture_of_what_nobody_knows_is_status_1(arguments, words, tmp_path, capsys):
    assert main(["capture", *arguments, "--out", str(tmp_path)]) == 1
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_stops_reading_is_no_error():
    script = "from hlo_widgets.cli import main; import sys; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, "table", SOFTMAX, "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    with process:
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_records_are_counted_with_the_passes_that_made_fusions(capsys):
    assert main(["why", str(dump_folder("mlp.h100"))]) == 0
    out = capsys.readouterr().out
    assert "107 ranked, 30 fused, 21 ineligible" in out
    assert "in the final module: 160 exact\n" in out
    assert "    13 the producer is not fusible\n" in out
    assert "\n       [ours] not fusible: this pass does not take the op" in out
    assert "fusion: priority-fusion: " in out


def test_two_ops_are_explained_by_a_folder_a_file_with_its_module_or_the_hlo_alone(capsys):
    folder = str(dump_folder("row_softmax.v6e"))
    assert main(["why", folder, "reduce_max.7", "fusion.1"]) == 0
    assert "reduce_max.7 and fusion.1: structural." in capsys.readouterr().out
    log = str(file_of("mlp.v6e", ".log"))
    module = str(file_of("mlp.v6e", "after_codegen.txt"))
    assert main(["why", log, "fusion.8", "fusion.10", "--module", module]) == 0
    assert "Should not fuse with elementwise" in capsys.readouterr().out
    assert main(["why", SOFTMAX, "x", "fusion.1"]) == 0
    assert "blocked. Between them stands copy-start/copy-done" in capsys.readouterr().out


def test_a_file_without_records_has_nothing_to_count(capsys):
    assert main(["why", SOFTMAX]) == 1
    assert "cannot read fusion decisions" in capsys.readouterr().err
    assert main(["why", SOFTMAX, "x", "fusion.1", "--module", SOFTMAX]) == 1
    assert "cannot read fusion decisions" in capsys.readouterr().err
