"""Runs the programs that it is called with, one after the other. Writes the error of `name.py` to `name.py.error`."""

import contextlib
import io
import sys
import traceback
from pathlib import Path

# The module `requests` beside this file is for machines that lack the package, so it comes last.
sys.path.append(sys.path.pop(0))

for path in map(Path, sys.argv[1:]):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(path.read_text(), path.name, "exec"), {"__name__": "__main__"})
    except BaseException:
        path.with_name(f"{path.name}.error").write_text(traceback.format_exc())
