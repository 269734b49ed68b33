"""The Python of docs/guide/python.md prints what stands there.

guide_test.py --write replaces the output in the page.
"""

import contextlib
import io
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SEXTANT_SOURCE_DIR"])
PAGE = SOURCE / "docs/guide/python.md"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```\n(?P<output>.*?)```\n)?", re.DOTALL)


def outputs(text):
    """The output of each block of code, all in one program."""
    names = {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(SOURCE / "tests/data/runs.json", folder)
        before = os.getcwd()
        os.chdir(folder)
        try:
            for block in BLOCK.finditer(text):
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(block["code"], str(PAGE), "exec"), names)
                yield block, printed.getvalue()
        finally:
            os.chdir(before)


class Guide(unittest.TestCase):
    def test_code_prints_what_the_page_says(self):
        count = 0
        for block, printed in outputs(PAGE.read_text(encoding="utf-8")):
            self.assertEqual(printed, block["output"] or "", block["code"])
            count += 1
        self.assertGreater(count, 5)


def write():
    text = PAGE.read_text(encoding="utf-8")
    for block, printed in list(outputs(text))[::-1]:
        if block["output"] is not None:
            text = text[: block.start("output")] + printed + text[block.end("output") :]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
