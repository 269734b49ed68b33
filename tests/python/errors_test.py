"""Wrong input: ValueError with the message of the command line, TypeError for values of another type."""

import json
import os
import subprocess
import sys
import unittest

import sextant
from command_line import DATA, SOURCE, message

QUESTION = {"gpus": "4x8xH100", "model": "Qwen3-14B"}
OPTIONS = ["--gpus", "4x8xH100", "--model", "Qwen3-14B"]


class SameMessages(unittest.TestCase):
    def check_same(self, arguments, function, **options):
        with self.assertRaises(ValueError) as raised:
            function(**options)
        self.assertEqual(str(raised.exception), message(*arguments))

    def test_missing_model(self):
        self.check_same(["plan", "--gpus", "4x8xH100"], sextant.plan, gpus="4x8xH100")

    def test_unknown_gpu(self):
        self.check_same(["plan", "--gpus", "4x9xQ100", "--model", "Qwen3-14B"], sextant.plan, gpus="4x9xQ100",
                        model="Qwen3-14B")

    def test_unknown_framework(self):
        self.check_same(["plan", *OPTIONS, "--framework", "vrl"], sextant.plan, **QUESTION, framework="vrl")

    def test_unknown_planner(self):
        self.check_same(["plan", *OPTIONS, "--planner", "moon"], sextant.plan, **QUESTION, planner="moon")

    def test_option_that_a_planner_lacks(self):
        self.check_same(["plan", *OPTIONS, "--planner", "mcmc", "--goal", "cost"], sextant.plan, **QUESTION,
                        planner="mcmc", goal="cost")

    def test_wrong_layout(self):
        self.check_same(["predict", *OPTIONS, "--train", "fsdp=5", "--rollout", "tp=2"], sextant.predict, **QUESTION,
                        train="fsdp=5", rollout="tp=2")

    def test_missing_plan(self):
        self.check_same(["predict", *OPTIONS], sextant.predict, **QUESTION)

    def test_missing_file(self):
        self.check_same(["plan", "--cluster", "nowhere.json", "--model", "Qwen3-14B"], sextant.plan,
                        cluster="nowhere.json", model="Qwen3-14B")

    def test_file_of_another_kind(self):
        file = DATA / "plan.json"
        self.check_same(["plan", "--cluster", file, "--model", "Qwen3-14B"], sextant.plan, cluster=file,
                        model="Qwen3-14B")


class Values(unittest.TestCase):
    def test_numbers_out_of_range_say_the_range(self):
        for options, text in (
            ({"prompts": 0}, "prompts: expected an integer from 1 to 100000000, got 0"),
            ({"responses": 2**70}, f"responses: expected an integer from 1 to 1000000, got {2**70}"),
            ({"budget_s": -1.5}, "budget_s: expected a number above 0, got -1.5"),
            ({"budget_s": float("nan")}, "budget_s: expected a number above 0, got nan"),
            ({"evaluations": 0}, "evaluations: expected an integer >= 1, got 0"),
            ({"max_memory_risk": 0.9}, "max_memory_risk: expected a number from 0.001 to 0.5, got 0.9"),
            ({"goal": "moon"}, "goal: expected one of cost, devices, mean, p50, p75, p90, p95, p99, time, got moon"),
        ):
            with self.subTest(**options), self.assertRaises(ValueError) as raised:
                sextant.plan(**QUESTION, **options)
            self.assertEqual(str(raised.exception), text)

    def test_other_types_raise_type_errors(self):
        for options, text in (
            ({"prompts": 1.5}, "prompts: expected an integer, got float"),
            ({"prompts": True}, "prompts: expected an integer, got bool"),
            ({"budget_s": "2"}, "budget_s: expected a number, got str"),
            ({"framework": 3}, "framework: expected a text, got int"),
            ({"explain": "yes"}, "explain: expected True or False, got str"),
            ({"exclude": 3}, "exclude: expected a list of texts, got int"),
            ({"pins": {"actor_training": 3}}, "pins: expected a text, got int"),
        ):
            with self.subTest(**options), self.assertRaises(TypeError) as raised:
                sextant.plan(**QUESTION, **options)
            self.assertEqual(str(raised.exception), text)

    def test_unknown_options_are_refused(self):
        with self.assertRaises(TypeError):
            sextant.plan(**QUESTION, moon=1)
        with self.assertRaisesRegex(TypeError, "there is no option moon"):
            sextant._sextant.plan({**QUESTION, "moon": 1})

    def test_a_cluster_is_described_once(self):
        with self.assertRaisesRegex(ValueError, "cluster and gpus: both describe the cluster"):
            sextant.plan(**QUESTION, cluster=DATA / "cluster.json")

    def test_faults_of_documents_have_their_place(self):
        cluster = json.loads((DATA / "cluster.json").read_text(encoding="utf-8"))
        del cluster["nodes"][0]["zone"]
        with self.assertRaisesRegex(ValueError, "^the cluster document: /nodes/0: .*zone"):
            sextant.plan(cluster=cluster, model="Qwen3-14B")


class MissingData(unittest.TestCase):
    def test_is_said(self):
        code = "import sextant; sextant.plan(gpus='4x8xH100', model='Qwen3-14B')"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                             env={**os.environ, "SEXTANT_DATA": str(SOURCE / "docs")})
        self.assertEqual(ran.returncode, 1)
        self.assertIn("ValueError: ", ran.stderr)
        self.assertIn("docs/gpus.json", ran.stderr)


if __name__ == "__main__":
    unittest.main()
