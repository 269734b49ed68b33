"""Merges Google Benchmark's JSON files into one list of {"name", "value", "unit"}.

usage: bench_merge.py [--check] OUT FILE...     OUT is a file, replaced atomically, or - for standard output

Times come out in seconds, bytes_per_second in bytes/s, other counters that end in _per_second or _per_s in 1/s,
in _bytes in bytes.
With repetitions the median is taken. A benchmark that reported an error makes the merge fail.

Names are PROGRAM/BENCHMARK, or what the benchmark is called itself where that starts with "PART.", PROGRAM up to its
first underscore; the suffixes
that Google Benchmark adds for how it was run are left off. A benchmark is about its time, or about one of the counters
per_s, gap, speedup and bytes: that has its name, and the time is NAME:time. Its counter target_s is the most seconds that it
may take, target_per_s, target_gap, target_speedup and target_bytes what those counters have to reach: the entry of that value then
also has "target", in its unit, and "met". Every target is said on standard error beside what was measured.

--check exits 1 where a target is missed, after the list was written, and 2 where no benchmark with a target ran.
"""

import json
import os
import re
import statistics
import sys
import tempfile

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# What Google Benchmark itself writes beside a benchmark's own counters.
OWN_FIELDS = {
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time",
}
LONGEST = "target_s"
# Counters that a benchmark is about, and their targets.
RESULTS = {"per_s": "target_per_s", "gap": "target_gap", "speedup": "target_speedup", "bytes": "target_bytes"}
AT_MOST = {"target_s", "target_gap", "target_bytes"}
# How a benchmark was run, in its name.
RUN_SUFFIX = re.compile(r"/(iterations|repeats|min_time|min_warmup_time):[^/]*|/(real_time|process_time|manual_time)")


def unit_of(counter):
    if counter in ("bytes_per_second", "bytes_per_s"):
        return "bytes/s"
    if counter == "bytes" or counter.endswith("_bytes"):
        return "bytes"
    return "1/s" if counter == "per_s" or counter.endswith(("_per_second", "_per_s")) else "1"


def name_of(program, run_name):
    name = RUN_SUFFIX.sub("", run_name)
    part = program.split("_")[0]  # several programs may be about one part
    return name if name.startswith(part + ".") else f"{program}/{name}"


def samples_of(file):
    """Yields (name, unit, value, target) of every single repetition; target is None, or its kind and value."""
    with open(file, encoding="utf-8") as stream:
        text = stream.read()
    if not text:  # the filter left nothing of this program
        return
    program = os.path.basename(file).removesuffix(".json").removesuffix("_bench")
    for entry in json.loads(text)["benchmarks"]:
        if entry.get("error_occurred"):
            sys.exit(f"{program}/{entry['name']}: {entry['error_message']}")
        if entry["run_type"] == "iteration":
            yield from samples_in(entry, name_of(program, entry["run_name"]))


def samples_in(entry, name):
    def target(kind):
        return (kind, entry[kind]) if kind in entry else None

    about = next((counter for counter in RESULTS if counter in entry), None)
    for counter, kind in RESULTS.items():
        if kind in entry and counter != about:
            sys.exit(f"{name}: has {kind} and no {counter} to hold it against")
    time_s = entry["real_time"] * SECONDS[entry["time_unit"]]
    if about:
        yield name, unit_of(about), entry[about], target(RESULTS[about])
    yield f"{name}:time" if about else name, "s", time_s, target(LONGEST)
    for key, value in entry.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and key not in OWN_FIELDS | {LONGEST, about} | set(RESULTS.values()):
            yield f"{name}:{key}", unit_of(key), value, None


def is_met(value, target):
    """Times and gaps may be no larger than their target, rates and speedups no smaller."""
    kind, asked = target
    return value <= asked if kind in AT_MOST else value >= asked


def merge(files):
    samples = {}
    targets = {}
    for file in files:
        for name, unit, value, target in samples_of(file):
            samples.setdefault((name, unit), []).append(value)
            if target is not None:
                targets[name] = target
    merged, kinds = [], {}
    for (name, unit), values in samples.items():
        entry = {"name": name, "value": statistics.median(values), "unit": unit}
        if name in targets:
            entry["target"] = targets[name][1]
            entry["met"] = is_met(entry["value"], targets[name])
            kinds[name] = targets[name][0]
        merged.append(entry)
    return merged, kinds


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


def describe(entry, kind):
    unit, sign = entry["unit"], "at most" if kind in AT_MOST else "at least"
    verdict = "met" if entry["met"] else "MISSED"
    return f"bench: {entry['name']}: {entry['value']:.3g} {unit}, {sign} {entry['target']:g} {unit} asked: {verdict}"


def check(with_target):
    """The exit code of --check."""
    if not with_target:
        print("bench: no benchmark with a target ran", file=sys.stderr)
        return 2
    return 0 if all(entry["met"] for entry in with_target) else 1


def main(arguments):
    is_check = arguments[:1] == ["--check"]
    out, *files = arguments[1:] if is_check else arguments
    merged, kinds = merge(files)
    if not merged:
        sys.exit("no benchmark matched")
    write(out, json.dumps(merged, indent=2, allow_nan=False) + "\n")
    with_target = [entry for entry in merged if "target" in entry]
    for entry in with_target:
        print(describe(entry, kinds[entry["name"]]), file=sys.stderr)
    return check(with_target) if is_check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
