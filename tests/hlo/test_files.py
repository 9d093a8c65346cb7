"""Files of every kind, standard input, and dump folders."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib.util
import io
import lzma
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hlo_widgets.errors import HloFileError, HloParseError
from hlo_widgets.hlo import list_dump, parse_hlo_module, read_hlo
from tests.hlo.test_damage import TEXT

HAS_JAXLIB = importlib.util.find_spec("jaxlib") is not None


def proto_of(text: str) -> bytes:
    """Let XLA make the protocol buffer of a text, in a child process."""
    code = (
        "import sys; from jaxlib import _hlo;"
        "m = _hlo.hlo_module_from_text(sys.stdin.read());"
        "sys.stdout.buffer.write(m.as_serialized_hlo_module_proto())"
    )
    return subprocess.run(
        [sys.executable, "-c", code], input=text.encode(), capture_output=True, check=True
    ).stdout


@pytest.mark.parametrize("ending", ["txt", "hlo", "hlo.txt", "whatever"])
def test_text(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text(TEXT)
    assert read_hlo(path).name == "jit_f"
    assert read_hlo(str(path)).name == "jit_f"


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)],
)
def test_compressed(tmp_path: Path, ending: str, compress) -> None:
    path = tmp_path / f"a.hlo.txt.{ending}"
    path.write_bytes(compress(TEXT.encode()))
    assert read_hlo(path).name == "jit_f"
    path.write_bytes(compress(compress(TEXT.encode())))
    assert read_hlo(path).name == "jit_f"
    path.write_bytes(compress(TEXT.encode())[:20])
    with pytest.raises(HloFileError, match="damaged"):
        read_hlo(path)


def _quick_xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


def long_text() -> str:
    dice = random.Random(5)  # noqa: S311 (to be repeated, not to be secret)
    lines = "".join(
        f'  %a{n + 1} = f32[8] negate(%a{n}), metadata={{op_name="{dice.random()}"}}\n'
        for n in range(30_000)
    )
    return f"HloModule m\n\nENTRY %e {{\n  %a0 = f32[8] parameter(0)\n{lines}}}\n"


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "zst"])
def test_a_compressed_file_that_was_cut_is_read_as_far_as_it_goes(
    tmp_path: Path, kind: str
) -> None:
    compress = {"gz": gzip.compress, "xz": _quick_xz, "bz2": bz2.compress, "zst": _zstd}[kind]
    text = long_text()
    data = compress(text.encode())
    path = tmp_path / f"a.hlo.{kind}"
    path.write_bytes(data[: len(data) // 2])
    module = read_hlo(path)
    assert 5_000 < len(module.entry_computation.instructions) < 25_000
    assert text.startswith(module.text[:-1])
    cut, damaged = module.warnings
    assert "the text ends in computation %e" in cut
    assert damaged.startswith("the compressed file is damaged (")
    # A byte that is wrong hurts what comes after it.
    hurt = bytearray(data)
    hurt[len(data) // 2] ^= 0xFF
    path.write_bytes(hurt)
    with contextlib.suppress(HloParseError):
        assert any("is damaged" in text for text in read_hlo(path).warnings)


@pytest.mark.skipif(not HAS_JAXLIB, reason="jaxlib, which reads protocol buffers, is not installed")
def test_half_a_protocol_buffer_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.pb.gz"
    path.write_bytes(gzip.compress(proto_of(TEXT))[:-9])
    with pytest.raises(HloFileError, match="the compressed data is damaged"):
        read_hlo(path)


def test_streams_one_after_another_are_one_file(tmp_path: Path) -> None:
    half = len(TEXT) // 2
    path = tmp_path / "a.gz"
    parts = (gzip.compress(TEXT[:half].encode()), gzip.compress(TEXT[half:].encode()), b"\0" * 512)
    path.write_bytes(b"".join(parts))
    assert read_hlo(path).text == TEXT


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "zst"])
def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch, kind: str) -> None:
    compress = {"gz": gzip.compress, "xz": _quick_xz, "bz2": bz2.compress, "zst": _zstd}[kind]
    path = tmp_path / f"bomb.{kind}"
    path.write_bytes(compress(bytes(5 * 2**20)))
    monkeypatch.setattr("hlo_widgets.hlo.compression.MOST_BYTES", 4 * 2**20)
    with pytest.raises(HloFileError, match="it unpacks to more than"):
        read_hlo(path)


def test_a_file_without_an_end_is_refused(monkeypatch) -> None:
    monkeypatch.setattr("hlo_widgets.hlo.reader.MOST_BYTES", 2**20)
    with pytest.raises(HloFileError, match="it has more than"):
        read_hlo("/dev/zero")


def _zstd(data: bytes) -> bytes:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name).compress(data)
        except ImportError:
            continue
    program = shutil.which("zstd")
    if program is None:
        pytest.skip("nothing on this machine writes zstd")
    return subprocess.run([program, "-c"], input=data, capture_output=True, check=True).stdout


def test_zstd(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.zst"
    path.write_bytes(_zstd(TEXT.encode()))
    assert read_hlo(path).name == "jit_f"


def test_zstd_without_anything_that_reads_it(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a.txt.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd rest")
    monkeypatch.setenv("PATH", "")
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(HloFileError, match=r"pip install backports\.zstd"):
        read_hlo(path)


@pytest.mark.skipif(not HAS_JAXLIB, reason="jaxlib, which reads protocol buffers, is not installed")
def test_protocol_buffers(tmp_path: Path) -> None:
    proto = proto_of(TEXT)
    size = len(proto)
    length = b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    length += bytes([size])
    wrapped = b"\x0a" + length + proto  # an HloProto: its field 1 is the module
    for name, data in {
        "m.pb": proto,
        "h.hlo.pb": wrapped,
        "h.pb.gz": gzip.compress(wrapped),
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        module = read_hlo(path)
        assert module.name == "jit_f"
        assert module.instruction("fusion.1").backend_config == {"a": {"b": "1"}}
    path = tmp_path / "broken.pb"
    path.write_bytes(wrapped[: len(wrapped) // 2] + b"\x00\xff")
    with pytest.raises(HloFileError):
        read_hlo(path)


def test_protocol_buffer_without_jaxlib(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "m.pb"
    path.write_bytes(b"\x0a\x05jit_f\x12\x04main\x00")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(HloFileError, match="pip install jax"):
        read_hlo(path)


def test_bytes_that_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"\x00\x01\x02\x03" * 100)
    with pytest.raises(HloFileError, match="neither text nor"):
        read_hlo(path)
    path.write_bytes(b"\xff\xfe\xfd not HLO")
    with pytest.raises(HloParseError):
        read_hlo(path)
    with pytest.raises(FileNotFoundError):
        read_hlo(tmp_path / "absent.txt")


def test_standard_input(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert read_hlo("-").name == "jit_f"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A folder with two modules at several stages, and much that is no module."""
    before = TEXT.replace("is_scheduled=true", "replica_count=1")
    files = {
        "module_0001.jit_f.before_optimizations.txt": before,
        "module_0001.jit_f.after_optimizations.txt": TEXT,
        "module_0001.jit_f.after_codegen.txt": TEXT,
        "module_0001.jit_f.after_optimizations_before_buffer_assignment.txt": TEXT + "\n" * 99,
        "module_0001.jit_f.after_optimizations-buffer-assignment.txt": "BufferAssignment:\n",
        "module_0001.jit_f.after_optimizations-memory-usage-report.txt": "Total bytes used: 1\n",
        "module_0001.jit_f.flagfile": "--a=b\n",
        "module_0001.jit_f.0003.Main_fusion.after_tpu_fusion.before_dce.txt": TEXT,
        "module_0002.jit_g.sm_9.0_gpu_after_optimizations.txt": TEXT.replace("jit_f", "jit_g"),
        "module_0002.jit_g.sm_9.0_gpu_after_optimizations.hlo.pb": "not read",
        "module_0003.jit_h.after_optimizations.hlo": "HloModule h\n",
        "module_0003.jit_h.after_optimizations.pb": "not read",
        "loose.hlo": TEXT,
        "notes.txt": "HLO is fun\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_dump_folder_is_listed(dump: Path) -> None:
    listed = [(item.path.name, item.module, item.stage, item.pass_name) for item in list_dump(dump)]
    assert listed == [
        ("module_0001.jit_f.after_codegen.txt", "module_0001.jit_f", "after_codegen", ""),
        (
            "module_0001.jit_f.after_optimizations.txt",
            "module_0001.jit_f",
            "after_optimizations",
            "",
        ),
        (
            "module_0002.jit_g.sm_9.0_gpu_after_optimizations.txt",
            "module_0002.jit_g",
            "after_optimizations",
            "",
        ),
        (
            "module_0003.jit_h.after_optimizations.hlo",
            "module_0003.jit_h",
            "after_optimizations",
            "",
        ),
        (
            "module_0001.jit_f.after_optimizations_before_buffer_assignment.txt",
            "module_0001.jit_f",
            "after_optimizations",
            "before_buffer_assignment",
        ),
        (
            "module_0001.jit_f.before_optimizations.txt",
            "module_0001.jit_f",
            "before_optimizations",
            "",
        ),
        ("loose.hlo", "loose", "", ""),
        (
            "module_0001.jit_f.0003.Main_fusion.after_tpu_fusion.before_dce.txt",
            "module_0001.jit_f",
            "pass",
            "Main_fusion.after_tpu_fusion",
        ),
    ]


def test_a_dump_folder_gives_its_best_module(dump: Path) -> None:
    module = read_hlo(dump)
    assert module.name == "jit_f"
    assert any("module_0002.jit_g" in warning for warning in module.warnings)
    assert not any("estimates" in warning for warning in module.warnings)


def test_who_has_the_estimates_is_told(dump: Path) -> None:
    module = read_hlo(dump / "module_0001.jit_f.after_optimizations.txt")
    assert module.warnings[-1].startswith("the compiler's estimates")
    assert "module_0001.jit_f.after_codegen.txt" in module.warnings[-1]
    (dump / "module_0001.jit_f.after_codegen.txt").unlink()
    assert read_hlo(dump / "module_0001.jit_f.after_optimizations.txt").warnings == ()
    assert any("estimates" in warning for warning in read_hlo(dump).warnings)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(HloFileError, match="xla_dump_to"):
        read_hlo(tmp_path)


def test_the_public_dump_folder(cases: Path) -> None:
    module = read_hlo(cases / "tpu_dump_dir")
    assert module.name == "jit_f"
    assert len(list_dump(cases / "tpu_dump_dir")) == 4


@pytest.mark.skipif(not HAS_JAXLIB, reason="jaxlib, which reads protocol buffers, is not installed")
def test_public_protocol_buffers(cases: Path) -> None:
    assert read_hlo(cases / "concatenate.gpu.hlo.pb.xz").name == "jit_concatenate"
    name = "maxtext_train_step.gpu.after_optimizations.hlo"
    proto = read_hlo(cases / f"{name}.pb")
    text = parse_hlo_module((cases / f"{name}.txt").read_text())
    assert {x.name for x in proto.computations} == {x.name for x in text.computations}
    assert len(list(proto.instructions())) == len(list(text.instructions()))
