"""Make sure that there is a Chromium: one already there, else Debian's package, else Playwright's.

Run by `make test`. Failing is no error: without a browser its tests are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from tests.browser.chromium import find_chromium


def _run(*command: str) -> bool:
    print("+", " ".join(command), flush=True)
    try:
        return subprocess.run(command, check=False).returncode == 0
    except OSError as error:
        print(error)
        return False


def _install_with_apt() -> bool:
    if shutil.which("apt-get") is None:
        return False
    if os.geteuid() == 0:
        sudo = []
    elif shutil.which("sudo"):
        sudo = ["sudo"]
    else:
        return False
    # On Ubuntu the package only points at a snap, so what it brought is looked for, not trusted.
    install = ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    _run(*sudo, "apt-get", "update", "--quiet")
    return _run(*sudo, *install) and find_chromium() is not None


def _install_with_playwright() -> bool:
    _run(sys.executable, "-m", "playwright", "install", "--only-shell", "chromium")
    return find_chromium() is not None


def main() -> None:
    """Install a Chromium where there is none, and say which one the tests will drive."""
    if find_chromium() is None and not _install_with_apt():
        _install_with_playwright()
    print(f"Chromium for the browser tests: {find_chromium() or 'none, they will be skipped'}")


if __name__ == "__main__":
    main()
