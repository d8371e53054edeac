"""The embedded store against the bare disk and SQLite alone (bench/store tells how).

LETTERS says how many letters are present in the last part: they are made once and kept in
build/bench-store. 10 million take some 27 GB and ten minutes, so fewer are the default.
"""
import os
import subprocess

from bench import ROOT, ROUNDS

PROGRAM = os.path.join(ROOT, "build", "bench", "store")
LETTERS = os.environ.get("LETTERS", "1000000")


def main():
    folder = os.path.join(ROOT, "build", "bench-store")
    subprocess.run(
        [PROGRAM, "--dir", folder, "--letters", LETTERS, "--rounds", str(ROUNDS)], check=True)


if __name__ == "__main__":
    main()
