"""The compiler processes, on processes that are really killed, stopped, starved and interrupted."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import CompilerSettings, compile_for, shut_down
from hlo_widgets.compiler.environment import worker_command
from hlo_widgets.compiler.handshake import own_versions
from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import CompileError, CompileTimeoutError
from tests.compiler.support import add_one, is_alive, wait_until, worker_that

compile_cpu = functools.partial(compile_for, target="cpu")
SPEC = jax.ShapeDtypeStruct((8, 4), jnp.float32)


def ask_a_stopped_worker(pool):
    """Start a compile and hold its worker in the middle; return the process id and the compile."""
    compile_cpu(add_one, SPEC)
    pid = workers.process_id("cpu")
    os.kill(pid, signal.SIGSTOP)
    compiling = pool.submit(compile_cpu, lambda x: x * 2, SPEC)
    wait_until(lambda: workers.is_busy("cpu"))
    return pid, compiling


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_the_worker_stays_warm_and_is_ended_on_request():
    compile_cpu(add_one, SPEC)
    pid = workers.process_id("cpu")
    compile_cpu(add_one, SPEC)
    assert workers.process_id("cpu") == pid
    assert is_alive(pid)
    shut_down()
    assert not is_alive(pid)
    compile_cpu(add_one, SPEC)
    assert workers.process_id("cpu") != pid


def test_a_worker_killed_in_the_middle_is_a_compile_error_at_once_and_the_next_compile_works(pool):
    pid, compiling = ask_a_stopped_worker(pool)
    start = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(CompileError, match="ended by SIGKILL") as caught:
        compiling.result(timeout=60)
    assert time.monotonic() - start < 2
    assert caught.value.target == "cpu"
    assert "add" in compile_cpu(add_one, SPEC).hlo_text


def test_a_worker_killed_while_nobody_looks_is_replaced_silently():
    compile_cpu(add_one, SPEC)
    pid = workers.process_id("cpu")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    assert "add" in compile_cpu(add_one, SPEC).hlo_text
    assert workers.process_id("cpu") != pid


def test_a_compiler_that_aborts_says_so_with_the_end_of_its_log(changed_settings):
    changed_settings.command = worker_that(
        "import os, sys",
        "from hlo_widgets.compiler.toolchains import Toolchain",
        "def aborting(*args):",
        "    for i in range(1000): print('line', i, file=sys.stderr)",
        "    print('F0000 Check failed: false', file=sys.stderr, flush=True)",
        "    os.abort()",
        "Toolchain.compile = aborting",
    )
    with pytest.raises(CompileError, match="ended by SIGABRT") as caught:
        compile_cpu(add_one, SPEC)
    assert caught.value.log.endswith("line 999\nF0000 Check failed: false")
    assert len(caught.value.log.splitlines()) == 20
    assert "Check failed" in str(caught.value)
    changed_settings.command = None
    assert "add" in compile_cpu(add_one, SPEC).hlo_text


def test_a_worker_that_cannot_start_shows_why(changed_settings):
    changed_settings.command = worker_that("import a_package_that_is_not_there")
    with pytest.raises(CompileError, match="ended with status 1") as caught:
        compile_cpu(add_one, SPEC)
    assert "No module named 'a_package_that_is_not_there'" in caught.value.log


def test_a_command_that_is_not_there(changed_settings):
    changed_settings.command = "no-such-program-anywhere"
    with pytest.raises(CompileError, match="no-such-program-anywhere"):
        compile_cpu(add_one, SPEC)


@pytest.mark.parametrize(("command", "why"), [('"x', "No closing quotation"), (" ", "is empty")])
def test_a_command_that_is_no_command_line(changed_settings, command, why):
    changed_settings.command = command
    with pytest.raises(CompileError, match=rf"settings\.command is no command line: .*{why}"):
        compile_cpu(add_one, SPEC)


@pytest.mark.parametrize("header", ["{", "[1]", "{}", '{"kind": 1}'])
def test_a_worker_that_writes_nonsense_is_an_error_at_once(changed_settings, header):
    frame = b"HLOW" + len(header).to_bytes(4, "big") + bytes(8) + header.encode()
    changed_settings.command = worker_that(
        "import os, time", f"os.write(1, {frame!r})", "time.sleep(60)"
    )
    start = time.monotonic()
    with pytest.raises(CompileError, match="wrote something that is not a message"):
        compile_cpu(add_one, SPEC)
    assert time.monotonic() - start < 4


ANSWERS = {
    "{'kind': 'compiled'}": "its answer lacks 'compile_seconds'",
    "{**own(*args)[0], 'devices': 'one'}": "its answer has no 'devices' that can be read",
    "{'kind': 'refused'}": "its answer lacks 'reason'",
    "{'kind': 'guessed'}": "its answer is of a kind that this one does not know: 'guessed'",
}


@pytest.mark.parametrize(("answer", "words"), ANSWERS.items())
def test_an_answer_that_lacks_something_names_both_releases(changed_settings, answer, words):
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler import handshake, worker",
        "own = worker.answer",
        f"worker.answer = lambda *args: ({answer}, b'')",
        "installed = handshake.installed_versions",
        "theirs = lambda name: {**installed(name), 'hlo-widgets': '0.0.7'}",
        "handshake.installed_versions = theirs",
    )
    with pytest.raises(CompileError) as caught:
        compile_cpu(add_one, SPEC)
    ours = own_versions()["hlo-widgets"]
    assert f"runs hlo-widgets 0.0.7 and this one {ours}, and {words}; install" in str(caught.value)


HELLOS = {
    "{'kind': 'hello', 'protocol': 1, 'versions': None}": "of another release",
    "{**own(*args), 'versions': {'hlo-widgets': '0.0.7'}, 'reason': 7}": "no 'reason' that can be",
    "{'kind': 'hello', 'protocol': handshake.PROTOCOL}": "first message lacks 'versions'",
}


@pytest.mark.parametrize(("hello", "words"), HELLOS.items())
def test_a_first_message_that_lacks_something_is_an_error_too(changed_settings, hello, words):
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler import handshake, worker",
        "own = worker.worker_hello",
        f"worker.worker_hello = lambda *args: {hello}",
    )
    with pytest.raises(CompileError, match="install the same on both sides") as caught:
        compile_cpu(add_one, SPEC)
    assert words in str(caught.value)


@pytest.mark.parametrize("seconds", [float("inf"), 1e10])
def test_limits_without_end(changed_settings, seconds):
    changed_settings.time_limit_seconds = changed_settings.idle_seconds = seconds
    # A timer that cannot wait so long would raise in its thread, which is an error of this test.
    assert "add" in compile_cpu(add_one, SPEC).hlo_text


def test_what_the_compiler_prints_does_not_reach_the_messages(changed_settings):
    changed_settings.command = worker_that(
        "import os",
        "from hlo_widgets.compiler.toolchains import Toolchain",
        "compile = Toolchain.compile",
        "def loud(*args):",
        "    os.write(1, b'junk on stdout' * 100_000)",
        "    return compile(*args)",
        "Toolchain.compile = loud",
    )
    assert "add" in compile_cpu(add_one, SPEC).hlo_text


def test_a_worker_that_greets_instead_of_answering(changed_settings):
    changed_settings.command = worker_that("print('Welcome to the machine', flush=True)")
    with pytest.raises(CompileError) as caught:
        compile_cpu(add_one, SPEC)
    assert "Welcome to" in caught.value.log


def test_a_compiler_that_hangs_is_ended_at_the_time_limit(changed_settings):
    compile_cpu(add_one, SPEC)
    pid = workers.process_id("cpu")
    os.kill(pid, signal.SIGSTOP)
    changed_settings.time_limit_seconds = 0.2
    with pytest.raises(CompileTimeoutError, match=r"no answer within 0\.2 seconds"):
        compile_cpu(lambda x: x * 3, SPEC)
    assert not is_alive(pid)
    changed_settings.time_limit_seconds = 60.0
    assert "add" in compile_cpu(add_one, SPEC).hlo_text


def test_a_large_program_sent_to_a_worker_that_reads_no_more_times_out_too(changed_settings):
    weights = jnp.arange(4_000_000, dtype=jnp.float32)  # more than a pipe holds
    compile_cpu(add_one, SPEC)
    changed_settings.time_limit_seconds = 0.2
    os.kill(workers.process_id("cpu"), signal.SIGSTOP)
    with pytest.raises(CompileTimeoutError):
        compile_cpu(lambda x: x + weights, weights)


def test_an_idle_worker_ends_and_comes_back(changed_settings):
    changed_settings.idle_seconds = 0.05
    compile_cpu(add_one, SPEC)
    pid = workers.process_id("cpu")
    wait_until(lambda: not is_alive(pid))
    assert "add" in compile_cpu(add_one, SPEC).hlo_text
    assert workers.process_id("cpu") != pid


def test_a_request_that_crosses_the_end_of_an_idle_worker_is_sent_again(changed_settings):
    changed_settings.idle_seconds = 0.0
    # Each worker ends right after its first answer: some requests find it gone, some on its way.
    for number in range(4):
        assert "add" in compile_cpu(functools.partial(jnp.add, float(number)), SPEC).hlo_text


def test_threads_that_compile_at_once_each_get_their_own(pool):
    compiled = [
        pool.submit(compile_cpu, functools.partial(jnp.add, float(number)), SPEC)
        for number in range(1, 9)
    ]
    for number, compiling in enumerate(compiled, start=1):
        assert f"constant({number})" in compiling.result(timeout=120).hlo_text


INTERRUPTED = """
    import os, signal, sys, threading, time
    # A suite that runs in the background of a script passes on that interrupts are ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import jax, jax.numpy as jnp
    from hlo_widgets.compiler import compile_for
    from hlo_widgets.compiler.pool import workers
    from tests.compiler.support import wait_until

    spec = jax.ShapeDtypeStruct((8, 4), jnp.float32)
    compile_for(lambda x: x + 1, spec, target="cpu")
    pid = workers.process_id("cpu")
    os.kill(pid, signal.SIGSTOP)

    def interrupt():
        wait_until(lambda: workers.is_busy("cpu"))
        os.killpg(0, signal.SIGINT)  # what a terminal and a notebook do

    thread = threading.Thread(target=interrupt)
    thread.start()
    start = time.monotonic()
    try:
        compile_for(lambda x: x + 2, spec, target="cpu")
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start < 2)
    thread.join()
    print("next", "add" in compile_for(lambda x: x + 3, spec, target="cpu").hlo_text)
