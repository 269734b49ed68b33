#!/usr/bin/env bash
# Runs the shell blocks of docs/guide/coschedule.md word for word in an empty folder, with its job.py, and compares the
# output that the page prints with what the commands print.
#
#   documented_coschedule.sh ROOT FOLDER_OF_SEXTANT
#
# Exit 77 (skipped) without Python.
set -euo pipefail
root=$(realpath "$1")
export PATH="$(realpath "$2"):$PATH"
command -v python3 >/dev/null || { echo "skipped: no python3 on PATH"; exit 77; }
page=$root/docs/guide/coschedule.md

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cp "$root/python/sextant/phases.py" .
sed -n '/^```python$/,/^```$/p' "$page" | grep -v '^```' >job.py
# A person is slower than the start of a server. `wait` reports no failed job, so each background command says its own.
sed -n '/^```sh$/,/^```$/p' "$page" | grep -v '^```' |
  sed -e ':join' -e '/\\$/{N;s/\\\n */ /;b join' -e '}' |
  sed -e 's/^\(sextant coschedule run .*\) &$/{ \1 || touch failed; } \&\nsleep 1/' -e 's/^\(.*[a-zA-Z0-9]\) &$/{ \1 || touch failed; } \&/' >commands.sh
grep -c '^{\? \?sextant ' commands.sh || { echo "found no commands in the page"; exit 1; }
bash -euo pipefail commands.sh >output.txt 2>errors.txt || { tail -n 20 output.txt errors.txt commands.sh; exit 1; }
[ ! -e failed ] || { echo "a command in the background failed"; cat errors.txt; exit 1; }
for file in placement.json q.json report.html phases.csv a-runs.json b-runs.json; do
  [ -s "$file" ] || { echo "$file is missing"; exit 1; }
done
python3 "$root/tests/cli/documented_output.py" "$page" output.txt --all
