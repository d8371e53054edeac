#!/usr/bin/env python3
"""Builds the dashboard and puts it into C: web.py auto|enabled|disabled WEB PLAIN OUT.c OUT.bin DEPFILE

WEB is the dashboard's folder, PLAIN the page that stands in for it. `auto` falls back to it, and says so,
when there is no npm or npm cannot install what package-lock.json names, and the next build tries again; `enabled`
fails then. node_modules stays in WEB, for all builds; one at a time touches it."""
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

TOOLS = os.path.dirname(os.path.abspath(__file__))


class Trouble(Exception):
    pass


def npm(web, *words):
    if not shutil.which("npm"):
        raise Trouble("npm is missing (Debian packages nodejs and npm)")
    done = subprocess.run(["npm", *words], cwd=web, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        raise Trouble(f"npm {words[0]} failed:\n{done.stdout}")


def install(web):
    """npm ci, unless what is there is what package-lock.json names."""
    with open(os.path.join(web, "package-lock.json"), "rb") as file:
        wanted = hashlib.sha256(file.read()).hexdigest()
    stamp = os.path.join(web, "node_modules", ".impound-installed")
    if os.path.exists(stamp):
        with open(stamp, encoding="ascii") as file:
            if file.read() == wanted:
                return
    print("impound: fetching what the dashboard is built with (npm ci)", flush=True)
    npm(web, "ci", "--no-progress")
    with open(stamp, "w", encoding="ascii") as file:
        file.write(wanted)


def build(web, folder):
    with open(os.path.join(web, "package.json"), encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(web)
        npm(web, "run", "build", "--", "--outDir", folder, "--emptyOutDir", "--logLevel", "warn")


def sources(web):
    for place, folders, names in os.walk(web):
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (os.path.join(place, name) for name in names)


how, web, plain, out_c, out_bin, depfile = sys.argv[1:]
needed = []
with tempfile.TemporaryDirectory() as temporary:
    folder = os.path.join(temporary, "dist")
    try:
        if how == "disabled":
            raise Trouble("it is turned off (-Ddashboard=disabled)")
        build(web, folder)
    except Trouble as trouble:
        if how == "enabled":
            sys.exit(f"impound: the dashboard cannot be built: {trouble}")
        print(f"impound: THE DASHBOARD IS NOT BUILT, a plain page is served instead: {trouble}", flush=True)
        if how == "auto":
            needed.append(f"{os.path.abspath(out_c)}.is-a-plain-page")  # never there, so the next build runs this again
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        shutil.copy(plain, os.path.join(folder, "index.html"))
    subprocess.run([sys.executable, os.path.join(TOOLS, "embed.py"), folder, out_c, out_bin], check=True)
with open(depfile, "w", encoding="utf-8") as out:
    names = " ".join(name.replace(" ", "\\ ") for name in needed + sorted(sources(web)))
    out.write(f"{out_c}: {names}\n")
