#!/usr/bin/env python3
"""Counts the Rust code of `src` and `crates`: without tests, comments and blank lines."""

import os
import re

SEPARATE = re.compile(r"(^|/)(tests?|benches|examples|target|fuzz)(/|\.rs$)")

code = files = words = 0
for top in ("src", "crates"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if not name.endswith(".rs") or SEPARATE.search(path):
                continue
            files += 1
            in_test, depth = False, None
            for line in open(path, encoding="utf-8"):
                line = line.strip()
                if not line:
                    continue
                if line.startswith("//"):
                    words += len(line.lstrip("/! ").split())
                    continue
                if line.startswith(("#[cfg(test)]", "#[cfg(all(test")):
                    in_test = True
                    continue
                if in_test:
                    if depth is None:
                        if line.startswith("mod ") and line.endswith(";"):
                            in_test = False
                            continue
                        depth = 0
                    depth += line.count("{") - line.count("}")
                    if depth <= 0 and ("}" in line or line.endswith(";")):
                        in_test, depth = False, None
                    continue
                code += 1
print(f"{code} lines of code in {files} files, {words} words of comments")
