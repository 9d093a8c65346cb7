"""The captures that come with the package: complete, free of this machine, and reproducible."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hlo_widgets import captures
from hlo_widgets.compiler import list_targets
from hlo_widgets.errors import CompileError, UnknownCaptureError
from hlo_widgets.tables import cost_table

ROOT = Path(__file__).parents[1]
PROGRAMS = ["row_softmax", "matmul", "matmul_bias_gelu", "rms_norm", "attention", "scan"]
EVERY = [(program, target) for program in PROGRAMS for target in captures.TARGETS]
EVERYWHERE = [target.name for target in list_targets() if target.name != "local"]

needs_libtpu = pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None,
    reason='needs the TPU compiler: pip install "libtpu>=0.0.45", Linux x86-64 only',
)


def test_every_program_is_there_for_every_target():
    entries = [(e["program"], e["target"]) for e in captures.manifest()]
    assert [entry for entry in entries if entry[0] != "mlp"] == EVERY
    assert {target for program, target in entries if program == "mlp"} == set(EVERYWHERE)
    assert captures.program_names() == [*PROGRAMS, "mlp"]
    names = {path.name for path in (ROOT / "captures").iterdir() if path.is_file()}
    files = {e["file"] for e in captures.manifest()}
    assert names == files | {"manifest.json", "mlp.md", "programs.py"}


@pytest.mark.parametrize(("program", "target"), EVERY)
def test_a_capture_gives_the_figures_of_its_manifest(program, target):
    result = captures.load(program, target)
    entry = next(e for e in captures.manifest() if e["file"] == f"{program}.{target}.hlo.txt")
    table = cost_table(result.module, target=result.target, versions=result.versions)
    assert (
        json.loads(table[list(entry["figures"][0])].to_json(orient="records")) == (entry["figures"])
    )
    assert table.attrs["total_estimated_cycles"] == entry["total_estimated_cycles"] > 0
    assert table.attrs["known_rows"] == entry["known_rows"]
    assert table.attrs["rows"] == entry["rows"] == len(entry["figures"])
    assert (result.target, result.flags) == (target, {})
    assert set(result.versions) >= {"jax", "jaxlib", "libtpu"}
    assert result.module.name == f"jit_{program}"
    assert result.module.warnings == ()


@pytest.mark.parametrize("target", EVERYWHERE)
def test_the_table_of_the_mlp_is_that_of_its_texts(target):
    table = cost_table(captures.load("mlp", target).module, target=target)
    kinds = table["fusion_kind"].value_counts()
    total, known = table.attrs["total_estimated_cycles"], table.attrs["known_rows"]
    row = [
        target,
        len(table),
        *(int(kinds.get(kind, 0)) for kind in ("kLoop", "kInput", "kOutput", "kCustom")),
        "not known" if total is None else f"{total:,}",
        known,
    ]
    lines = (ROOT / "captures" / "mlp.md").read_text(encoding="utf-8").splitlines()
    assert f"| {' | '.join(map(str, row))} |" in lines


def test_the_table_of_the_mlp_is_written_from_the_texts(tmp_path):
    shutil.copytree(ROOT / "captures", tmp_path / "captures")
    written = captures.write_overview(tmp_path / "captures")
    assert written.read_bytes() == (ROOT / "captures" / "mlp.md").read_bytes()
    assert captures.write_overview(tmp_path) is None


def test_a_folder_is_captured_again_for_what_it_holds(tmp_path):
    assert captures.targets_of("mlp", ROOT / "captures")[:2] == ["a100-40gb", "a100"]
    assert captures.targets_of("scan", ROOT / "captures") == ["v5e", "v6e"]
    assert captures.targets_of("mlp", tmp_path) == ["v5e", "v6e"]


@pytest.mark.parametrize(
    ("target", "cycles"), [("v6e", [5604, 6212, 8740]), ("v5e", [8340, 10004, 13544])]
)
def test_row_softmax_has_the_known_figures(target, cycles):
    assert (
        list(cost_table(captures.load("row_softmax", target).module)["estimated_cycles"]) == cycles
    )


def test_the_loop_of_scan_is_counted():
    table = cost_table(captures.load("scan", "v6e").module)
    assert 12 in set(table["trip_count"])
    assert table["trip_count"].notna().all()


@pytest.mark.parametrize("path", sorted((ROOT / "captures").iterdir()), ids=lambda path: path.name)
def test_no_capture_names_a_folder_of_the_machine_that_made_it(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r'"(/|[A-Za-z]:\\)', text)
    assert str(ROOT) not in text
    assert str(Path.home()) not in text


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_source_lines_lie_in_the_programs_file(program):
    source = (ROOT / "captures" / "programs.py").read_text(encoding="utf-8").splitlines()
    first = source.index(next(line for line in source if line.startswith(f"def {program}(")))
    table = cost_table(captures.load(program, "v6e").module)
    places = table["source"].dropna()
    assert len(places) > 0
    for place in places:
        file, _, line = place.partition(":")
        assert file == "programs.py"
        assert first < int(line) - 1 < first + 10


def test_an_unknown_capture_says_what_there_is():
    with pytest.raises(UnknownCaptureError, match=r"Did you mean 'row_softmax for v6e'") as error:
        captures.load("row_softmx", "v6e")
    assert "scan for v5e" in error.value.known
    with pytest.raises(KeyError):
        captures.load("row_softmax", "h100")


def test_an_unknown_program_is_not_compiled():
    with pytest.raises(UnknownCaptureError, match="Did you mean 'matmul'"):
        captures.capture("matmull", "v6e")


@needs_libtpu
@pytest.mark.parametrize("target", captures.TARGETS)
def test_compiling_row_softmax_again_gives_the_recorded_figures(target):
    text, entry = captures.capture("row_softmax", target)
    recorded = next(e for e in captures.manifest() if e["file"] == entry["file"])
    assert entry["figures"] == recorded["figures"]
    assert entry["total_estimated_cycles"] == recorded["total_estimated_cycles"]
    assert not re.search(r'"/', text)
    if entry["versions"] == recorded["versions"]:
        assert text == captures.load("row_softmax", target).hlo_text


def test_a_capture_for_another_target_is_written_beside_the_others(tmp_path):
    text, entry = captures.capture("row_softmax", "cpu")
    assert '"/' not in text
    captures.write_capture(tmp_path / "new", text, entry)
    assert captures.manifest(tmp_path / "new") == [entry]
    assert (tmp_path / "new" / "row_softmax.cpu.hlo.txt").read_text(encoding="utf-8") == text
    assert entry["total_estimated_cycles"] is None
    assert entry["arguments"] == ["bfloat16[1024,512]"]

    again = {**entry, "date": "2000-01-01", "compile_seconds": 99.0}
    captures.write_capture(tmp_path / "new", text, again)
    assert captures.manifest(tmp_path / "new") == [entry]

    changed = {**again, "versions": {"jax": "9"}}
    captures.write_capture(tmp_path / "new", text, changed)
    captures.write_capture(tmp_path / "new", "", {**entry, "program": "own", "file": "own.hlo.txt"})
    captures.write_capture(tmp_path / "new", "", {**entry, "program": "scan", "file": "s.hlo.txt"})
    files = [e["file"] for e in captures.manifest(tmp_path / "new")]
    assert files == ["row_softmax.cpu.hlo.txt", "s.hlo.txt", "own.hlo.txt"]
    assert captures.manifest(tmp_path / "new")[0] == changed


def test_a_compiler_that_refuses_is_heard():
    with pytest.raises(CompileError, match="xla_nonsense"):
        captures.capture("matmul", "cpu", flags={"xla_nonsense": True})


def test_paths_in_source_tables_are_cut_to_their_last_part():
    text = (
        "HloModule m\n\nFileNames\n"
        '1 "/home/someone/.venv/bin/tool"\n2 "captures/programs.py"\n3 "C:\\\\work\\\\x.py"\n'
        '\nFunctionNames\n1 "f"\n\nENTRY {}'
    )
    assert captures._without_paths(text).split("\n\n")[1].splitlines() == [
        "FileNames",
        '1 "tool"',
        '2 "captures/programs.py"',
        '3 "x.py"',
    ]
    assert captures._without_paths("HloModule m\n") == "HloModule m\n"


@pytest.mark.slow
def test_the_wheel_carries_the_captures(tmp_path):
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path]
    subprocess.run([*pip, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "site")
    expected = {e["file"] for e in captures.manifest()}
    expected |= {"manifest.json", "mlp.md", "programs.py"}
    assert {
        n.removeprefix("hlo_widgets/_captures/") for n in names if "_captures/" in n
    } == expected
    script = (
        "import hlo_widgets as hw, hlo_widgets.captures as c; "
        "print(c.__file__, len(hw.captures.load('scan', 'v5e').module.computations) > 3)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(tmp_path / "site/hlo_widgets/captures.py"), "True"]
