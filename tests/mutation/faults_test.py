"""scripts/mutate: which faults it finds in a text, how it plants them, and what it keeps when it is stopped."""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS / "mutation"))
sys.dont_write_bytecode = True
from copy_of_sources import Copy  # noqa: E402
from faults import INCLUDE, chosen, faults_of_file, planted_text  # noqa: E402
from mutation_page import page, summary  # noqa: E402

TEXT = """\
#include "a.h"

namespace sextant {
constexpr double kShare = 0.5;

double part(double a, double b) {  // a - b
  if (a < b) return 0;
  const double sum = a + b * 2.0;
  total_ += sum;
  log("a + b",
      a + b);
  return std::max(a, sum - b);
}
}  // namespace sextant
"""


def load_script():
    loader = importlib.machinery.SourceFileLoader("mutate", str(SCRIPTS / "mutate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    loader.exec_module(module)
    return module


def faults():
    return list(faults_of_file("costmodel/a.cpp", TEXT))


class Faults(unittest.TestCase):
    def changed(self, line, kind):
        return [fault.changed for fault in faults() if fault.line == line and fault.kind == kind]

    def test_each_kind_changes_one_thing(self):
        self.assertEqual(self.changed(7, "swapped comparison"), ["a > b"])
        self.assertEqual(self.changed(7, "moved boundary"), ["a <= b"])
        self.assertEqual(self.changed(7, "negated condition"), ["!(a < b)"])
        self.assertEqual(self.changed(8, "changed sign"), ["a - b * 2.0"])
        self.assertEqual(self.changed(8, "dropped term"), ["a * 2.0"])
        self.assertEqual(self.changed(8, "dropped factor"), ["a + b"])
        self.assertEqual(self.changed(8, "changed constant"), ["a + b * (2 * 2.0)"])
        self.assertEqual(self.changed(9, "removed statement"), ["no total_ += sum;"])
        self.assertEqual(self.changed(12, "max for min"), ["std::min(a, sum - b)"])

    def test_constants_texts_and_parts_of_statements_are_left(self):
        self.assertEqual({fault.line for fault in faults()}, {7, 8, 9, 12})

    def test_a_planted_line_has_both(self):
        fault = next(fault for fault in faults() if fault.kind == "moved boundary")
        lines = planted_text(TEXT, [(17, fault)]).split("\n")
        self.assertEqual(lines[0], INCLUDE)
        self.assertEqual(lines[7], "  if (sextant::planted(17) ? (a <= b) : (a < b)) return 0;")
        self.assertEqual(lines[1:7] + lines[8:], TEXT.split("\n")[:6] + TEXT.split("\n")[7:])

    def test_a_seed_chooses_the_same_faults_and_one_of_a_line(self):
        first = chosen(faults(), 3, 1)
        self.assertEqual(first, chosen(faults(), 3, 1))
        self.assertEqual(len({fault.line for fault in chosen(faults(), 100, 1)}), 4)
        self.assertEqual(len(chosen(faults(), 100, 1)), 4)
        self.assertTrue(any(chosen(faults(), 3, seed) != first for seed in range(2, 9)))


class Files(unittest.TestCase):
    def test_a_stopped_run_keeps_its_results_and_forgets_those_asked_for(self):
        script = load_script()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "journal.jsonl"
            journal = script.Journal(file, [])
            for key, outcome in (("a", "caught"), ("b", "survived"), ("c", "caught")):
                journal.add({"key": key, "outcome": outcome})
            self.assertEqual(set(script.Journal(file, []).results), {"a", "b", "c"})
            self.assertEqual(set(script.Journal(file, ["survivors", "c"]).results), {"a"})
            self.assertEqual([json.loads(line)["key"] for line in file.read_text().splitlines()], ["a"])

    def test_the_copy_changes_no_file_of_the_user(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Copy(SCRIPTS.parent, pathlib.Path(folder) / "copy", ["costmodel"], 1)
            copy.put("costmodel/a.cpp", b"changed")
            self.assertEqual((pathlib.Path(folder) / "copy" / "costmodel" / "a.cpp").read_bytes(), b"changed")
            self.assertFalse((SCRIPTS.parent / "costmodel" / "a.cpp").exists())


class Page(unittest.TestCase):
    def test_it_says_the_rate_and_why_faults_survive(self):
        two = chosen(faults(), 2, 1)
        results = {fault.key: {**fault.to_json(), "key": fault.key, "outcome": outcome, "by": "", "tests": 3}
                   for fault, outcome in zip(two, ("caught", "survived"))}
        reasons = [{"file": two[1].file, "original": two[1].original, "changed": two[1].changed, "reason": "It is the same.", "equivalent": True}]
        record = summary(1, 2, two, results, {"listed": 3, "run": 3})
        self.assertEqual((record["faults"], record["caught"]), (2, 1))
        text = page(record, reasons)
        self.assertIn("**1 of 2 faults are caught (50 %).**", text)
        self.assertIn("without them it is 100 %", text)
        self.assertIn("It is the same.", text)
        self.assertIn("Not looked at yet.", page(record, []))

    def test_reasons_are_of_lines_and_tests_that_are_there(self):
        tests = "".join(file.read_text(encoding="utf-8") for file in (SCRIPTS.parent / "tests").rglob("*_test.cpp"))
        there = {".".join(names) for names in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", tests, re.MULTILINE)}
        for reason in json.loads((SCRIPTS / "mutation" / "reasons.json").read_text(encoding="utf-8")):
            with self.subTest(line=reason["original"]):
                self.assertIn(reason["original"], (SCRIPTS.parent / reason["file"]).read_text(encoding="utf-8"))
                for name in re.findall(r"\w+\.\w+", reason["reason"]) if reason["reason"].startswith("Caught since: ") else []:
                    self.assertIn(name, there)


if __name__ == "__main__":
    unittest.main()
