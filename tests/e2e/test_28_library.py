"""libimpound as its users have it: installed, found by pkg-config, linked shared and static, from C and C++; and
a process of theirs that dies with 32 messages in flight."""
import json
import os
import re
import subprocess

import pytest

from harness import IMPOUND, ROOT, impound, scaled

BUILD = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(IMPOUND))))
EXAMPLES = {name: os.path.join(ROOT, "examples", f"library-{name}", f"{name}.c") for name in ("decide", "worker")}
BUILD_PATIENCE_S = 1200
# The header is for old compilers too.
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-long-long"]
LANGUAGES = {"c": ["gcc", "-std=c99", "-D_DEFAULT_SOURCE"], "c++": ["g++", "-std=c++11", "-x", "c++"]}


def run(*words, **more):
    more.setdefault("timeout", BUILD_PATIENCE_S)
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)


def sanitizer():
    """What the library was built with: its users must be too."""
    shown = json.loads(run("meson", "introspect", "--buildoptions", BUILD).stdout)
    found = next(option["value"] for option in shown if option["name"] == "b_sanitize")
    return found if isinstance(found, str) else ",".join(found) or "none"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The library as `make install` leaves it, below a folder of its own; built first if need be."""
    root = tmp_path_factory.mktemp("installed")
    done = run("meson", "install", "-C", BUILD, "--tags", "runtime,devel", "--destdir", root,
               timeout=BUILD_PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return os.path.join(root, "usr", "local")


def pkg_config(installed, *words):
    folder = next(where for where, _, names in os.walk(installed) if "impound.pc" in names)
    done = run("pkg-config", f"--define-variable=prefix={installed}", *words, "impound",
               env={**os.environ, "PKG_CONFIG_PATH": folder})
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def compile_program(installed, source, out, language="c", linking="shared"):
    flags = pkg_config(installed, "--cflags")
    if linking == "static":
        libs = ["-l:libimpound.a" if word == "-limpound" else word for word in pkg_config(installed, "--static", "--libs")]
    else:
        libs = pkg_config(installed, "--libs") + [f"-Wl,-rpath,{pkg_config(installed, '--variable=libdir')[0]}"]
    # A leak is seen whether or not the library itself is instrumented.
    checked = sanitizer() if sanitizer() != "none" else "address"
    done = run(*LANGUAGES[language], *STRICT, "-g", f"-fsanitize={checked}", source, "-x", "none", *flags, *libs,
               "-lpthread", "-o", out)
    assert done.returncode == 0, done.stderr
    return out


def run_checked(*words, **more):
    return run(*words, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1:" + os.environ.get("ASAN_OPTIONS", "")}, **more)


@pytest.mark.parametrize("language,linking", [("c", "shared"), ("c++", "static")])
def test_the_decide_example_judges_a_table_of_outcomes(installed, tmp_path, language, linking):
    program = compile_program(installed, EXAMPLES["decide"], tmp_path / "decide", language, linking)
    done = run_checked(program)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    rows = {line[:33].strip(): line[33:].split() for line in done.stdout.splitlines()}
    assert rows["a busy server"] == ["retry", "transient", "upstream_busy", "in", "1000", "ms"]
    assert rows["a busy server, again"][-2:] == ["2000", "ms"]
    assert rows["a busy server, for the last time"][2:4] == ["max_attempts:upstream_busy", "exhausted,"]
    assert rows["a model that is gone"][:2] == ["dead", "model_gone"]
    assert rows["a bug"][:2] == ["dead", "bug"]
    assert rows["a timeout"][0] == "retry"
    assert rows["bad credentials"][0] == "halt"
    assert rows["what nobody knows"][-3] == "unclassified,"


@pytest.mark.parametrize("language,linking", [("c", "static"), ("c++", "shared")])
def test_the_worker_example_handles_its_hundred_messages(installed, tmp_path, language, linking):
    program = compile_program(installed, EXAMPLES["worker"], tmp_path / "worker", language, linking)
    done = run_checked(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    # 0, 10, 20 … are wrong; 5, 15, 25 … meet a busy server once.
    assert done.stdout.splitlines()[0] == "90 succeeded, 10 retried, 10 dead"
    shown = json.loads(done.stdout.splitlines()[1].split(": ", 1)[1])
    assert shown["letters"][0]["category"] == "validation"


def test_only_public_names_can_be_seen(installed):
    names = {}
    for where, _, files in os.walk(installed):
        for name in files:
            names[name] = os.path.join(where, name)
    assert "impound.h" in names and "libimpound.a" in names and "impound.pc" in names
    shared = run("nm", "-D", "--defined-only", names["libimpound.so.0.1.0"]).stdout.split("\n")
    static = run("nm", "-g", "--defined-only", names["libimpound.a"]).stdout.split("\n")
    seen = {line.split()[-1].split("@")[0] for line in shared + static if len(line.split()) == 3}
    assert {"impound_decide", "impound_worker_open", "impound_version"} <= seen
    assert [name for name in seen if not name.startswith("impound_") and name != "IMPOUND_0"] == []
    assert "[libimpound.so.0]" in run("readelf", "-d", names["libimpound.so.0.1.0"]).stdout


def test_the_guide_shows_the_examples_as_they_are():
    with open(os.path.join(ROOT, "docs", "library.md"), encoding="utf-8") as guide:
        blocks = re.findall(r"```c\n(.*?)```", guide.read(), re.S)
    for source in EXAMPLES.values():
        with open(source, encoding="utf-8") as text:
            assert text.read() in blocks, f"docs/library.md does not show {source}"


def test_serve_refuses_a_queue_with_a_callback(tmp_path):
    config = tmp_path / "impound.yaml"
    config.write_text("queues:\n  q: {handler: callback}\n")
    assert impound("check", "-c", config).returncode == 0
    served = impound("serve", "-c", config)
    assert served.returncode == 1
    assert "impound.yaml:2: queue \"q\" has handler: callback" in served.stderr
    assert "libimpound" in served.stderr


def test_a_process_that_dies_with_32_in_flight_finds_its_killer(installed, tmp_path):
    if "thread" in sanitizer():
        pytest.skip("a process that aborts tells ThreadSanitizer nothing")
    count = max(64, scaled(2000))
    program = compile_program(installed, os.path.join(ROOT, "tests", "e2e", "library", "killer.c"), tmp_path / "killer")
    assert run_checked(program, tmp_path, "push", count).returncode == 0
    lives = []
    while not lives or lives[-1].returncode != 0:
        assert len(lives) < 10, "it dies for ever"
        # In the first life 32 are inside when the killer strikes; in the second, suspect and neighbour wait
        # for one another.
        company = {0: 32, 1: 2}.get(len(lives), 0)
        lives.append(run_checked(program, tmp_path, "run", company))
        assert lives[-1].returncode in (0, -6), lives[-1].stderr
    # Once among others, three times in its own turn.
    assert len(lives) == 5
    seen = [[json.loads(line) for line in life.stdout.splitlines()] for life in lives]
    first = {line["run"] for line in seen[0]}
    assert len(first) == 32 and "killer" in first
    for life in seen[1:4]:
        assert {"run": "killer"} in life
    assert all({"run": "killer"} not in life for life in seen[4:])
    suspects_run_alone_while_others_flow(seen[1], first)
    letters = json.loads(run_checked(program, tmp_path, "letters").stdout)["letters"]
    dead = {letter["message"]["id"]: letter for letter in letters}
    assert dead["killer"]["cause"] == "crash" and dead["killer"]["crashes"] == 3
    assert dead["killer"]["category"] == "crash"
    del dead["killer"]
    # A quarter of the others ends as letters: none of them was ever blamed.
    wanted = {f"m{i}" for i in range(count) if i % 4 == 0 and i != 16}
    assert set(dead) == wanted
    assert {letter["crashes"] for letter in dead.values()} == {0}
    assert {letter["cause"] for letter in dead.values()} == {"terminal"}
    handled = {line["over"] for life in seen for line in life if "over" in line}
    assert handled == {f"m{i}" for i in range(count) if i != 16}


def suspects_run_alone_while_others_flow(life, suspects):
    running, others_beside_a_suspect = set(), False
    for line in life:
        if "over" in line:
            running.discard(line["over"])
            continue
        running.add(line["run"])
        inside = running & suspects
        assert len(inside) <= 1, f"{inside} ran at once"
        others_beside_a_suspect |= bool(inside) and len(running) > 1
    assert others_beside_a_suspect, "nobody flowed beside a suspect"
