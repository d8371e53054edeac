#!/usr/bin/env python3
"""The shared library's ABI against the one on record, tests/abi/libimpound.abi.xml.

  abi.py check LIBRARY    fails when the ABI is another one, and shows the difference
  abi.py record LIBRARY   makes the library's ABI the one on record

Only what include/impound/impound.h shows is part of it. Without abigail-tools the check is skipped
(exit 77), loudly; with CI=true it fails."""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(ROOT, "include", "impound", "impound.h")
RECORD = os.path.join(ROOT, "tests", "abi", "libimpound.abi.xml")
SKIPPED = 77


def dump(library, out):
    subprocess.run(["abidw", "--header-file", HEADER, "--drop-private-types", "--exported-interfaces-only",
                    "--drop-undefined-syms", "--no-elf-needed", "--no-show-locs", "--no-corpus-path",
                    "--no-comp-dir-path", "--out-file", out, os.path.realpath(library)], check=True)


def check(library):
    with tempfile.TemporaryDirectory() as folder:
        now = os.path.join(folder, "now.abi.xml")
        dump(library, now)
        difference = subprocess.run(["abidiff", RECORD, now], check=False)
    if difference.returncode:
        print("the ABI is not the one on record; if that is meant, see docs/hacking.md", file=sys.stderr)
    return 1 if difference.returncode else 0


def main(what, library):
    if not shutil.which("abidw") or not shutil.which("abidiff"):
        print("SKIPPED: abidw and abidiff (Debian: abigail-tools) are not installed", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    return dump(library, RECORD) if what == "record" else check(library)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("check", "record"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
