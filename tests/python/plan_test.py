"""sextant.plan: the answers of `sextant plan`, as objects."""

import pathlib
import tempfile
import unittest

import sextant
from command_line import DATA, content, documents, load, notes, run

QUESTION = {"gpus": "2x8xH100", "model": "Qwen3-8B", "framework": "verl", "prompts": 256, "responses": 8}
OPTIONS = ["--gpus", "2x8xH100", "--model", "Qwen3-8B", "--framework", "verl", "--prompts", 256, "--responses", 8]
# The same plan on any machine.
SEARCH = {"evaluations": 200, "threads": 1}
SEARCH_OPTIONS = ["--evaluations", 200, "--threads", 1]


class Plan(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plan = sextant.plan(**QUESTION, **SEARCH)

    def test_is_that_of_the_command_line(self):
        there = documents("plan", *OPTIONS, *SEARCH_OPTIONS, plan="--out", prediction="--prediction",
                          search="--search-out")
        self.assertEqual(content(self.plan.document), content(there["plan"]))
        self.assertEqual(content(self.plan.prediction.document), content(there["prediction"]))
        self.assertEqual(content(self.plan.search.document), content(there["search"]))

    def test_has_the_numbers_of_its_documents(self):
        self.assertEqual(self.plan.iteration_s, self.plan.search.document["iteration_s"])
        self.assertEqual(self.plan.framework, "verl-fsdp")
        self.assertEqual(self.plan.search.devices, 16)
        self.assertLess(self.plan.search.lower_bound_s, self.plan.iteration_s)
        gap = self.plan.iteration_s / self.plan.search.lower_bound_s - 1
        self.assertAlmostEqual(self.plan.search.gap_fraction, gap, places=12)

    def test_layouts_use_each_device_once(self):
        for task, layout in self.plan.layouts.items():
            with self.subTest(task=task):
                self.assertEqual(layout.devices, tuple(range(16)))
                self.assertEqual(layout.data_parallel * layout.pipeline_parallel * layout.tensor_parallel, 16)
                degrees = f"dp{layout.data_parallel} tp{layout.tensor_parallel} pp{layout.pipeline_parallel}"
                self.assertEqual(layout.text, f"{degrees} on 0-15")

    def test_says_why(self):
        reasons = "\n".join(self.plan.reasons)
        self.assertIn(self.plan.prediction.bottleneck, reasons)
        self.assertIn("no plan with the same precisions takes less than ", reasons)
        self.assertIn("actor_generation", str(self.plan))
        self.assertTrue(any("--mini-batches 1" in note for note in self.plan.notes), self.plan.notes)

    def test_is_saved_as_the_command_line_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "plan.json"
            self.plan.save(file)
            there = documents("predict", *OPTIONS, "--plan", file, out="--out")
        self.assertEqual(there["out"]["iteration_s"], self.plan.iteration_s)


class Options(unittest.TestCase):
    def test_documents_are_dictionaries_or_files(self):
        by_file = sextant.plan(cluster=DATA / "cluster.json", workflow=str(DATA / "workflow_ppo.json"),
                               coefficients="none", **SEARCH)
        by_content = sextant.plan(cluster=load("cluster.json"), workflow=load("workflow_ppo.json"),
                                  coefficients="none", **SEARCH)
        self.assertEqual(content(by_file.document), content(by_content.document))
        self.assertEqual(by_file.iteration_s, by_content.iteration_s)
        self.assertIsNone(by_file.framework)

    def test_pins_place_tasks_and_excluded_nodes_stay_empty(self):
        pinned = sextant.plan(**QUESTION, **SEARCH, any_layout=True, pins={"actor_training": "node1"})
        self.assertEqual(pinned.layouts["actor_training"].devices, tuple(range(8, 16)))
        left = sextant.plan(**QUESTION, **SEARCH, exclude=["node0"])
        for layout in left.layouts.values():
            self.assertEqual(layout.devices, tuple(range(8, 16)))

    def test_a_plan_starts_another_search(self):
        first = sextant.plan(**QUESTION, **SEARCH)
        second = sextant.plan(**QUESTION, **SEARCH, warm_start=first)
        self.assertLessEqual(second.iteration_s, first.iteration_s)

    def test_explanation_has_the_parts_of_the_iteration(self):
        plan = sextant.plan(**QUESTION, **SEARCH, explain=True)
        self.assertAlmostEqual(sum(plan.explanation.parts_s.values()), plan.iteration_s, delta=1e-6 * plan.iteration_s)
        self.assertEqual(plan.explanation.bottleneck, plan.prediction.bottleneck)
        self.assertTrue(plan.explanation.alternatives)

    def test_lengths_may_be_numbers(self):
        plan = sextant.plan(**QUESTION, **SEARCH, prompt_tokens=512, response_tokens="mean=700,max=2048")
        self.assertEqual(plan.workflow["prompt_tokens"], {"kind": "fixed", "tokens": 512})
        self.assertEqual(plan.workflow["response_tokens"]["max"], 2048)


class NoPlan(unittest.TestCase):
    # 32.8 billion weights of two bytes are 61 GiB; with gradients and optimizer states they are several times that.
    SMALL = {"gpus": "1x1xH100", "model": "Qwen3-32B", "framework": "verl", **SEARCH}

    def test_is_raised_with_the_advice_of_the_command_line(self):
        with self.assertRaises(sextant.NoPlan) as raised:
            sextant.plan(**self.SMALL)
        options = ["--gpus", "1x1xH100", "--model", "Qwen3-32B", "--framework", "verl", *SEARCH_OPTIONS]
        there = run("plan", *options)
        self.assertEqual(there.returncode, 1)
        # The advice after it comes from searches that end after a time.
        self.assertIn("; the nearest lacks ", raised.exception.search.message)
        for text in (str(raised.exception), *notes(there)):
            self.assertTrue(text.startswith(raised.exception.search.message + "; "), text)
        self.assertEqual(raised.exception.search.outcome, "infeasible")
        self.assertIsNone(raised.exception.search.iteration_s)
        self.assertIsInstance(raised.exception, sextant.AnswerIsNo)


if __name__ == "__main__":
    unittest.main()
