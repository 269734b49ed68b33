"""What scripts/measure and data/measured/README.md name is in the repository: usage measured_names.py ROOT

Paths that begin with a folder of the repository, scripts that call each other, and the documents in the README's tables.
Exit code 0 all well, 1 not.
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
FOLDERS = "calibrate|cli|core|costmodel|data|docs|examples|planner|probes|reports|scripts|tests"
faults, checked = [], 0


def expect(path, where):
    global checked
    checked += 1
    if not path.exists():
        faults.append(f"{where} names {path.relative_to(root)}, which is not there")


scripts = sorted((root / "scripts/measure").iterdir())
readme = root / "data/measured/README.md"
for file in [*scripts, readme]:
    text = file.read_text(encoding="utf-8")
    for name in re.findall(rf"(?<![\w/.-])((?:{FOLDERS})/[\w./-]*\w)", text):
        expect(root / name, file.name)
    for name in re.findall(r"(?:\$root|\$here)/([\w./-]+)", text):
        expect(file.parent / name if (file.parent / name).exists() else root / name, file.name)
    for name in re.findall(r"\b[\w-]+\.(?:py|cu)\b", text):
        checked += 1
        if not any(path.name == name for folder in ("scripts", "examples") for path in (root / folder).rglob(name)):
            faults.append(f"{file.name} names {name}, which is not there")

folder = None
for line in readme.read_text(encoding="utf-8").splitlines():
    if line.startswith("## "):
        folder = root / "data/measured" / line[3:].strip()
    elif line.startswith("| `"):
        for name in re.findall(r"`([\w/.-]+\.\w+)`", line.split("|")[1]):
            expect(folder / name, readme.name)
        for name in re.findall(r"(?:--model |--cluster |CLUSTER=)([\w/.-]+\.json)", line):
            expect(folder / name, readme.name)

print("\n".join(faults))
print(f"{checked} names, {len(faults)} faults")
sys.exit(1 if faults or checked < 40 else 0)
