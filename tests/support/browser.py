"""Headless Chromium, where it is installed."""

import os
import shutil
import subprocess
from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
PHONE = 390  # CSS pixels across


def dump(address: str, folder: Path) -> str:
    """The document at an address as it stands when scripts have run; Chromium writes into the folder."""
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--virtual-time-budget=8000",
        f"--user-data-dir={folder / 'profile'}",
        "--dump-dom",
        address,
    ]
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0 and done.stdout, done.stderr
    return done.stdout
