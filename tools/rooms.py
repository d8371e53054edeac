#!/usr/bin/env python3
"""Rooms: gives each room of src/ an include path with only the rooms that it may see.

  rooms.py farm SRC OUT   makes OUT/<room>/<seen room> -> SRC/<seen room>, for every room
  rooms.py check SRC      reports includes that slip past the include path ("../…"), and brokers that are
                          named outside their folder
"""
import os
import re
import sys


OUTSIDE = {"impound": os.path.join("..", "include", "impound")}  # rooms that are not in src/


def folder_of(src, room):
    return os.path.join(os.path.abspath(src), OUTSIDE.get(room, room))


def table():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rooms.txt")
    rooms = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if line:
                room, seen = line.split(":")
                rooms[room.strip()] = seen.split()
    return rooms


def farm(src, out):
    for room, seen in table().items():
        folder = os.path.join(out, room)
        os.makedirs(folder, exist_ok=True)
        for stale in set(os.listdir(folder)) - set(seen):
            os.unlink(os.path.join(folder, stale))
        for other in seen:
            link = os.path.join(folder, other)
            if not os.path.islink(link):
                os.symlink(folder_of(src, other), link)


def adapters(src):
    """The rows of broker/registry.c, which are the names of folders and of brokers."""
    with open(os.path.join(src, "broker", "registry.c"), encoding="utf-8") as lines:
        return re.findall(r"^    X\((\w+)\)", lines.read(), re.MULTILINE)


FORMATS = os.path.join("triage", "adopt", "formats")  # what other programs write, some of it for one broker


def named_outside(src):
    """A broker is its folder and its row: no other file spells its name, includes its headers or asks whether it is
    built in."""
    names = "|".join(adapters(src))
    named = re.compile(rf'"({names})"|"broker/({names})/|\bIMPOUND_({names.upper()})\b')
    found = []
    for folder, _, files in os.walk(src):
        inside = os.path.relpath(folder, src)
        for path in (os.path.join(folder, file) for file in files if file.endswith((".c", ".h"))):
            if inside == FORMATS:
                continue
            with open(path, encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    name = named.search(line.split("/*")[0])
                    if not name or line.lstrip().startswith("*"):
                        continue
                    own = os.path.join("broker", next(filter(None, name.groups())).lower())
                    if inside != own and not inside.startswith(own + os.sep):
                        found.append(f"{path}:{number}: names a broker: {line.strip()}")
    return found


def check(src):
    rooms = table()
    wrong = named_outside(src)
    for room in sorted([*os.listdir(src), *OUTSIDE]):
        if room not in rooms:
            wrong.append(f"src/{room}: no such room in tools/rooms.txt")
            continue
        for folder, _, names in os.walk(folder_of(src, room)):
            for name in names:
                if name.endswith((".c", ".h")):
                    wrong += slips(os.path.join(folder, name), rooms[room])
    print("\n".join(wrong) if wrong else f"rooms: {len(rooms)} rooms see only what they may")
    return 1 if wrong else 0


def slips(path, seen):
    found = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            included = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if included and included.group(1).split("/")[0] not in seen:
                found.append(f"{path}:{number}: may not see {included.group(1)}")
    return found


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "farm":
        farm(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        sys.exit(check(sys.argv[2]))
    else:
        sys.exit(__doc__)
