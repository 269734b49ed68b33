"""sextant.predict: the numbers of `sextant predict`, as objects."""

import unittest

import sextant
from command_line import DATA, content, documents, load, notes, run

WORDS = {"gpus": "4x8xH100", "model": "Qwen3-14B", "framework": "verl", "train": "fsdp=32", "rollout": "tp=2"}
OPTIONS = ["--gpus", "4x8xH100", "--model", "Qwen3-14B", "--framework", "verl", "--train", "fsdp=32", "--rollout",
           "tp=2"]
FILES = {"cluster": DATA / "cluster.json", "workflow": DATA / "workflow_ppo.json", "plan": DATA / "plan.json"}
FILE_OPTIONS = [word for name, file in FILES.items() for word in (f"--{name}", file)]


class Prediction(unittest.TestCase):
    def test_of_words_is_that_of_the_command_line(self):
        here = sextant.predict(**WORDS)
        there = documents("predict", *OPTIONS, out="--out")["out"]
        self.assertEqual(content(here.document), content(there))
        self.assertEqual(list(here.notes), [*notes(run("predict", *OPTIONS)), *there["notes"]])

    def test_of_documents_is_that_of_the_command_line(self):
        there = documents("predict", *FILE_OPTIONS, "--coefficients", "none", out="--out")["out"]
        by_file = sextant.predict(**FILES, coefficients="none")
        by_content = sextant.predict(load("plan.json"), cluster=load("cluster.json"),
                                     workflow=load("workflow_ppo.json"), coefficients="none")
        self.assertEqual(content(by_file.document), content(there))
        self.assertEqual(content(by_content.document), content(there))

    def test_with_fitted_coefficients_is_that_of_the_command_line(self):
        file = DATA / "coefficients_fitted.json"
        there = documents("predict", *FILE_OPTIONS, "--coefficients", file, out="--out")["out"]
        here = sextant.predict(**FILES, coefficients=file)
        self.assertEqual(content(here.document), content(there))
        by_content = sextant.predict(**FILES, coefficients=load("coefficients_fitted.json"))
        self.assertEqual(by_content.interval_s, here.interval_s)
        self.assertEqual(by_content.document["coefficients"], "the coefficients document")

    def test_adds_up(self):
        # Tasks on the same devices run one after the other: 512 prompts with 8 responses each are 4096 sequences.
        here = sextant.predict(**WORDS)
        self.assertAlmostEqual(here.sequences_per_s, 4096 / here.iteration_s, places=9)
        tasks_s = sum(task.time_s for task in here.tasks.values())
        self.assertAlmostEqual(tasks_s + here.weight_sync_s + here.controller_s, here.iteration_s, delta=1e-3)
        self.assertLess(here.interval_s.low, here.iteration_s)
        self.assertGreater(here.interval_s.high, here.iteration_s)
        for task in here.tasks.values():
            self.assertAlmostEqual(sum(task.terms_s.values()), task.time_s, places=6)

    def test_memory_is_of_each_device(self):
        here = sextant.predict(**WORDS)
        self.assertEqual([one.device for one in here.memory], list(range(32)))
        self.assertTrue(here.fits and all(one.fits for one in here.memory))
        # Adam on 32 devices: 14.77 billion weights with 18 bytes each (bf16 weights and float32 gradients, master
        # weights and moments make 2 + 4 + 12), divided by 32, are at least 7.7 GiB.
        self.assertGreater(here.fullest.needed_bytes, 14.77e9 * 16 / 32)
        self.assertLess(here.fullest.needed_bytes, here.fullest.capacity_bytes)

    def test_of_a_plan_that_does_not_fit_says_so(self):
        here = sextant.predict(gpus="1x2xH100", model="Qwen3-32B", framework="verl", train="fsdp=2", rollout="tp=2")
        self.assertFalse(here.fits)
        self.assertIn("does not fit", str(here))

    def test_of_a_plan_brings_its_inputs(self):
        plan = sextant.plan(gpus="2x8xH100", model="Qwen3-8B", framework="verl", prompts=256, evaluations=100,
                            threads=1)
        self.assertEqual(sextant.predict(plan).iteration_s, plan.iteration_s)
        half = sextant.predict(plan, workflow={**plan.workflow, "prompts": 128})
        self.assertLess(half.iteration_s, plan.iteration_s)

    def test_has_sensitivities_on_request(self):
        here = sextant.predict(**WORDS, sensitivities=True)
        self.assertTrue(here.document["sensitivities"])
        self.assertNotIn("sensitivities", sextant.predict(**WORDS).document)


if __name__ == "__main__":
    unittest.main()
