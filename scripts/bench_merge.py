"""Merges Google Benchmark's JSON files into one list of {"name", "value", "unit"}.

usage: bench_merge.py OUT FILE...     OUT is a file, replaced atomically, or - for standard output

Times come out in seconds, bytes_per_second in bytes/s, other counters that end in _per_second or _per_s in 1/s.
With repetitions the median is taken. A benchmark that reported an error makes the merge fail.
"""

import json
import os
import statistics
import sys
import tempfile

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# What Google Benchmark itself writes beside a benchmark's own counters.
OWN_FIELDS = {
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time",
}


def unit_of(counter):
    if counter in ("bytes_per_second", "bytes_per_s"):
        return "bytes/s"
    return "1/s" if counter.endswith(("_per_second", "_per_s")) else "1"


def samples_of(file):
    """Yields (name, unit, value) of every single repetition."""
    with open(file, encoding="utf-8") as stream:
        text = stream.read()
    if not text:  # the filter left nothing of this program
        return
    program = os.path.basename(file).removesuffix(".json").removesuffix("_bench")
    for entry in json.loads(text)["benchmarks"]:
        if entry.get("error_occurred"):
            sys.exit(f"{program}/{entry['name']}: {entry['error_message']}")
        if entry["run_type"] != "iteration":
            continue
        name = f"{program}/{entry['run_name']}"
        yield name, "s", entry["real_time"] * SECONDS[entry["time_unit"]]
        for key, value in entry.items():
            if key not in OWN_FIELDS and isinstance(value, (int, float)) and not isinstance(value, bool):
                yield f"{name}:{key}", unit_of(key), value


def merge(files):
    samples = {}
    for file in files:
        for name, unit, value in samples_of(file):
            samples.setdefault((name, unit), []).append(value)
    return [
        {"name": name, "value": statistics.median(values), "unit": unit}
        for (name, unit), values in samples.items()
    ]


def write(out, text):
    if out == "-":
        sys.stdout.write(text)
        return
    folder = os.path.dirname(os.path.abspath(out))
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.chmod(stream.name, 0o644)
    os.replace(stream.name, out)


if __name__ == "__main__":
    merged = merge(sys.argv[2:])
    if not merged:
        sys.exit("no benchmark matched")
    write(sys.argv[1], json.dumps(merged, indent=2, allow_nan=False) + "\n")
