"""What travels of a dump: the records first, no graphs, no repetition, and not too much."""

from __future__ import annotations

import lzma
import re
import tracemalloc
import zipfile

import pytest

from hlo_widgets.analysis.decisions import read_decisions, read_records
from hlo_widgets.analysis.decisions.log_lines import condensed
from hlo_widgets.analysis.decisions.tpu_log import read_compiler_log
from hlo_widgets.compiler import CompilationResult, explain_records
from hlo_widgets.compiler.explain_records import collect_records, pack_records, unpack_records
from hlo_widgets.errors import DecisionFileError
from tests.analysis.dumps import dump_folder, module_of

NAMES = ["mlp.v6e", "mlp.h100", "train_step.v6e", "train_step.h100"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_from_the_packed_files_is_what_the_folder_says(name):
    folder, module = dump_folder(name), module_of(name)
    files, left_out = collect_records(folder, module.name)
    assert left_out == 0
    log = read_records(unpack_records(pack_records(files)), module)
    whole = read_decisions(folder)
    assert log.decisions == whole.decisions
    assert [p.changes for p in log.passes] == [p.changes for p in whole.passes]


def test_unpacking_gives_what_was_packed():
    files = {"a": b"", "b.log": b"x" * 100_000, "ü": b"\x00\xff"}
    assert unpack_records(pack_records(files)) == files


def test_where_there_is_too_much_the_records_go_first():
    folder = dump_folder("mlp.v6e")
    files, _ = collect_records(folder, "jit_mlp")
    sources = [name for name in files if ".00" not in name]
    room = sum(len(files[name]) for name in sources)
    few, left_out = collect_records(folder, "jit_mlp", room)
    assert list(few) == sources
    assert left_out == len(files) - len(sources) > 0
    more, _ = collect_records(folder, "jit_mlp", room + 100_000)
    assert "fusion" in next(name for name in more if name not in few).lower()


def test_of_a_large_program_no_more_is_held_than_travels(tmp_path):
    for number in range(30):
        dump = tmp_path / f"module_1.jit_f.{number:04}.simplify.after_x.before_y.txt"
        dump.write_bytes(b"HloModule jit_f, n=1\n" + bytes([number]) * 2**20)
    tracemalloc.start()
    try:
        files, left_out = collect_records(tmp_path, "jit_f", 3 * 2**20 + 1000)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(files), left_out) == (3, 27)
    assert peak_bytes < 6 * 2**20


def test_two_full_collections_can_be_unpacked_together(tmp_path, monkeypatch):
    few = {"_PASSES_BYTES": 20_000, "_PICTURES_BYTES": 10_000, "_MOST_BYTES": 60_000}
    for name, count in few.items():
        monkeypatch.setattr(explain_records, name, count)
    for number in range(100):
        (tmp_path / f"m.{number}._fusion.html").write_bytes(b"x" * 1000)
        dump = tmp_path / f"module_1.jit_f.{number:04}.simplify.after_x.before_y.txt"
        dump.write_bytes(b"HloModule jit_f, n=1\n" + bytes([number]) * 900)
    passes, left_out = collect_records(tmp_path, "jit_f")
    pictures, of_pictures_left_out = collect_records(tmp_path)
    assert (len(passes), left_out) == (20, 180)
    assert (len(pictures), of_pictures_left_out) == (10, 90)
    assert unpack_records(pack_records(passes) + pack_records(pictures)) == passes | pictures


def test_of_two_files_of_a_name_the_last_counts():
    packed = pack_records({"a": b"1", "b": b"2"}) + pack_records({"b": b"3"})
    assert unpack_records(packed) == {"a": b"1", "b": b"3"}


def test_a_module_that_is_like_the_one_before_is_left_out(tmp_path):
    for number, body in enumerate(["a", "a", "b", "b"]):
        name = f"module_1.jit_f.000{number}.simplify.after_x.before_y.txt"
        (tmp_path / name).write_text(f"HloModule jit_f, n={number}\n{body}\n")
    (tmp_path / "module_2.g.0004.p.after_x.before_y.txt").write_text("HloModule g\nc\n")
    files, _ = collect_records(tmp_path, "jit_f")
    assert [re.search(r"\.(\d{4})\.", name)[1] for name in files] == ["0000", "0002"]


def test_graphs_stay_behind(tmp_path):
    with zipfile.ZipFile(tmp_path / "m._fusion.pyz", "w") as archive:
        archive.writestr("metadata.json", '{"frames": []}')
        archive.writestr("graphs/0.dot", "x" * 1_000_000)
    files, _ = collect_records(tmp_path)
    assert len(files["m._fusion.pyz"]) < 1000


def test_a_damaged_picture_is_sent_for_its_reader_to_say_so(tmp_path):
    (tmp_path / "m._fusion.pyz").write_bytes(b"PK nonsense")
    files, _ = collect_records(tmp_path)
    log = read_records(files, module_of("mlp.v6e"))
    assert len(log) == 0
    assert "damaged" in log.notes[0]


def test_what_is_kept_of_a_log_reads_as_the_whole_log_does():
    (log,) = dump_folder("mlp.v6e").glob("*.log")
    lines = log.read_text().splitlines(keepends=True)
    other = "I1129 19:40:48.393805   19942 other_file.cc:1018] Noise\n  that goes on\n"
    noisy = [part for line in lines for part in ([other] * line.startswith("I") + [line])]
    kept = "".join(condensed("".join(noisy).splitlines(keepends=True)))
    assert "Noise" not in kept
    assert len(kept) < len("".join(lines)) * 2 / 3
    assert read_compiler_log(kept, "log") == read_compiler_log("".join(lines), "log")


def test_records_that_swell_are_refused(monkeypatch):
    packed = pack_records({"x": b"\0" * 1_000_000})
    monkeypatch.setattr(explain_records, "_MOST_BYTES", 100_000)
    with pytest.raises(DecisionFileError, match="cut off, or too many"):
        unpack_records(packed)


@pytest.mark.parametrize(
    "packed",
    [
        b"nonsense",
        pack_records({"a": b"b"})[:-5],
        pack_records({"a": b"b"}) + b"nonsense",
        lzma.compress(b"nonsense"),
        lzma.compress(b"H"),
    ],
)
def test_damaged_records_are_an_error_of_ours(packed):
    result = CompilationResult(
        hlo_text="HloModule m", target="cpu", versions={}, compile_seconds=0.0, records=packed
    )
    with pytest.raises(DecisionFileError, match="the reply of the compiler process"):
        _ = result.decisions
