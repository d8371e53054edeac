#!/usr/bin/env python3
"""Names: no file basename and no struct, enum or union tag stands twice in src/. A reader who greps for a name finds one thing."""
import collections
import os
import re
import sys

TAG = re.compile(r"^(?:static |const )*(struct|enum|union) (\w+) \{", re.M)


def found_in(src):
    names = collections.defaultdict(list)
    for folder, _, files in sorted(os.walk(src)):
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not name.endswith((".c", ".h")):
                continue
            names[f"file {name}"].append(path)
            with open(path, encoding="utf-8") as text:
                for kind, tag in TAG.findall(text.read()):
                    names[f"{kind} {tag}"].append(path)
    return names


def main(src):
    names = found_in(src)
    twice = {name: paths for name, paths in names.items() if len(paths) > 1}
    for name, paths in sorted(twice.items()):
        print(f"{name}: {' '.join(paths)}")
    if not twice:
        print(f"names: {len(names)} files and tags, none twice")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
