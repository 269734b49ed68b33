#!/usr/bin/env python3
"""Puts runs of sextant probe beside PyTorch's ceilings: comparison.json.

gpu_compare.py FOLDER reads probe_<i>.cluster.json, probe_<i>.seconds and torch_<i>.json, i = 1, 2, ... (what is
missing is left out) and, where there are any, sanitizer_<tool>.status. Ratios are of medians over the runs: Sextant's
best product of each precision over PyTorch's best, Sextant's copy over the better of PyTorch's and cudaMemcpy.
"""
import glob
import json
import os
import statistics
import sys

TARGETS = {"gemm/bf16": 0.98, "memory/copy": 0.98}
MOST_SECONDS = 60.0


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def runs(folder, pattern):
    found = []
    for path in sorted(glob.glob(os.path.join(folder, pattern))):
        try:
            found.append(load(path))
        except (OSError, ValueError) as error:
            print(f"left out {path}: {error}", file=sys.stderr)
    return found


def device_type(cluster):
    return next(iter(cluster["device_types"].values()))


def median_by_key(rows):
    keys = {key for row in rows for key in row}
    return {key: statistics.median([row[key] for row in rows if key in row]) for key in sorted(keys)}


def spread(values):
    """Largest over smallest, less one."""
    return max(values) / min(values) - 1 if len(values) > 1 and min(values) > 0 else None


def main():
    folder = sys.argv[1]
    types = [device_type(cluster) for cluster in runs(folder, "probe_*.cluster.json")]
    torches = runs(folder, "torch_*.json")
    if not types:
        sys.exit("no probe run in " + folder)
    measured = [{name: entry["quantity"]["value"] for name, entry in one.get("measurements", {}).items()}
                for one in types]
    rates = [{"gemm/" + precision: rate["value"] for precision, rate in one["flop_per_s"].items()} for one in types]
    sextant = median_by_key(rates) | median_by_key(measured)
    theirs = median_by_key([{"gemm/" + p: r for p, r in one["best_gemm"].items()}
                            | {"memory/copy": max(one["copy_bytes_per_s"].values())} for one in torches])
    by_size = median_by_key([{f"gemm/{p}/{size}": rate for p, sizes in one["gemm"].items()
                              for size, rate in sizes.items()} for one in torches])
    ratios = {key: sextant[key] / theirs[key] for key in theirs if key in sextant}
    seconds = []
    for path in sorted(glob.glob(os.path.join(folder, "probe_*.seconds"))):
        with open(path, encoding="utf-8") as file:
            seconds.append(float(file.read()))
    sanitizer = {}
    for path in sorted(glob.glob(os.path.join(folder, "sanitizer_*.status"))):
        with open(path, encoding="utf-8") as file:
            sanitizer[os.path.basename(path)[len("sanitizer_"):-len(".status")]] = file.read().strip()
    repeat = {name: spread([run[name] for run in measured if name in run]) for name in sorted(measured[0])}
    report = {
        "gpu": torches[0]["gpu"] if torches else None,
        "torch": torches[0]["torch"] if torches else None,
        "probe_runs": len(types),
        "torch_runs": len(torches),
        "probe_seconds": seconds,
        "ratios": ratios,
        "targets": {name: {"least": least, "is_met": ratios.get(name, 0) >= least} for name, least in TARGETS.items()}
        | {"probe_seconds": {"most": MOST_SECONDS, "is_met": bool(seconds) and max(seconds) <= MOST_SECONDS}},
        "sanitizer": sanitizer,
        "sextant": sextant,
        "pytorch": theirs,
        "ratios_by_size": {name: sextant[name] / rate for name, rate in by_size.items() if name in sextant},
        "repeatability_fraction": {name: value for name, value in repeat.items() if value is not None},
    }
    with open(os.path.join(folder, "comparison.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
        file.write("\n")
    for name, ratio in ratios.items():
        print(f"{name}: Sextant {sextant[name]:.4g}, PyTorch {theirs[name]:.4g}, ratio {ratio:.4f}")
    print("seconds of the probe:", seconds, " sanitizer:", sanitizer or "not run")
    for name, target in report["targets"].items():
        print(f"target {name}: {'met' if target['is_met'] else 'MISSED'}")


if __name__ == "__main__":
    main()
