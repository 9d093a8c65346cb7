"""A real Jupyter server for the tests: JupyterLab and Notebook 7 on one port, in a private home."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

START_SECONDS = 60  # arbitrary; three seconds are usual


@dataclass
class JupyterServer:
    """A running server.

    Attributes:
        url: Its address, without a slash at the end.
        folder: The folder whose files it shows.
        process: The server's process.
        log: The file that its output goes to.
    """

    url: str
    folder: Path
    process: subprocess.Popen[bytes]
    log: Path

    def kernel_ids(self) -> list[str]:
        """List the kernels that run."""
        return [kernel["id"] for kernel in json.loads(self._call("GET", "/api/kernels"))]

    def end_kernels(self) -> None:
        """End every kernel: one that has jax and libtpu loaded holds some 400 MB."""
        for kernel_id in self.kernel_ids():
            self._call("DELETE", f"/api/kernels/{kernel_id}")

    def stop(self) -> None:
        """End the kernels and the server."""
        if self.process.poll() is None:
            self.end_kernels()
            self.process.terminate()
        self.process.wait(timeout=30)

    def wait_until_ready(self) -> None:
        """Wait for the first answer.

        Raises:
            RuntimeError: The server ended or did not answer in time; its log is in the message.
        """
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self._call("GET", "/api")
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                # A server has no other way to say that it is ready than to answer.
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text()[-4000:]}")

    def _call(self, method: str, path: str) -> bytes:
        request = urllib.request.Request(self.url + path, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.read()


def start_jupyter_server(home: Path) -> JupyterServer:
    """Start a server whose settings, workspaces and files all live below `home`.

    Args:
        home: An empty folder.

    Returns:
        The server, ready for requests.
    """
    folder = home / "notebooks"
    folder.mkdir()
    port = _free_port()
    log = home / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            _command(port, folder),
            env=_environment(home),
            cwd=home,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = JupyterServer(f"http://127.0.0.1:{port}", folder, process, log)
    try:
        server.wait_until_ready()
    except BaseException:
        process.kill()
        process.wait()
        raise
    return server


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _command(port: int, folder: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", "--ServerApp.password="),
        "--ServerApp.disable_check_xsrf=True",
        f"--ServerApp.root_dir={folder}",
        # What the tests drive: window.jupyterapp, in both front ends.
        "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True",
    ]


def _environment(home: Path) -> dict[str, str]:
    folders = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
    }
    # Without these JupyterLab asks the network for news and for its newest version.
    quiet = folders["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    settings = {"fetchNews": "false", "checkForUpdates": False}
    (quiet / "notification.jupyterlab-settings").write_text(json.dumps(settings))
    return os.environ | {name: str(path) for name, path in folders.items()}
