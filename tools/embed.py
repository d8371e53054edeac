#!/usr/bin/env python3
"""Puts the files of a web page into the binary: embed.py FOLDER OUT.c OUT.bin

FOLDER holds index.html and, in assets/, files whose names carry a hash of what they hold. OUT.bin is all of
them, each plain and as gzip; OUT.c is the table of them (src/server/dashboard/asset.h) around it. What index.html has
inside itself, scripts and styles, its Content-Security-Policy names by hash."""
import base64
import gzip
import hashlib
import os
import re
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


def inline(page, tag):
    """'sha256-…' of each element of that name that has its text inside."""
    texts = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
    return "".join(" 'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
                   for text in texts)


def policy(page):
    return ("default-src 'none'; script-src 'self'" + inline(page, "script") + "; style-src 'self'" +
            inline(page, "style") + "; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'")


def files_of(folder):
    yield "index.html", os.path.join(folder, "index.html")
    assets = os.path.join(folder, "assets")
    for name in sorted(os.listdir(assets)) if os.path.isdir(assets) else []:
        yield name, os.path.join(assets, name)


def write(path, data):
    """Leaves a file alone that holds this already, so that nothing is compiled anew for it."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return
    with open(path, "wb") as out:
        out.write(data)


folder, out_c, out_bin = sys.argv[1:]
rows, blob = [], b""
for name, path in files_of(folder):
    with open(path, "rb") as file:
        plain = file.read()
    packed = gzip.compress(plain, 9, mtime=0)
    rows.append(f'    {{.name = "{name}",\n     .type = "{TYPES[os.path.splitext(name)[1]]}",\n'
                f'     .etag = "\\"{hashlib.sha256(plain).hexdigest()[:16]}\\"",\n'
                f'     .hashed = {"false" if name == "index.html" else "true"},\n'
                f"     .plain = asset_bytes + {len(blob)},\n     .plain_size = {len(plain)},\n"
                f"     .gzip = asset_bytes + {len(blob) + len(plain)},\n     .gzip_size = {len(packed)}}},\n")
    blob += plain + packed
write(out_bin, blob)
with open(os.path.join(folder, "index.html"), encoding="utf-8") as page:
    said = policy(page.read())
write(out_c, ("/* The dashboard, made by tools/embed.py. */\n"
              '#include "server/dashboard/asset.h"\n\n'
              "extern const unsigned char asset_bytes[];\n"
              '__asm__(".pushsection .rodata\\n"\n'
              '        ".global asset_bytes\\n"\n'
              '        "asset_bytes:\\n"\n'
              f'        ".incbin \\"{os.path.abspath(out_bin)}\\"\\n"\n'
              '        ".popsection\\n");\n\n'
              f"const struct asset asset_list[] = {{\n{''.join(rows)}}};\n"
              "const size_t asset_count = sizeof asset_list / sizeof *asset_list;\n"
              f'const char asset_policy[] = "{said}";\n').encode())
