"""Faults of machines: memory, disks, locks and versions, on real processes."""

from __future__ import annotations

import functools
import os
import pwd
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import compile_for
from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import CompileError
from tests.compiler.support import (
    add_one,
    clean_environment,
    in_a_mount_namespace,
    is_alive,
    needs_cuda,
    needs_libtpu,
    wait_until,
    worker_that,
)

compile_cpu = functools.partial(compile_for, target="cpu")
SPEC = jax.ShapeDtypeStruct((8, 4), jnp.float32)
ROOT = Path(__file__).parents[2]


def test_a_worker_that_holds_too_much_is_ended(changed_settings):
    changed_settings.memory_limit_bytes = 600 * 2**20
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler.toolchains import Toolchain",
        "import time",
        "def hungry(*args):",
        "    held = []",
        "    while True:",
        "        held.append(bytearray(32 * 2**20)); time.sleep(0.02)",
        "Toolchain.compile = hungry",
    )
    with pytest.raises(
        CompileError, match=r"more memory than settings\.memory_limit_bytes"
    ) as caught:
        compile_cpu(add_one, SPEC)
    assert "limit 629145600" in caught.value.log
    changed_settings.command = None
    assert "add" in compile_cpu(add_one, SPEC).hlo_text  # within the limit


def test_a_limit_that_is_too_low_for_the_compiler_itself(changed_settings):
    changed_settings.memory_limit_bytes = 60 * 2**20
    with pytest.raises(CompileError, match=r"settings\.memory_limit_bytes"):
        compile_cpu(add_one, SPEC)
    changed_settings.memory_limit_bytes = None
    assert "add" in compile_cpu(add_one, SPEC).hlo_text


def test_a_worker_that_the_system_ends_for_its_memory_says_so(changed_settings):
    changed_settings.command = worker_that(
        "import os, signal",
        "from hlo_widgets.compiler.toolchains import Toolchain",
        "Toolchain.compile = lambda *args: os.kill(os.getpid(), signal.SIGKILL)",
    )
    with pytest.raises(CompileError, match="ended by SIGKILL, as a system without memory does"):
        compile_cpu(add_one, SPEC)


def test_a_worker_of_another_release_says_what_to_install(changed_settings):
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler import handshake",
        "handshake.PROTOCOL = 1",
    )
    with pytest.raises(
        CompileError, match=r"install the same on both sides: pip install"
    ) as caught:
        compile_cpu(add_one, SPEC)
    assert "whose messages differ" in caught.value.reason
    changed_settings.command = None
    assert "add" in compile_cpu(add_one, SPEC).hlo_text


def test_a_worker_that_lacks_its_compiler_says_what_to_install(changed_settings):
    changed_settings.command = worker_that(
        "import os, sys",
        "sys.modules['libtpu'] = None",
        "os.environ.pop('TPU_LIBRARY_PATH', None)",  # which libtpu sets where it is imported
    )
    with pytest.raises(
        CompileError, match="libtpu, which holds the TPU compiler, is not inst"
    ) as e:
        compile_for(add_one, SPEC, target="v6e")
    assert 'on the compiler\'s machine: pip install "libtpu>=0.0.45"' in e.value.reason


def test_another_jaxlib_is_sent_what_it_can_read(changed_settings):
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler import handshake",
        "installed = handshake.installed_versions",
        "other = lambda toolchain: {**installed(toolchain), 'jaxlib': '9.9'}",
        "handshake.installed_versions = other",
    )
    result = compile_cpu(add_one, SPEC)
    assert result.hlo_text.startswith("HloModule jit_call")  # the form that any near release reads


FULL_DISK = """
    import os, sys
    import jax
    import hlo_widgets as hw
    from hlo_widgets.compiler.pool import workers

    folder, target = sys.argv[1:]
    def compile_it(number):
        fun = jax.jit(lambda x: jax.nn.softmax(x @ x) * number)
        return hw.compile_for(fun, hw.spec("f32[256,256]"), target=target)

    with open(f"{folder}/filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass
    try:
        print("compiled", compile_it(2).target)
    except hw.CompileError as error:
        print("error", len(str(error)) < 20_000, "No space left" in str(error))
    os.remove(f"{folder}/filler")
    print("then", compile_it(3).target)
"""


