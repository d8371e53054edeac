#!/usr/bin/env python3
"""Makes of a text a C string: text.py TEXT NAME OUT.c"""
import json
import sys

path, name, out = sys.argv[1:]
with open(path, encoding="utf-8") as text, open(out, "w", encoding="utf-8") as code:
    rows = "\n".join("    " + json.dumps(line, ensure_ascii=False) for line in text)
    code.write(f"extern const char {name}[];\nconst char {name}[] =\n{rows};\n")
