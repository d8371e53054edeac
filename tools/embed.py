#!/usr/bin/env python3
"""Writes a text file as a C array, so that it travels inside the binary: embed.py FILE NAME > OUT.c"""
import sys

path, name = sys.argv[1:]
with open(path, "rb") as file:
    data = file.read()
print(f"/* {name}: made from {path.rsplit('/', 1)[-1]} by tools/embed.py. */")
print("#include <stddef.h>")
print(f"extern const char {name}[];\nextern const size_t {name}_size;")
print(f"const char {name}[] = {{")
for at in range(0, len(data), 20):
    print("    " + ", ".join(str(byte if byte < 128 else byte - 256) for byte in data[at:at + 20]) + ",")
print(f"}};\nconst size_t {name}_size = sizeof {name};")
