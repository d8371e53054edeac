"""`make run` as a newcomer meets it: what it installs and builds is said meanwhile, Ctrl-C ends it with 0, and an
npm that failed is asked again by the next build."""
import os
import pty
import re
import select
import shutil
import stat
import subprocess
import textwrap

import pytest

from harness import IMPOUND, PATIENCE_S, ROOT, answers, eventually, free_port

CTRL_C = b"\x03"


class Terminal:
    """A command on a terminal of its own, as its controlling terminal."""

    def __init__(self, command, cwd=ROOT, **environment):
        self.text = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, {**os.environ, "TERM": "xterm", **environment})
        self.ended = False

    def read(self):
        """What it printed so far."""
        while not self.ended and select.select([self.terminal], [], [], 0)[0]:
            try:
                self.text += os.read(self.terminal, 65536)
            except OSError:  # its last process closed it
                self.ended = True
        return self.text.decode(errors="replace")

    def says(self, words):
        eventually(lambda: words in self.read(), lambda: f"{words!r}; it said {self.read()}")

    def press(self, key):
        os.write(self.terminal, key)

    def exit_code(self):
        def over():
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return (status,) if pid else None
        status = eventually(over, lambda: f"it ends; it said {self.read()}")[0]
        self.read()
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


def executable(path, text):
    path.write_text(textwrap.dedent(text))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def example(tmp_path):
    """The environment in which `make run` starts the tested server at a free port; the build is left out."""
    return {"IMPOUND": IMPOUND, "RUN_HOME": str(tmp_path / "run"), "RUN_LISTEN": f"127.0.0.1:{free_port()}"}


# ---- the end ----

def test_ctrl_c_ends_make_run_with_0(tmp_path):
    environment = example(tmp_path)
    shell = Terminal(["make", "run", "MAKE=true"], **environment)
    shell.says("Stop with Ctrl-C.")
    url = "http://" + environment["RUN_LISTEN"]
    assert answers(url + "/healthz")
    shell.press(CTRL_C)
    assert shell.exit_code() == 0, shell.text
    assert b"***" not in shell.text and b"Error" not in shell.text, shell.text
    assert not answers(url + "/healthz")
    assert b"stopped" in shell.text, "the server stopped gracefully"


