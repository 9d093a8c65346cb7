"""Nothing that an explain worker dumps is left, however the worker ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import (
    call_off,
    compile_for,
    compile_newest,
    explain_keeper,
    shut_down,
)
from hlo_widgets.compiler.explain_folder import PREFIX, _standard_error_to
from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import CompileCancelledError, CompileError, CompileTimeoutError
from tests.compiler.support import (
    SOFTMAX_SPEC,
    is_alive,
    mlp,
    needs_libtpu,
    row_softmax,
    wait_until,
    worker_that,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="looks at processes as Linux shows them"
)
MLP_SPECS = tuple(
    jax.ShapeDtypeStruct(shape, jnp.bfloat16)
    for shape in [(1024, 512), (512, 2048), (2048, 512), (2048,)]
)


@pytest.fixture
def dumps(tmp_path, monkeypatch, changed_settings):
    """List the folders of explain workers; of those that start in this test alone."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return lambda: list(tmp_path.glob(f"{PREFIX}*"))


def explain_softmax(target="cpu"):
    return compile_for(row_softmax, SOFTMAX_SPEC, target=target, explain=True)


class Compiling(threading.Thread):
    """A slow explain compile in a thread; what it raises is kept."""

    def __init__(self, key=None):
        super().__init__()
        self.key, self.error = key, None
        self.start()

    def run(self):
        try:
            compile_newest(self.key, mlp, *MLP_SPECS, target="v6e", explain=True)
        except CompileError as error:
            self.error = error

    def is_dumping(self, folder):
        return any(folder.glob("*/*after_pipeline-start*"))


def test_the_dumps_of_a_request_are_gone_after_it_and_the_folder_with_its_worker(dumps):
    explain_softmax()
    (folder,) = dumps()
    assert [path.name for path in folder.iterdir()] == ["lock"]
    shut_down()
    wait_until(lambda: dumps() == [])


@needs_libtpu
def test_a_killed_worker_leaves_no_dump_and_the_next_one_works(dumps):
    explain_softmax("v6e")
    (folder,) = dumps()
    thread = Compiling()
    wait_until(lambda: thread.is_dumping(folder))
    os.kill(workers.process_id("tpu+explain"), signal.SIGKILL)
    thread.join()
    assert "SIGKILL" in str(thread.error)
    assert "jit_mlp" in thread.error.log
    wait_until(lambda: not folder.exists())
    assert len(explain_softmax("v6e").decisions) > 0


@needs_libtpu
def test_a_compile_that_is_called_off_leaves_no_dump(dumps):
    explain_softmax("v6e")
    (folder,) = dumps()
    thread = Compiling("widget")
    wait_until(lambda: thread.is_dumping(folder))
    assert call_off("widget")
    thread.join()
    assert isinstance(thread.error, CompileCancelledError)
    wait_until(lambda: not folder.exists())


@needs_libtpu
def test_a_compile_that_takes_too_long_leaves_no_dump(dumps, changed_settings):
    explain_softmax("v6e")
    changed_settings.time_limit_seconds = 0.2
    with pytest.raises(CompileTimeoutError):
        compile_for(mlp, *MLP_SPECS, target="v6e", explain=True)
    wait_until(lambda: dumps() == [])
    changed_settings.time_limit_seconds = 60.0
    assert len(explain_softmax("v6e").decisions) > 0


def test_a_log_that_cannot_be_written_leaves_no_file_open(tmp_path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(FileNotFoundError), _standard_error_to(tmp_path / "none" / "log"):
            pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_last_words_of_a_worker_that_crashes_are_told(dumps, changed_settings):
    changed_settings.command = worker_that(
        "import os",
        "from hlo_widgets.compiler import explaining",
        "def crash(*_):",
        "    os.write(2, b'these are the last words\\n')",
        "    os.abort()",
        "explaining.collect_records = crash",
    )
    with pytest.raises(CompileError, match="SIGABRT") as caught:
        explain_softmax()
    assert "these are the last words" in caught.value.log
    wait_until(lambda: dumps() == [])


def test_where_the_keeper_was_killed_the_next_worker_cleans(dumps):
    explain_softmax()
    (folder,) = dumps()
    worker = workers.process_id("cpu+explain")
    (keeper,) = children_named("explain_keeper", worker)
    os.kill(keeper, signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not is_alive(worker))
    (folder / "left").mkdir()
    explain_softmax()
    # A folder so young could be that of a worker that is about to lock it.
    assert folder.exists()
    shut_down()
    os.utime(folder, (0, 0))
    explain_softmax()
    assert not folder.exists()
    assert len(dumps()) == 1


def test_the_folder_of_a_worker_that_lives_is_left_alone(dumps):
    explain_softmax()
    (folder,) = dumps()
    os.utime(folder, (0, 0))
    sweeping = "from hlo_widgets.compiler.explain_folder import sweep; sweep(0)"
    subprocess.run([sys.executable, "-c", sweeping], check=True)
    assert folder.exists()
    assert len(explain_softmax().decisions) > 0


def test_records_come_from_a_worker_with_a_temporary_folder_of_its_own(dumps, changed_settings):
    there = Path(os.environ["TMPDIR"]) / "there"
    there.mkdir()
    changed_settings.command = f"env TMPDIR={there} {sys.executable} -m hlo_widgets.compiler.worker"
    assert len(explain_softmax().decisions) > 0
    assert dumps() == []
    assert len(list(there.glob(f"{PREFIX}*"))) == 1


def children_named(word, parent):
    """List the processes of a parent whose command line holds a word."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text()
            status = (process / "stat").read_text().rpartition(")")[2].split()
        except (OSError, IndexError):
            continue
        if word in command and int(status[1]) == parent:
            found.append(int(process.name))
    return found


def test_a_dump_that_had_no_room_is_told_and_not_kept(dumps, changed_settings, tmp_path):
    # A limit of a file's size cuts dumps as a full disk does.
    changed_settings.cache_folder = str(tmp_path / "cache")
    changed_settings.command = worker_that(
        "import resource", "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    )
    results = [compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True) for _ in range(2)]
    for result in results:
        assert any("is full: the compiler's records may be cut" in note for note in result.notes)
        assert not result.is_cached
    changed_settings.command = None
    whole = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    assert not any("is full" in note for note in whole.notes)


def test_the_keeper_removes_the_dumps_where_nobody_reads_the_log_any_more(tmp_path):
    request = tmp_path / "dumps" / "request"
    request.mkdir(parents=True)
    (request / explain_keeper.LOG).write_bytes(b"last words" * 100_000)
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-I", "-S", explain_keeper.__file__, str(tmp_path / "dumps")]
    keeper = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=write, check=False)
    os.close(write)
    assert not (tmp_path / "dumps").exists()
    assert keeper.returncode == 0
