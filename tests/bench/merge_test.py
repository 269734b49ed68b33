"""scripts/bench_merge.py on outputs of Google Benchmark written by hand: usage merge_test.py BENCH_MERGE"""

import json
import pathlib
import subprocess
import sys
import tempfile

FIT = "calibrate.fit_1000x40_s"
CROSS_VALIDATION = "calibrate.cross_validation_200_s"


def repetition(name, seconds, **counters):
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 3, "iterations": 1,
            "real_time": seconds, "cpu_time": seconds, "time_unit": "s", **counters}


def calibrate_bench(fit_s, cross_validation_s):
    runs = [repetition(FIT + "/iterations:1", time_s, free_coefficients=40.0, target_s=2.0) for time_s in fit_s]
    runs += [repetition(CROSS_VALIDATION + "/iterations:1", cross_validation_s, target_s=20.0)]
    return {"benchmarks": runs}


EVALUATIONS = "planner.full_evaluations_per_s"


def planner_bench(per_s, **counters):
    return {"benchmarks": [repetition(EVALUATIONS, 1 / per_s, per_s=per_s, target_per_s=1e6, **counters)]}


CORE_BENCH = {"benchmarks": [repetition("parse_runs_500/real_time", 0.25, bytes_per_second=8e6),
                             repetition("median_interval_of/1000", 0.5)]}


def merged(merge, folder, outputs, *options):
    """(exit code, list written, standard error)"""
    files = []
    for program, content in outputs.items():
        file = folder / f"{program}_bench.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        files.append(str(file))
    out = folder / "bench.json"
    out.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, merge, *options, str(out), *files], capture_output=True, text=True)
    return done.returncode, json.loads(out.read_text(encoding="utf-8")), done.stderr


def main(merge):
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        fast = {"calibrate": calibrate_bench([1.0, 9.0, 1.5], 20.0), "core": CORE_BENCH}
        code, entries, said = merged(merge, folder, fast, "--check")
        assert code == 0, (code, said)
        assert said == (f"bench: {FIT}: 1.5 s, at most 2 s asked: met\n"
                        f"bench: {CROSS_VALIDATION}: 20 s, at most 20 s asked: met\n"), said
        assert entries == [
            {"name": FIT, "value": 1.5, "unit": "s", "target": 2.0, "met": True},  # the median of three
            {"name": FIT + ":free_coefficients", "value": 40.0, "unit": "1"},
            {"name": CROSS_VALIDATION, "value": 20.0, "unit": "s", "target": 20.0, "met": True},
            {"name": "core/parse_runs_500", "value": 0.25, "unit": "s"},
            {"name": "core/parse_runs_500:bytes_per_second", "value": 8e6, "unit": "bytes/s"},
            {"name": "core/median_interval_of/1000", "value": 0.5, "unit": "s"},
        ], entries

        slow = {"calibrate": calibrate_bench([2.5], 3.0)}
        code, entries, said = merged(merge, folder, slow, "--check")
        assert code == 1, code
        assert [entry["met"] for entry in entries if "met" in entry] == [False, True], entries
        assert said.startswith(f"bench: {FIT}: 2.5 s, at most 2 s asked: MISSED\n"), said
        assert merged(merge, folder, slow)[0] == 0  # only where it is asked

        # A rate has the benchmark's name, and too low is a miss.
        code, entries, said = merged(merge, folder, {"planner": planner_bench(1.25e6)}, "--check")
        assert code == 0, (code, said)
        assert entries == [
            {"name": EVALUATIONS, "value": 1.25e6, "unit": "1/s", "target": 1e6, "met": True},
            {"name": EVALUATIONS + ":time", "value": 8e-7, "unit": "s"},
        ], entries
        code, entries, said = merged(merge, folder, {"planner": planner_bench(0.5e6)}, "--check")
        assert (code, entries[0]["met"]) == (1, False), (code, entries)
        assert said == f"bench: {EVALUATIONS}: 5e+05 1/s, at least 1e+06 1/s asked: MISSED\n", said
        both = {"planner": planner_bench(1.25e6, target_s=1e-9)}
        assert [entry["met"] for entry in merged(merge, folder, both)[1]] == [True, False]

        # A gap may be no larger, a speedup no smaller.
        for counter, met in (("gap", True), ("bytes", True), ("speedup", False)):
            run = repetition("planner.x", 2.0, **{counter: 0.005, "target_" + counter: 0.01})
            _, entries, said = merged(merge, folder, {"planner": {"benchmarks": [run]}})
            unit = "bytes" if counter == "bytes" else "1"
            assert entries[0] == {"name": "planner.x", "value": 0.005, "unit": unit, "target": 0.01, "met": met}, entries

        run = repetition("planner.x", 2.0, peak_bytes=4096.0)
        _, entries, _ = merged(merge, folder, {"planner": {"benchmarks": [run]}})
        assert entries[1] == {"name": "planner.x:peak_bytes", "value": 4096.0, "unit": "bytes"}, entries

        code, _, said = merged(merge, folder, {"core": CORE_BENCH}, "--check")
        assert (code, said) == (2, "bench: no benchmark with a target ran\n"), (code, said)


if __name__ == "__main__":
    main(sys.argv[1])