def test_sigterm_ends_the_example_with_0(tmp_path):
    environment = example(tmp_path)
    run = subprocess.Popen([os.path.join(ROOT, "tools", "run.sh")], env={**os.environ, **environment},
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    url = "http://" + environment["RUN_LISTEN"]
    eventually(lambda: answers(url + "/healthz"), "it serves")
    run.terminate()
    said, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    assert not answers(url + "/healthz")


def test_a_server_that_cannot_start_is_an_error(tmp_path):
    environment = {**example(tmp_path), "RUN_LISTEN": "203.0.113.1:1"}
    run = subprocess.run([os.path.join(ROOT, "tools", "run.sh")], env={**os.environ, **environment},
                         capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert run.returncode == 1, run
    assert "203.0.113.1" in run.stderr


def test_the_exit_status_of_the_command_is_kept():
    def code(words):
        return Terminal([os.path.join(ROOT, "tools", "foreground.py"), *words]).exit_code()
    assert code(["sh", "-c", "exit 7"]) == 7
    assert code(["sh", "-c", "kill -TERM $$"]) == 128 + 15
    assert code([os.path.join(ROOT, "no-such-program")]) == 127


# ---- progress ----

def test_packages_are_installed_with_progress(tmp_path):
    """What apt says of its own progress is told in steps; nothing is installed."""
    commands = tmp_path / "bin"
    commands.mkdir()
    executable(commands / "dpkg-query", "#!/bin/sh\nexit 1\n")
    executable(commands / "sudo", '#!/bin/sh\nexec "$@"\n')
    executable(commands / "apt-get", """\
        #!/bin/sh
        echo "$@" >>"$APT_LOG"
        case "$*" in *update*) exit 0 ;; esac
        echo "Get:1 http://deb.example bookworm/main amd64 meson"
        echo "dlstatus:1:0.0000:Retrieving file 1 of 2"
        echo "dlstatus:2:55.1234:Retrieving file 2 of 2"
        echo "pmstatus:dpkg-exec:0.0000:Running dpkg"
        echo "pmstatus:libc6:amd64:48.3333:Unpacking libc6:amd64 (amd64)"
        echo "pmstatus:python3.11:100.0000:Installed python3.11"
        exit "${APT_CODE:-0}"
        """)
    def install(**more):
        return subprocess.run([os.path.join(ROOT, "tools", "install.sh"), "build"], text=True, capture_output=True,
                              timeout=PATIENCE_S, check=False,
                              env={**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "CI": "",
                                   "APT_LOG": str(tmp_path / "apt.log"), **more})
    done = install()
    assert done.returncode == 0, done.stderr
    assert re.search(r"installing \d+ Debian packages", done.stdout), done.stdout
    for step in ("downloaded 0 %", "downloaded 55 %", "installed 0 %", "installed 48 %", "installed 100 %"):
        assert step in done.stdout, done.stdout
    assert "Get:1" not in done.stdout
    asked = (tmp_path / "apt.log").read_text()
    for package in ("meson", "gcc", "curl", "make"):
        assert f" {package} " in f"{asked} ".replace("\n", " "), (package, asked)
    failed = install(APT_CODE="100", CI="true")
    assert failed.returncode == 1 and "could not install" in failed.stderr


def test_without_apt_the_packages_are_named(tmp_path):
    for command in ("sh", "dirname", "grep"):
        (tmp_path / command).symlink_to(shutil.which(command))
    done = subprocess.run([os.path.join(ROOT, "tools", "install.sh"), "build"], text=True, capture_output=True,
                          timeout=PATIENCE_S, check=False, env={"PATH": str(tmp_path)})
    assert done.returncode == 0, "the build may find them elsewhere"
    assert "there is no apt-get" in done.stderr and " meson " in done.stderr and " curl " in done.stderr


@pytest.fixture
def slow_build(tmp_path):
    """Twenty targets, one of which fails if the file `bad` is there."""
    lines = ["rule make", "  command = test ! -e bad && touch $out", ""]
    lines += [f"build out{n}: make" for n in range(20)]
    lines += ["build all: phony " + " ".join(f"out{n}" for n in range(20)), "default all", ""]
    (tmp_path / "build.ninja").write_text("\n".join(lines))
    return tmp_path


def test_a_build_is_told_in_steps(slow_build):
    command = [os.path.join(ROOT, "tools", "ninja.sh"), str(slow_build), "all"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done
    steps = re.findall(r"impound: built (\d+) of 20", done.stdout)
    assert 5 <= len(steps) <= 11 and steps[-1] == "20", done.stdout
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0 and done.stdout == "", "nothing was to be built"
    shutil.rmtree(slow_build / "nowhere", ignore_errors=True)
    for n in range(20):
        (slow_build / f"out{n}").unlink()
    (slow_build / "bad").touch()
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode != 0 and "FAILED" in done.stdout


def test_on_a_terminal_the_build_shows_its_count(slow_build):
    shell = Terminal([os.path.join(ROOT, "tools", "ninja.sh"), str(slow_build), "all"])
    assert shell.exit_code() == 0
    assert "impound: building 20 of 20" in shell.read()


# ---- npm ----

NINJA = """\
rule web
  command = {python} {root}/tools/web.py auto web plain.html out.c out.bin out.d
  depfile = out.d
  deps = gcc
  restat = 1

build out.c out.bin: web
default out.c
"""

GOOD_NPM = """\
#!/bin/sh
echo "$1" >>{log}
case "$1" in
ci) mkdir -p node_modules ;;
run)
    while [ "$1" != --outDir ]; do shift; done
    mkdir -p "$2/assets"
    echo dashboard >"$2/index.html"
    echo script >"$2/assets/app-1a2b3c4d.js"
    ;;
esac
"""


def test_a_failed_npm_ci_is_repeated_by_the_next_build(tmp_path):
    commands, web, log = tmp_path / "bin", tmp_path / "web", tmp_path / "npm.log"
    commands.mkdir()
    web.mkdir()
    (web / "package.json").write_text("{}")
    (web / "package-lock.json").write_text("{}")
    (tmp_path / "plain.html").write_text("plain page")
    (tmp_path / "build.ninja").write_text(NINJA.format(python="/usr/bin/python3", root=ROOT))

    def build():
        return subprocess.run(["ninja", "-C", str(tmp_path)], text=True, capture_output=True, timeout=PATIENCE_S,
                              check=False, env={**os.environ, "PATH": f"{commands}:{os.environ['PATH']}"}).stdout

    executable(commands / "npm", f'#!/bin/sh\necho "$1" >>{log}\necho "registry cannot be reached"\nexit 1\n')
    said = build()
    assert "THE DASHBOARD IS NOT BUILT" in said and "registry cannot be reached" in said
    assert b"plain page" in (tmp_path / "out.bin").read_bytes()
    before = os.stat(tmp_path / "out.c").st_mtime_ns
    assert "THE DASHBOARD IS NOT BUILT" in build(), "tried again, and said again"
    assert os.stat(tmp_path / "out.c").st_mtime_ns == before, "nothing is compiled anew for the same page"
    executable(commands / "npm", GOOD_NPM.format(log=log))
    assert "NOT BUILT" not in build()
    assert b"dashboard" in (tmp_path / "out.bin").read_bytes()
    assert "no work to do" in build(), "what was built is not built again"
    assert log.read_text().split() == ["ci", "ci", "ci", "run"]


def test_serving_the_plain_page_is_said_at_the_start(serve):
    server = serve({"orders": {"source": "builtin", "handler": "lease"}})
    plain = b"/assets/" not in server.get("/").body
    assert plain == ("a plain page is served" in server.log()), server.log()
