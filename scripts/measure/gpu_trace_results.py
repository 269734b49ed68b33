#!/usr/bin/env python3
"""What scripts/measure/gpu_trace makes of its runs: a cluster document, overhead, held-out predictions."""

import ctypes
import glob
import json
import os
import pathlib
import re
import runpy
import statistics
import subprocess
import sys

SKIPPED = 2  # steps that warm up: the first captures CUDA graphs


def write(path, value):
    pathlib.Path(path).write_text(json.dumps(value, indent=2) + "\n")


def cluster(gpus, out):
    """One GPU as its data sheet has it."""
    import torch

    name = torch.cuda.get_device_name()
    wanted = next((word for word in ("GH200", "H200", "H100", "A100", "B200", "L40S") if word in name), None)
    facts = next(gpu for gpu in json.loads(pathlib.Path(gpus).read_text())["gpus"] if gpu["name"].startswith(wanted or "?"))

    def quantity(values):
        return {"value": values[0]["value"], "source": "datasheet"}

    device = {
        "kind": "gpu",
        "memory_bytes": quantity(facts["memory_bytes"]),
        "memory_bytes_per_s": quantity(facts["memory_bytes_per_s"]),
        "flop_per_s": {p: quantity(facts["flop_per_s"][p]) for p in ("fp32", "bf16", "fp16") if p in facts["flop_per_s"]},
    }
    provenance = {"tool_version": "scripts/measure/gpu_trace", "command": "cluster", "time_utc": "2026-01-01T00:00:00Z", "host": "any"}
    node = {"name": "node", "region": "here", "zone": "here", "device_type": facts["name"], "devices": 1}
    write(out, {"schema": "sextant.cluster/1.0", "provenance": provenance, "name": "traced-gpu",
                "device_types": {facts["name"]: device}, "nodes": [node], "links": {}})


def steps(log):
    """Seconds of each step of a metrics log, and of its phases."""
    rows = []
    for line in pathlib.Path(log).read_text().splitlines():
        found = dict(re.findall(r"timing_s/(\w+):([0-9.e+-]+)", line))
        if "step" in found:
            rows.append({key: float(value) for key, value in found.items()})
    return rows[SKIPPED:]


def lower_quartile(values):
    return statistics.quantiles(values, n=4)[0] if len(values) > 1 else values[0]


def against(values, base):
    """By how much `values` are longer, by medians and by lower quartiles: the latter are steadier on a shared host."""
    return {"by_median": statistics.median(values) / statistics.median(base) - 1,
            "by_lower_quartile": lower_quartile(values) / lower_quartile(base) - 1}


def overhead_of_loop(work, name):
    rows = {kind: [steps(path) for path in sorted(work.glob(pattern))]
            for kind, pattern in {"untraced": f"untraced-{name}-*.log", "traced": f"traced-{name}-1[0-9].log",
                                  "every_kernel": f"traced-{name}-every*.log"}.items()}
    rows = {kind: [row for row in logs if row] for kind, logs in rows.items()}
    entry = {}
    for kind, logs in rows.items():
        if not logs or not rows["untraced"]:
            continue
        entry[f"{kind}_step_s"] = [[row["step"] for row in log] for log in logs]
        if kind == "untraced":
            continue
        entry[f"{kind}_overhead"] = {
            phase: against([row[phase] for log in logs for row in log], [row[phase] for log in rows["untraced"] for row in log])
            for phase in ("step", "gen", "ref", "update_actor")
        }
    return entry


def overhead_of_launches(work):
    by_wait = {}
    for kind in ("untraced", "traced", "every"):
        path = work / f"launches-{kind}.jsonl"
        for line in path.read_text().splitlines() if path.exists() else []:
            row = json.loads(line)
            by_wait.setdefault(row["wait_us"], {}).setdefault(kind, []).extend(row["us_per_launch"])
    for kinds in by_wait.values():
        for kind in ("traced", "every"):
            if kind in kinds and "untraced" in kinds:
                kinds[f"{kind}_overhead"] = against(kinds[kind], kinds["untraced"])
    return [{"wait_us": wait, **kinds} for wait, kinds in sorted(by_wait.items())]


def overhead(work, out):
    """Traced and untraced runs in turns: all steps of all runs, the first two of each left out."""
    work = pathlib.Path(work)
    names = sorted({path.name.split("-")[1] for path in work.glob("untraced-*.log")} - {"qwen"})
    result = {"what": "seconds of each step of each run, the first two left out; overhead: all traced against all untraced",
              "loops": {name: overhead_of_loop(work, name) for name in names},
              "launches": overhead_of_launches(work)}
    write(out, result)
    for name, entry in result["loops"].items():
        print(name, {kind: value["step"] for kind, value in entry.items() if kind.endswith("_overhead")})
    for entry in result["launches"]:
        print(entry["wait_us"], {kind: value for kind, value in entry.items() if kind.endswith("_overhead")})


