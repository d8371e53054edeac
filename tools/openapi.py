#!/usr/bin/env python3
"""Puts the description of the API into the binary: openapi.py openapi.yaml VERSION OUT.c

OUT.c is the same as JSON, with VERSION as the version of the API (src/server/api/openapi.h)."""
import json
import sys

import yaml

source, version, out_c = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    document = yaml.safe_load(file)
document["info"]["version"] = version
text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
lines = (", ".join(map(str, text[start:start + 24])) for start in range(0, len(text), 24))
with open(out_c, "w", encoding="utf-8") as out:
    out.write("/* src/server/api/openapi.yaml as JSON, made by tools/openapi.py. */\n"
              '#include "server/api/openapi.h"\n\n'
              "const unsigned char openapi_json[] = {\n    " + ",\n    ".join(lines) + "};\n"
              "const size_t openapi_json_size = sizeof openapi_json;\n")
