#!/usr/bin/env python3
"""Compares the output that a page prints with what its commands printed.

    documented_output.py PAGE.md OUTPUT [--all] [--write]

Every line of the page's unlabelled blocks must be among the lines of OUTPUT: the same words, and numbers within 5 %,
because the page shows searches that ended by time, and OUTPUT those that ended by the number of plans. "..." stands for left out lines. Lines with the
time of the search are skipped. Only blocks with the time of an iteration are compared; --all compares all blocks.
--write puts the printed lines of the most similar stretch of OUTPUT in place of lines that differ in numbers.
"""
import difflib
import pathlib
import re
import sys

TOLERANCE = 0.05
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def blocks_of(page):
    """The lines of each block that has no language."""
    blocks, lines, language = [], None, ""
    for line in page.splitlines():
        if line.startswith("```"):
            if lines is None:
                lines, language = [], line[3:]
            else:
                if not language:
                    blocks.append(lines)
                lines = None
        elif lines is not None:
            lines.append(line)
    return blocks


def parts_of(line):
    line = " ".join(line.split())
    return NUMBER.sub("#", line), [float(number) for number in NUMBER.findall(line)]


def is_alike(a, b):
    return a[0] == b[0] and all(abs(x - y) <= TOLERANCE * abs(y) for x, y in zip(a[1], b[1]))


def printed_instead(block, output):
    """What the stretch of the output that is most like the block has instead of its lines."""
    patterns, printed = [parts_of(line)[0] for line in block], [parts_of(line)[0] for line in output]
    best, most = [], 0
    for first in range(len(printed)):
        if printed[first] not in patterns:
            continue
        stretch = output[first:first + 2 * len(block) + 10]
        same = difflib.SequenceMatcher(None, patterns, printed[first:first + len(stretch)], False).get_matching_blocks()
        pairs = [(block[a + k], stretch[b + k]) for a, b, size in same for k in range(size)]
        likeness = sum(1 + is_alike(parts_of(mine), parts_of(its)) for mine, its in pairs)
        if likeness > most:
            best, most = pairs, likeness
    return dict(best)


def main():
    page, output = (pathlib.Path(name).read_text() for name in sys.argv[1:3])
    compares_all = "--all" in sys.argv[3:]
    printed = [parts_of(line) for line in output.splitlines()]
    compared, missing, instead = 0, [], {}
    for block in blocks_of(page):
        if not compares_all and not any(re.match(r"iteration  [0-9]", line) for line in block):
            continue
        for line in block:
            if line in ("", "...") or "; found by " in line:
                continue
            compared += 1
            if not any(is_alike(parts_of(line), each) for each in printed):
                missing.append(line)
                instead.update(printed_instead(block, output.splitlines()))
    if "--write" in sys.argv[3:]:
        kept = [instead.get(line, line) if line in missing else line for line in page.splitlines()]
        pathlib.Path(sys.argv[1]).write_text("\n".join(kept) + "\n")
    for line in missing:
        print(f"{sys.argv[1]} has a line that its commands no longer print:\n  {line}")
    if not compared:
        print(f"{sys.argv[1]} has no output to compare")
    return 1 if missing or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
