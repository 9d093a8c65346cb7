"""Which Chromium the tests drive, and how it is started."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# No sandbox: it needs rights that containers lack. No host but this one has an address, so nothing
# can leave the machine even if a test is wrong. The rest keeps the browser itself quiet.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


def find_chromium() -> str | None:
    """Find a Chromium on this machine that starts.

    Returns:
        The path of the program: the one that HLO_WIDGETS_CHROMIUM names, else one on PATH, else the
        one that Playwright has installed. None where there is none.
    """
    named = os.environ.get("HLO_WIDGETS_CHROMIUM")
    if named:
        return shutil.which(named)
    on_path = filter(None, map(shutil.which, NAMES))
    return next(filter(_starts, on_path), None) or _find_playwright_chromium()


def _starts(program: str) -> bool:
    # On Ubuntu chromium-browser is a script that only asks for a snap.
    try:
        result = subprocess.run(
            [program, "--version"], capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0


def _find_playwright_chromium() -> str | None:
    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    if path.is_file():
        return str(path)
    # `playwright install --only-shell` brings the headless program alone, in a folder of its own.
    shells = path.parents[2].glob("chromium_headless_shell-*/*/*headless*shell*")
    return next((str(shell) for shell in sorted(shells) if os.access(shell, os.X_OK)), None)
