"""What tools/fetch.sh fetched into build-parts/."""
import hashlib
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def packages(name):
    """The folder with the Python packages of tools/packages/NAME.txt, for PYTHONPATH."""
    content = (ROOT / "tools" / "packages" / f"{name}.txt").read_bytes()
    folder = ROOT / "build-parts" / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}"
    if not folder.is_dir():
        missing = f"tools/fetch.sh did not fetch {name}"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return str(folder)
