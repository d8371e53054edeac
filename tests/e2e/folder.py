"""The folder of a scenario goes with it, unless it failed: a server's journal alone has 128 MiB, and
there are hundreds of servers."""
import shutil

import pytest

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or outcome.get_result().failed


@pytest.fixture(name="tmp_path")
def fixture_tmp_path(tmp_path, request):
    yield tmp_path
    if not request.node.stash.get(FAILED, False):
        shutil.rmtree(tmp_path)