@pytest.mark.parametrize(
    "target",
    ["cpu", pytest.param("v6e", marks=needs_libtpu), pytest.param("h100", marks=needs_cuda)],
)
def test_a_temporary_folder_without_room(target, tmp_path):
    prefix = in_a_mount_namespace(f"mount -t tmpfs -o size=256k none {tmp_path}")
    if prefix is None:
        pytest.skip("this machine does not let a test mount a small disk")
    names = ("TMPDIR", "TEST_TMPDIR", "TMP", "TEMP")
    done = subprocess.run(
        [*prefix, sys.executable, "-c", textwrap.dedent(FULL_DISK), str(tmp_path), target],
        env=clean_environment(JAX_PLATFORMS="cpu", **dict.fromkeys(names, str(tmp_path))),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    first, then = done.stdout.splitlines() or [done.stderr, ""]
    assert first in {f"compiled {target}", "error True True"}
    assert then == f"then {target}"


LOCKED = """
    import hlo_widgets as hw
    try:
        open("/tmp/libtpu_lockfile", "r+")
    except PermissionError:
        print("locked")
    result = hw.compile_for(lambda x: x + 1, hw.spec("f32[64,64]"), target="v6e")
    print(result.target, "estimated_cycles" in result.hlo_text)
"""


@needs_libtpu
def test_a_libtpu_lock_file_that_belongs_to_somebody_else():
    # A /tmp of its own, where that file is another user's, and no right of root to open it.
    script = (
        "mount -t tmpfs -o mode=1777 none /tmp && touch /tmp/libtpu_lockfile && "
        "chmod 600 /tmp/libtpu_lockfile && chown 65534 /tmp/libtpu_lockfile"
    )
    rights = "-dac_override,-dac_read_search"
    without = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
    prefix = in_a_mount_namespace(script)
    if prefix is None or shutil.which("setpriv") is None or os.getuid() != 0:
        pytest.skip("needs root, and a machine that lets a test have a /tmp of its own")
    if any(Path("/tmp") in Path(path).parents for path in (ROOT, sys.prefix)):  # noqa: S108
        pytest.skip("needs a checkout that does not lie in /tmp, which the test hides")
    done = subprocess.run(
        [*prefix, *without, sys.executable, "-c", textwrap.dedent(LOCKED)],
        env=clean_environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["locked", "v6e", "True"], done.stderr


NOTEBOOK = """
    import sys
    import jax
    import hlo_widgets as hw
    for number in range(4):
        fun = jax.jit(lambda x: jax.nn.softmax(x @ x) * number)
        result = hw.compile_for(fun, hw.spec("bf16[256,256]"), target=sys.argv[1])
        print(result.target, flush=True)
"""


@needs_libtpu
def test_two_notebooks_at_once():
    running = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(NOTEBOOK), target],
            env=clean_environment(JAX_PLATFORMS="cpu"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for target in ("v6e", "v5e")
    ]
    for process, target in zip(running, ("v6e", "v5e"), strict=True):
        output, errors = process.communicate(timeout=180)
        assert output.split() == [target] * 4, errors


def free_port():
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture
def ssh_command(tmp_path):
    """A real sshd on loopback, with a key of its own; the command that reaches it."""
    daemon = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
    if daemon is None or shutil.which("ssh") is None:
        pytest.skip("needs sshd and ssh: apt install openssh-server openssh-client")
    Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    (tmp_path / "authorized").write_text((tmp_path / "user.pub").read_text())
    port = free_port()
    (tmp_path / "sshd_config").write_text(
        f"""Port {port}
ListenAddress 127.0.0.1
HostKey {tmp_path}/host
AuthorizedKeysFile {tmp_path}/authorized
PidFile {tmp_path}/pid
PasswordAuthentication no
StrictModes no
UsePAM no
Banner {tmp_path}/banner
PrintMotd no
"""
    )
    (tmp_path / "banner").write_text("Welcome to the machine\n")
    log = tmp_path / "log"
    command = [daemon, "-D", "-f", str(tmp_path / "sshd_config"), "-E", str(log)]
    with subprocess.Popen(command) as server:
        wait_until(lambda: log.exists() and "listening" in log.read_text(), seconds=10)
        options = (
            f"-p {port} -i {tmp_path}/user -o StrictHostKeyChecking=no "
            f"-o UserKnownHostsFile={tmp_path}/known -o BatchMode=yes"
        )
        worker = f"env PYTHONPATH={ROOT} {sys.executable} -m hlo_widgets.compiler.worker"
        user = pwd.getpwuid(os.getuid()).pw_name
        yield f"ssh {options} {user}@127.0.0.1 {worker}"
        server.terminate()


def workers_of_sshd():
    """Return the worker processes on this machine that are no children of this one."""
    ps = shutil.which("ps")
    command = [ps, "-eo", "pid=,ppid=,args="]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in found.stdout.splitlines()]
    return {
        int(pid)
        for pid, parent, args in rows
        if args.startswith(sys.executable) and "compiler.worker tpu" in args
        if int(parent) != os.getpid()
    }


@pytest.mark.slow
@needs_libtpu
def test_compiling_on_another_machine_over_ssh(ssh_command, changed_settings):
    changed_settings.command = ssh_command
    before = workers_of_sshd()
    start = time.monotonic()
    result = compile_for(add_one, SPEC, target="v6e")
    first = time.monotonic() - start
    assert "estimated_cycles" in result.hlo_text
    assert result.versions["libtpu"]
    start = time.monotonic()
    assert compile_for(lambda x: x * 2, SPEC, target="v6e").hlo_text
    assert time.monotonic() - start < first  # it stays warm
    (remote,) = workers_of_sshd() - before
    os.kill(remote, signal.SIGKILL)
    ssh = workers.process_id("tpu")
    wait_until(lambda: not is_alive(ssh), seconds=10)
    assert compile_for(lambda x: x * 3, SPEC, target="v6e").hlo_text
    (remote,) = workers_of_sshd() - before
    workers.close()
    wait_until(lambda: not is_alive(remote), seconds=10)  # its input has ended


@pytest.mark.slow
def test_a_machine_that_refuses_shows_what_ssh_says(ssh_command, changed_settings, tmp_path):
    (tmp_path / "authorized").write_text("")
    changed_settings.command = ssh_command
    with pytest.raises(CompileError, match="ended with status 255") as caught:
        compile_cpu(add_one, SPEC)
    assert "Permission denied" in caught.value.log
