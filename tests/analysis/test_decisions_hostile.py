"""Files made to do harm, damaged files and files of something else: refused with an error."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import zipfile

import pytest

from hlo_widgets.analysis.decisions import read_decision_source, read_decisions
from hlo_widgets.analysis.decisions.messages import read_text_message, read_wire_fields
from hlo_widgets.errors import DecisionFileError, HloWidgetsError
from tests.analysis.dumps import file_of

FRAMES = {"frames": [{"id": 0, "label": "Not fusing |a| into |b| as no", "graph_id": 0}]}


def archive(*entries, compression=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as file:
        for name, content in entries:
            file.writestr(zipfile.ZipInfo(name), content, compression)
    return data.getvalue()


def read(tmp_path, data, name="x_fusion.pyz"):
    path = tmp_path / name
    path.write_bytes(data)
    return read_decisions(path)


def refused(tmp_path, data, words, name="x_fusion.pyz"):
    with pytest.raises(DecisionFileError, match=words) as caught:
        read(tmp_path, data, name)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) < 500


def test_a_plain_archive_is_read(tmp_path):
    (decision,) = read(tmp_path, archive(("metadata.json", json.dumps(FRAMES)))).decisions
    assert (decision.producer, decision.consumer, decision.reason) == ("a", "b", "no")


def test_nothing_in_an_archive_is_run_or_unpacked(tmp_path):
    code = f"open({str(tmp_path / 'ran')!r}, 'w')"
    read(tmp_path, archive(("__main__.py", code), ("metadata.json", json.dumps(FRAMES))))
    assert [path.name for path in tmp_path.iterdir()] == ["x_fusion.pyz"]


def test_a_line_for_the_shell_before_an_archive_is_no_harm(tmp_path):
    data = archive(("metadata.json", json.dumps(FRAMES)))
    assert len(read(tmp_path, b"#!/usr/bin/env python3\n" + data)) == 1


@pytest.mark.parametrize("name", ["../metadata.json", "/etc/x", "C:\\x", "a/../../b", "..\\x"])
def test_a_path_that_leads_out_is_refused(tmp_path, name):
    data = archive(("metadata.json", json.dumps(FRAMES)), (name, "x"))
    refused(tmp_path, data, "leads out of the archive")


def test_a_bomb_is_refused(tmp_path):
    refused(tmp_path, archive(("metadata.json", b" " * 80_000_000)), "would unpack to")
    # Small enough, but no text of captions shrinks so.
    refused(tmp_path, archive(("metadata.json", b" " * 8_000_000)), "would unpack to")


def test_a_bomb_that_lies_about_its_size_is_refused(tmp_path):
    data = bytearray(archive(("metadata.json", b" " * 80_000_000)))
    size = (80_000_000).to_bytes(4, "little")
    while (place := data.find(size)) >= 0:
        data[place : place + 4] = (1000).to_bytes(4, "little")
    refused(tmp_path, bytes(data), "damaged|unpack")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "null",
        '{"frames": {}}',
        '{"frames": [1]}',
        '{"frames": [{"label": 7}]}',
        '{"frames": [[]]}',
        "[" * 100_000,
        '{"frames": ' + "9" * 5000 + "}",
        b"\xff\xfe{}",
    ],
)
def test_json_of_another_shape_is_refused(tmp_path, text):
    refused(tmp_path, archive(("metadata.json", text)), "metadata.json|frame")


def test_an_archive_without_captions_or_with_two_is_refused(tmp_path):
    refused(tmp_path, archive(("graphs/0.dot", "digraph {}")), "0 entries")
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = archive(("metadata.json", json.dumps(FRAMES)), ("metadata.json", "{}"))
    refused(tmp_path, twice, "2 entries")


def test_another_compression_is_refused(tmp_path):
    data = archive(("metadata.json", json.dumps(FRAMES)), compression=zipfile.ZIP_LZMA)
    refused(tmp_path, data, "would unpack")


def test_something_else_is_refused(tmp_path):
    refused(tmp_path, b"PK\x03\x04 and no zip", "damaged")
    refused(tmp_path, b"hello", "it is not a _fusion.pyz", "x.txt")
    refused(tmp_path, b"", "it is not a _fusion.pyz", "x.txt")
    refused(tmp_path, b"\x1f\x8b and no gzip", "compressed data is damaged", "x.log.gz")


def test_a_folder_without_records_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(DecisionFileError, match="xla_dump_to"):
        read_decisions(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_decisions(tmp_path / "nowhere")


def test_a_folder_with_one_bad_file_reads_the_others(tmp_path):
    (tmp_path / "a_fusion.pyz").write_bytes(archive(("metadata.json", json.dumps(FRAMES))))
    (tmp_path / "b_fusion.pyz").write_bytes(b"PK nothing")
    log = read_decisions(tmp_path)
    assert len(log) == 1
    assert any("b_fusion.pyz" in note for note in log.notes)
    assert any("not joined" in note for note in log.notes)


@pytest.mark.parametrize(
    "frames",
    [
        "",
        "const frames = 7;",
        "const frames = [[0, ",
        "const frames = [[0, 1]];",
        "const frames = [[0, 'a']];",
    ],
)
def test_a_page_without_frames_is_refused(tmp_path, frames):
    refused(tmp_path, f"<html><script>{frames}".encode(), "frame", "x_fusion.html")


def test_a_page_cut_off_in_its_frames_is_refused(tmp_path):
    data = file_of("mlp.h100", "_fusion.html").read_bytes()
    cut = data[: data.index(b"into |fusion.9|")]
    refused(tmp_path, cut, "list of frames is damaged", "x_fusion.html")


@pytest.mark.parametrize(
    "text",
    [
        "fusion_steps {",
        "fusion_steps { fusion {} } }",
        "fusion_steps { fusion ",
        'fusion_steps { "x" }',
        "fusion_steps \x00",
        "fusion_steps " + "{ a " * 100,
    ],
)
def test_a_damaged_text_dump_is_refused(tmp_path, text):
    refused(tmp_path, text.encode(), "no priority fusion dump", "priority_fusion_dump.txt")


@pytest.mark.parametrize(
    "data", [b"\x0a\xff", b"\x0a\x05abc", b"\x0a\x02\x26\x05", b"\x0a" + b"\x80" * 20]
)
def test_a_damaged_binary_dump_is_refused(tmp_path, data):
    refused(tmp_path, data, "no priority fusion dump|no fusion steps", "dump.pb")


def test_a_cut_dump_never_gives_another_error(tmp_path):
    text = file_of("layer_norm.h100", "priority_fusion_dump.txt").read_bytes()
    dice = random.Random(5)  # noqa: S311 (no secret)
    for _ in range(60):
        data = bytearray(text[: dice.randrange(1, 4000)])
        data[dice.randrange(len(data))] = dice.randrange(256)
        path = tmp_path / "priority_fusion_dump.txt"
        path.write_bytes(bytes(data))
        with contextlib.suppress(HloWidgetsError):
            read_decision_source(path)


def test_a_number_that_is_none_is_no_figure(tmp_path):
    step = 'fusion_steps { update_priority { producer_name: "a" us_fused: nan us_unfused: x } }'
    (decision,) = read(tmp_path, step.encode(), "priority_fusion_dump.txt").decisions
    assert (decision.fused_cost, decision.unfused_cost, decision.priority) == (None, None, None)


def test_a_step_of_an_unknown_kind_is_counted(tmp_path):
    text = b'fusion_steps { dance { name: "a" } } fusion_steps { fusion { producer_name: "a" } }'
    log = read(tmp_path, text, "priority_fusion_dump.txt")
    assert log.unread == {"dance": 1}
    assert len(log) == 1


def test_text_messages_read_escapes_comments_and_joined_strings():
    message = read_text_message(
        "a: \"x\\n\\303\\274\" 'y' # no\nb <\n> c: [1]".replace("<\n>", "{ }").replace(
            "[1]", "-1.5e3"
        )
    )
    assert message == [("a", "x\nüy"), ("b", []), ("c", "-1.5e3")]


def test_wire_fields_of_every_type():
    import struct

    data = b"\x08\x96\x01\x12\x01z\x1d" + struct.pack("<f", 0.5) + b"\x21" + struct.pack("<d", 2.5)
    assert list(read_wire_fields(data)) == [(1, 150), (2, b"z"), (3, 0.5), (4, 2.5)]


def test_a_log_that_swells_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr("hlo_widgets.analysis.decisions.reader._MOST_BYTES", 1000)
    refused(tmp_path, gzip.compress(b"a" * 100_000), "more than 1000 bytes", "x.log.gz")


def test_a_line_that_never_ends_a_pair_is_read_in_one_sweep(tmp_path):
    # With a search that tries every pair of places this would take hours.
    place = "I0604 10:00:00.000000   1 tpu_instruction_fusion.cc:100] "
    (tmp_path / "a.log").write_text(place + "Not fusing p = " + "| into |c = " * 200_000)
    log = read_decisions(tmp_path / "a.log")
    assert len(log) == 0
    assert sum(log.unread.values()) == 1
