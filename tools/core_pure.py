#!/usr/bin/env python3
"""core_pure: proves that core reads no clock, allocates nothing and does no I/O.

  core_pure.py check LIBRARY      fails when LIBRARY needs a symbol that judgement may not use
  core_pure.py symbols NAME…      the same for a list of needed symbols: shows that the check can fail
"""
import os
import re
import subprocess
import sys

ALLOWED = re.compile(
    r"""^(
      mem(cpy|move|set|cmp|chr|mem|rchr) | str(len|n?cmp|chr|rchr|nlen)   # bytes in memory
    | (bytes|buf|arena|json|rng|uuid)_\w+ | json | base64_\w+            # base, without its heap
    | (wall|mono|duration|size)_\w+ | err_set | status_\w+
    | __(assert_fail|stack_chk_fail|(mem|str)\w+_chk)                     # bugs, found by the compiler
    | __(asan|ubsan|tsan|lsan|sanitizer|gcov|llvm|sanitizer_cov|msan)_\w+ | _GLOBAL_OFFSET_TABLE_
    | __\w*sancov_\w+                                                    # a fuzzer's counters
    )$""",
    re.VERBOSE)
# Names of base that look harmless and allocate or ask the machine.
FORBIDDEN = {"bytes_dup", "buf_init_heap", "buf_take", "arena_init_heap"}


def needed(library):
    """Undefined symbols of all objects, less what another object of the library defines."""
    text = subprocess.run([os.environ.get("NM", "nm"), "-A", library], check=True,
                          capture_output=True, text=True).stdout
    undefined, defined = set(), set()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 2:
            (undefined if fields[-2] in "Uw" else defined).add(fields[-1])
    if not defined:
        sys.exit(f"core_pure: {library} defines nothing; there is nothing to check")
    return undefined - defined


def impure(symbols):
    return sorted(name for name in symbols if name in FORBIDDEN or not ALLOWED.match(name))


def main(args):
    if len(args) == 2 and args[0] == "check":
        symbols = needed(args[1])
    elif len(args) >= 2 and args[0] == "symbols":
        symbols = set(args[1:])
    else:
        sys.exit(__doc__)
    wrong = impure(symbols)
    for name in wrong:
        print(f"core_pure: core may not use {name}")
    if not wrong:
        print(f"core_pure: {len(symbols)} symbols from outside, all of them pure")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