def subset(runs, names):
    kept = dict(runs)
    kept["runs"] = [run for run in runs["runs"] if run["name"] in names]
    for member, key in (("workflows", "workflow"), ("plans", "plan")):
        used = {run[key] for run in kept["runs"]}
        kept[member] = {name: value for name, value in runs[member].items() if name in used}
    return kept


def validate(sextant, runs, fit_names, folder, label):
    """Fits on the named runs and predicts all."""
    part, coefficients, accuracy = (folder / f"{label}-{what}.json" for what in ("runs", "coefficients", "accuracy"))
    write(part, subset(runs, fit_names))
    subprocess.run([sextant, "calibrate", str(part), "--cross-validate", "none", "--out", str(coefficients)], check=False)
    whole = folder / "all-runs.json"
    write(whole, runs)
    subprocess.run([sextant, "validate", str(whole), "--coefficients", str(coefficients), "--out", str(accuracy)], check=False)
    return json.loads(accuracy.read_text()) if accuracy.exists() else None


def iterations(accuracy):
    """By run: measured and predicted seconds, and by how much the prediction is off."""
    return {
        time["run"]: {
            "measured_s": time["measured_s"],
            "predicted_s": time["predicted_s"],
            "error_fraction": time["predicted_s"] / time["measured_s"] - 1,
            "held_out": time["held_out"],
        }
        for time in accuracy["times"]
        if time["task"] == "iteration"
    }


def predict(sextant, out, *splits):
    out = pathlib.Path(out)
    folder = out / "work" / "fits"
    folder.mkdir(parents=True, exist_ok=True)
    runs = json.loads((out / "runs.json").read_text())
    names = [run["name"] for run in runs["runs"]]
    result = []
    for i, split in enumerate(splits):
        fit_names = [name for name in split.split(",") if name in names]
        accuracy = validate(sextant, runs, fit_names, folder, f"split{i}")
        result.append({"fitted_to": fit_names, "held_out": [name for name in names if name not in fit_names],
                       "iterations": accuracy and iterations(accuracy),
                       "held_out_iterations": accuracy and accuracy["held_out_iterations"],
                       "held_out_by_task": accuracy and accuracy["held_out_by_task"]})
    left_out = []
    for name in names:
        accuracy = validate(sextant, runs, [n for n in names if n != name], folder, f"without-{name}")
        left_out.append({"left_out": name, "iteration": accuracy and iterations(accuracy).get(name)})
    print(json.dumps([split["held_out_iterations"] for split in result] + left_out, indent=1))
    write(out / "held_out.json", {"splits": result, "leave_one_out": left_out})
    coefficients = folder / "split0-coefficients.json"
    if coefficients.exists():
        (out / "coefficients.json").write_text(coefficients.read_text())


def summaries(work, out):
    write(out, {path.stem.removeprefix("summary-"): json.loads(path.read_text())
                for path in sorted(pathlib.Path(work).glob("summary-*.json"))})


def subscribe(script, *arguments):
    """Subscribes to CUPTI before CUDA is initialised, then runs the script: the tracer comes second."""
    import torch

    folders = [pathlib.Path(torch.__file__).parents[1] / "nvidia", pathlib.Path("/usr/local/cuda")]
    found = [path for folder in folders for path in glob.glob(f"{folder}/**/libcupti.so.1[0-9]", recursive=True)]
    library = ctypes.CDLL(found[0])
    handle = ctypes.c_void_p()
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)(lambda *_: None)
    # CUPTI initialises the driver, which would load the tracer in the middle of this call: not yet.
    library_path = os.environ.pop("CUDA_INJECTION64_PATH", "")
    result = library.cuptiSubscribe(ctypes.byref(handle), callback, None)
    print(f"cuptiSubscribe of {found[0]}: {result}", flush=True)
    tool = ctypes.CDLL(library_path) if library_path else None
    if tool is not None:  # what the driver does
        tool.InitializeInjection()
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(pathlib.Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    del callback


if __name__ == "__main__":
    {"cluster": cluster, "overhead": overhead, "predict": predict, "summaries": summaries, "subscribe": subscribe}[
        sys.argv[1]
    ](*sys.argv[2:])