"""


def run_script(script, **options):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        **options,
    )


def test_an_interrupt_returns_at_once_without_noise_and_the_next_compile_works():
    with run_script(INTERRUPTED, start_new_session=True) as process:
        output, errors = process.communicate(timeout=120)
    assert output.split() == ["interrupted", "True", "next", "True"]
    assert "Traceback" not in errors


PARENT = """
    import sys, threading
    import jax, jax.numpy as jnp
    from hlo_widgets.compiler import compile_for
    from hlo_widgets.compiler.pool import workers

    spec = jax.ShapeDtypeStruct((8, 4), jnp.float32)
    compile_for(lambda x: x + 1, spec, target="cpu")
    print(workers.process_id("cpu"), flush=True)
    {then}
"""
COMPILE_FOR_MINUTES = """
    def long(x):
        for i in range(3000):
            x = jnp.sort(jnp.sin(x) + i, axis=i % 2)
        return x
    threading.Thread(target=compile_for, args=(long, spec), kwargs=dict(target="cpu")).start()
    while not workers.is_busy("cpu"):
        pass
    print("busy", flush=True)
"""


@pytest.mark.parametrize("then", ["sys.stdin.read()", COMPILE_FOR_MINUTES], ids=["idle", "busy"])
def test_no_worker_outlives_a_killed_parent(then):
    script = textwrap.dedent(PARENT).format(then=textwrap.dedent(then))
    with run_script(script, stdin=subprocess.PIPE) as process:
        pid = int(process.stdout.readline())
        assert is_alive(pid)
        if "busy" in then:
            assert process.stdout.readline() == "busy\n"
        process.kill()
        process.wait()
        wait_until(lambda: not is_alive(pid), seconds=10)


def test_a_worker_whose_request_is_cut_off_ends():
    command = worker_command("cpu", CompilerSettings())
    read_end, write_end = os.pipe()
    os.close(read_end)  # nobody reads its log, as after the death of its parent
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=write_end
    ) as worker:
        os.close(write_end)
        worker.stdin.write(b"HLOW\0\0")
        worker.stdin.close()
        assert worker.wait(timeout=60) == 0


def test_no_worker_outlives_a_parent_that_ends():
    script = textwrap.dedent(PARENT).format(then="")
    with run_script(script) as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert not is_alive(int(output))


FORKING = """
    import os
    import jax, jax.numpy as jnp
    from hlo_widgets.compiler import compile_for
    from hlo_widgets.compiler.pool import workers

    spec = jax.ShapeDtypeStruct((8, 4), jnp.float32)
    compile_for(lambda x: x + 1, spec, target="cpu")
    before = workers.process_id("cpu")
    child = os.fork()
    if child == 0:
        status = 3
        try:
            assert workers.process_id("cpu") is None
            compile_for(lambda x: x + 2, spec, target="cpu")
            assert workers.process_id("cpu") not in (None, before)
            workers.close()
            status = 0
        finally:
            os._exit(status)
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print("parent", "add" in compile_for(lambda x: x + 3, spec, target="cpu").hlo_text,
          workers.process_id("cpu") == before)
