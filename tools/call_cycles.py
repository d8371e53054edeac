#!/usr/bin/env python3
"""call_cycles: which source files of a room call one another in a circle.

  call_cycles.py check SRC [ROOM]   fails when a room has a cycle that tools/call_cycles.txt does not list
  call_cycles.py show SRC ROOM      prints which file uses which, and for each cycle the functions that close it
  call_cycles.py list SRC           prints the present cycles in the form of tools/call_cycles.txt

A file uses another one of its room when its code names a function that the other one defines (not static). Files
that use one another, directly or in a circle, are a cycle: none of them can be read, tested or replaced alone.
"""
import os
import re
import sys

TOKENS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DEFINITION = re.compile(r'^(?!static\b|typedef\b|#)[A-Za-z_][\w \t*]*?[ *](\w+)\([^;{}]*\)\s*\{', re.MULTILINE)
NAME = re.compile(r'\b[A-Za-z_]\w*\b')


def sources(folder):
    """Path without its ending, below the room -> its code without comments and strings."""
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".c"):
                path = os.path.join(base, name)
                with open(path, encoding="utf-8") as text:
                    found[os.path.relpath(path, folder)[:-2]] = TOKENS.sub(" ", text.read())
    return found


def graph(folder):
    """{file: {other file: the names that it uses of it}}"""
    code = sources(folder)
    defined = {}
    for file, text in code.items():
        for name in DEFINITION.findall(text):
            defined.setdefault(name, set()).add(file)
    uses = {file: {} for file in code}
    for file, text in code.items():
        for name in set(NAME.findall(text)):
            for other in defined.get(name, ()):
                if other != file and file not in defined[name]:
                    uses[file].setdefault(other, set()).add(name)
    return uses


def cycles(uses):
    """Strongly connected components of more than one file (Tarjan)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        on_stack.add(file)
        for other in uses[file]:
            if other not in index:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in on_stack:
                low[file] = min(low[file], index[other])
        if low[file] == index[file]:
            component = set()
            while file not in component:
                component.add(stack.pop())
            on_stack.difference_update(component)
            if len(component) > 1:
                found.append(component)

    for file in sorted(uses):
        if file not in index:
            visit(file)
    return sorted(found, key=sorted)


def known():
    """[set of file names]: without rooms and folders, so that a file may move."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "call_cycles.txt")
    with open(path, encoding="utf-8") as lines:
        return [set(line.split()) for line in lines if line.split("#")[0].strip()]


def names(cycle):
    return sorted(os.path.basename(file) for file in cycle)


def rooms_of(src):
    return sorted(room for room in os.listdir(src) if os.path.isdir(os.path.join(src, room)))


def check(src, rooms):
    listed, wrong = known(), []
    for room in rooms:
        found = cycles(graph(os.path.join(src, room)))
        for cycle in found:
            if not any(one.issuperset(names(cycle)) for one in listed):
                wrong.append(f"{room}: {' '.join(sorted(cycle))}: these call one another in a circle")
    print("\n".join(wrong) if wrong else f"call_cycles: no new cycle in {len(rooms)} rooms")
    return 1 if wrong else 0


def show(src, room):
    uses = graph(os.path.join(src, room))
    for file in sorted(uses):
        print(f"{file}: {' '.join(sorted(uses[file]))}")
    for cycle in cycles(uses):
        print(f"\ncycle of {len(cycle)}:")
        for file in sorted(cycle):
            for other in sorted(cycle & set(uses[file])):
                print(f"  {file} -> {other}: {' '.join(sorted(uses[file][other]))}")


def main(args):
    if len(args) in (2, 3) and args[0] == "check":
        return check(args[1], [args[2]] if len(args) == 3 else rooms_of(args[1]))
    if len(args) == 3 and args[0] == "show":
        return show(args[1], args[2])
    if len(args) == 2 and args[0] == "list":
        for room in rooms_of(args[1]):
            for cycle in cycles(graph(os.path.join(args[1], room))):
                print(" ".join(names(cycle)))
        return 0
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
