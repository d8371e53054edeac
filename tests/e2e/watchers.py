"""The programs of Prometheus and Alertmanager, for the scenarios that try impound with them."""
import os
import shutil

import pytest


def tool(name):
    """Where a program of theirs is. A test without it is skipped, but in CI it fails: there it is to be installed."""
    found = shutil.which(name)
    if not found:
        assert os.environ.get("CI") != "true", f"{name} is not installed"
        pytest.skip(f"{name} (Debian packages prometheus and prometheus-alertmanager) is not installed")
    return found
