"""The program sextant, whose answers the package must give too."""

import json
import os
import pathlib
import subprocess
import tempfile

PROGRAM = os.environ["SEXTANT_PROGRAM"]
SOURCE = pathlib.Path(os.environ["SEXTANT_SOURCE_DIR"])
DATA = SOURCE / "tests/data"


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def message(*arguments):
    """The first line on stderr, without the program's name."""
    return run(*arguments).stderr.splitlines()[0].removeprefix("sextant: ")


def notes(ran):
    """The lines on stderr, without the program's name and without lines about files."""
    return [line.removeprefix("sextant: ") for line in ran.stderr.splitlines() if not line.startswith("wrote ")]


def documents(*arguments, **files):
    """Runs a command with options that name files: documents("plan", ..., out="--out") returns {"out": document}."""
    with tempfile.TemporaryDirectory() as folder:
        named = {name: pathlib.Path(folder) / f"{name}.json" for name in files}
        options = [word for name, option in files.items() for word in (option, named[name])]
        ran = run(*arguments, *options)
        assert ran.returncode == 0, ran.stderr
        return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in named.items()}


def load(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def content(document):
    """The document without what differs between two runs."""
    left = {key: value for key, value in document.items() if key not in ("provenance", "wall_s")}
    if "curve" in left:
        left["curve"] = [{key: value for key, value in point.items() if key != "seconds"} for point in left["curve"]]
    return left