"""


def test_a_forked_child_has_a_worker_of_its_own():
    with run_script(FORKING) as process:
        output, errors = process.communicate(timeout=120)
    assert output.split() == ["child", "0", "parent", "True", "True"], errors


def test_a_worker_that_has_moved_internals_of_jax_compiles_the_public_way(changed_settings):
    changed_settings.command = worker_that("from jaxlib.mlir import ir", "del ir.Module.parse")
    result = compile_cpu(add_one, SPEC)
    assert result.hlo_text.startswith("HloModule jit_call")


MOVED_IN_PARENT = """
    import jax, jax.numpy as jnp
    from jaxlib import xla_client
    from hlo_widgets.compiler import compile_for

    jax.devices()  # jax itself needs once what is now taken away
    del xla_client.make_cpu_client
    spec = jax.ShapeDtypeStruct((8, 4), jnp.float32)
    print(compile_for(lambda x: x + 1, spec, target="cpu").module.name)
"""


def test_a_parent_with_moved_internals_of_jax_exports_the_public_way():
    with run_script(MOVED_IN_PARENT) as process:
        output, errors = process.communicate(timeout=120)
    assert output.split() == ["jit_call"], errors


def test_nothing_is_left_open(pool):
    compile_cpu(add_one, SPEC)
    before = threading.active_count()
    shut_down()
    wait_until(lambda: threading.active_count() < before)


SCRIPT_IN_A_FOLDER = """
    from hlo_widgets.compiler import compile_for
    print(compile_for(lambda x: x + 1, 1.0, target="cpu").hlo_text.split()[0])
"""


def test_files_in_the_users_folder_do_not_hide_pythons_own(tmp_path):
    (tmp_path / "argparse.py").write_text("raise RuntimeError('the wrong argparse')")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT_IN_A_FOLDER))
    done = subprocess.run(
        [sys.executable, "-P", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["HloModule"], done.stderr
