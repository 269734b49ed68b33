"""sextant.export and sextant.to_verl: the scripts of `sextant export`, and their words."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import sextant
from command_line import run

QUESTION = {"gpus": "2x8xH100", "model": "Qwen3-8B", "prompts": 256, "evaluations": 200, "threads": 1}


class Verl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plan = sextant.plan(**QUESTION, framework="verl")
        cls.script = sextant.to_verl(cls.plan)

    def test_is_the_script_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {name: pathlib.Path(folder) / f"{name}.json" for name in ("plan", "cluster", "workflow")}
            self.plan.save(files["plan"])
            for name in ("cluster", "workflow"):
                files[name].write_text(json.dumps(getattr(self.plan, name)), encoding="utf-8")
            there = run("export", files["plan"], "--to", "verl", "--cluster", files["cluster"], "--workflow",
                        files["workflow"])
        self.assertEqual(self.script.text, there.stdout)
        self.assertEqual(self.script.framework, "verl-fsdp")
        self.assertEqual(self.script.differences, ())

    def test_overrides_say_the_plan_and_the_workflow(self):
        settings = dict(word.split("=", 1) for word in self.script.settings)
        self.assertEqual(settings["data.train_batch_size"], "256")
        self.assertEqual(settings["trainer.nnodes"], "2")
        self.assertEqual(settings["trainer.n_gpus_per_node"], "8")
        self.assertEqual(int(settings["actor_rollout_ref.rollout.tensor_model_parallel_size"]),
                         self.plan.layouts["actor_generation"].tensor_parallel)
        self.assertEqual(int(settings["actor_rollout_ref.actor.ppo_max_token_len_per_gpu"]),
                         self.plan.layouts["actor_training"].micro_batch_tokens)
        self.assertEqual(settings["trainer.logger"], '["console","file"]')

    def test_arguments_are_what_bash_passes_on(self):
        values = {"MODEL_PATH": "a model", "TRAIN_FILE": "train.parquet", "VAL_FILE": "val.parquet"}
        self.assertEqual(set(self.script.variables), set(values))
        text = self.script.text.replace("python3 -m verl.trainer.main_ppo", "printf '%s\\0'")
        passed = subprocess.run(["bash", "-c", text], env=values, capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.script.arguments(**values), passed.split("\0")[:-1])

    def test_arguments_need_all_variables_and_no_others(self):
        with self.assertRaisesRegex(ValueError, "missing: TRAIN_FILE, VAL_FILE"):
            self.script.arguments(MODEL_PATH="model")
        with self.assertRaisesRegex(ValueError, "the script has no OTHER"):
            self.script.arguments(MODEL_PATH="m", TRAIN_FILE="t", VAL_FILE="v", OTHER="o")


class OtherFrameworks(unittest.TestCase):
    def test_each_has_a_script(self):
        for framework in ("nemo-rl", "openrlhf", "areal", "slime"):
            with self.subTest(framework=framework):
                plan = sextant.plan(**QUESTION, framework=framework)
                script = sextant.export(plan, framework)
                self.assertTrue(script.text.startswith("#!/usr/bin/env bash\n"))
                self.assertEqual(len(script.settings) > 2, framework != "nemo-rl")  # which has a YAML file

    def test_what_cannot_run_is_refused(self):
        plan = sextant.plan(**QUESTION, framework="verl-megatron")
        task = plan.document["tasks"]["actor_training"]
        for stated in ("replicas", "layers", "devices"):
            task.pop(stated, None)
        task.update(layers=36, data_parallel=4, pipeline_parallel=4, tensor_parallel=1, devices={"first": 0, "count": 16})
        task["execution"]["zero_stage"] = 1
        with self.assertRaises(sextant.CannotExport) as raised:
            sextant.export(plan, "openrlhf")
        self.assertIn("pipeline", str(raised.exception))

    def test_unknown_names_are_refused(self):
        plan = sextant.plan(**QUESTION, framework="verl")
        with self.assertRaisesRegex(ValueError, "to: expected one of verl, verl-fsdp, .*, got moon"):
            sextant.export(plan, "moon")


if __name__ == "__main__":
    unittest.main()
