"""Runs the tests of the copy: once without a fault, then with each fault those that reach it."""
import concurrent.futures
import json
import os
import re
import time
from collections import defaultdict

# Most seconds of tests of other folders that a fault is tried with, as they take without it.
OTHERS_SECONDS = 30
FAILED_TEST = re.compile(r"^\[  FAILED  \] ([\w/.]+)", re.MULTILINE)


class Test:
    def __init__(self, entry):
        self.name, self.command = entry["name"], entry["command"]
        properties = {one["name"]: one["value"] for one in entry.get("properties", [])}
        self.labels = properties.get("LABELS", [])
        self.folder = properties["WORKING_DIRECTORY"]
        self.environment = dict(one.split("=", 1) for one in properties.get("ENVIRONMENT", []))
        self.filter = next((word.split("=", 1)[1] for word in self.command if word.startswith("--gtest_filter=")), None)
        self.program = self.command[0] if self.filter else self.name
        self.seconds, self.reached, self.is_usable = 0.0, set(), False

    def key(self):
        """Another one for another build of the program."""
        return f"{self.name} {os.stat(next((word for word in self.command if '/tests/' in word), self.command[0])).st_mtime_ns}"

    def take(self, record):
        """Takes what an earlier run found; False: there is nothing."""
        if record is None:
            return False
        self.seconds, self.is_usable, self.reached = record["seconds"], record["is_usable"], set(record["reached"])
        return True

    @property
    def part(self):
        """costmodel for build/dev/tests/costmodel/terms."""
        return self.folder.split("/tests/", 1)[1].split("/")[0]


class TestRuns:
    def __init__(self, copy, folders, jobs, max_seconds, work):
        self.copy, self.folders, self.jobs, self.max_seconds, self.work = copy, folders, jobs, max_seconds, work
        self.tests = self.listed()

    def listed(self):
        _, text = self.copy.processes.run(["ctest", "--test-dir", str(self.copy.build), "--show-only=json-v1"])
        entries = json.loads(text[text.index("{"):])["tests"]
        tests = [Test(one) for one in entries if "command" in one and any(f"/tests/{name}" in json.dumps(one["properties"]) for name in self.folders)]
        return [test for test in tests if test.part in self.folders and not {"slow", "gpu", "netns", "slurm"} & set(test.labels)]

    def counts(self):
        usable = [test for test in self.tests if test.is_usable]
        return {"listed": len(self.tests), "run": len(usable)}

    def in_parallel(self, work, items):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(work, item) for item in items]
            try:
                for one in concurrent.futures.as_completed(waiting):
                    one.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.copy.processes.end_all()
                raise

    def measure(self, faults):
        """Runs each test alone without a fault, for its time and the faults that it reaches; not again after a stop."""
        (self.work / "reached").mkdir(exist_ok=True)
        known = self.known_tests()
        waiting = [(number, test) for number, test in enumerate(self.tests) if not test.take(known.get(test.key()))]
        print(f"{len(waiting)} of {len(self.tests)} tests are run without a fault", flush=True)
        self.in_parallel(self.measure_one, waiting)
        usable = sum(test.is_usable for test in self.tests)
        reached = set().union(*(test.reached for test in self.tests)) if self.tests else set()
        print(f"{usable} of {len(self.tests)} tests pass in {self.max_seconds:g} s each; they reach {len(reached)} of {faults} faults", flush=True)

    def known_tests(self):
        file = self.work / "tests.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return {record["key"]: record for record in map(json.loads, lines)}

    def measure_one(self, numbered):
        number, test = numbered
        file = self.work / "reached" / str(number)
        file.unlink(missing_ok=True)
        environment = {**os.environ, **test.environment, "SEXTANT_REACHED_FAULTS": str(file)}
        start = time.monotonic()
        code, _ = self.copy.processes.run(test.command, self.max_seconds, cwd=test.folder, env=environment)
        test.seconds = time.monotonic() - start
        test.is_usable = code == 0
        test.reached = {int(line) for line in file.read_text().split()} if file.exists() else set()
        with (self.work / "tests.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps({"key": test.key(), "seconds": test.seconds, "is_usable": test.is_usable, "reached": sorted(test.reached)}) + "\n")

    def run(self, faults, add):
        done = 0

        def one(numbered):
            nonlocal done
            result = self.result_of(*numbered)
            add(result)
            done += 1
            print(f"{done}/{len(faults)} {result['outcome']}: {result['file']}:{result['line']} {result['kind']} ({result['seconds']:.1f} s)", flush=True)

        self.in_parallel(one, faults)

    def batches(self, number, own):
        """The tests that reach the fault, by program, those of its own folder first, short ones first."""
        reaching = sorted((test for test in self.tests if test.is_usable and number in test.reached), key=lambda test: test.seconds)
        mine = [test for test in reaching if test.part == own]
        others, total = [], 0.0
        for test in (test for test in reaching if test.part != own):
            total += test.seconds
            if total < OTHERS_SECONDS:
                others.append(test)
        for group in (mine, others):
            programs = defaultdict(list)
            for test in group:
                programs[test.program].append(test)
            yield from sorted(programs.values(), key=lambda tests: sum(test.seconds for test in tests))

    def result_of(self, number, fault):
        start = time.monotonic()
        result = {"key": fault.key, "number": number, "file": fault.file, "line": fault.line, "kind": fault.kind, "original": fault.original,
                  "changed": fault.changed, "outcome": "survived", "by": "", "tests": 0}
        for tests in self.batches(number, fault.file.split("/")[0]):
            result["tests"] += len(tests)
            caught_by = self.failure(number, tests)
            if caught_by:
                result.update(outcome="caught", by=caught_by)
                break
        result["seconds"] = round(time.monotonic() - start, 2)
        return result

    def failure(self, number, tests):
        """The test that fails with the fault; empty: none."""
        first = tests[0]
        command = first.command
        if first.filter:
            names = ":".join(test.filter for test in tests)
            command = [first.program, f"--gtest_filter={names}", "--gtest_fail_fast", "--gtest_brief=1"]
        limit_s = 20 + 5 * sum(test.seconds for test in tests)
        environment = {**os.environ, **first.environment, "SEXTANT_PLANTED_FAULT": str(number)}
        code, text = self.copy.processes.run(command, limit_s, cwd=first.folder, env=environment)
        if code == 0:
            return ""
        failed = FAILED_TEST.findall(text)
        program = os.path.basename(first.program)
        if failed:
            return f"{program}: {failed[0]}"
        return f"{program}: " + ("endless" if code is None else f"exit {code}")
