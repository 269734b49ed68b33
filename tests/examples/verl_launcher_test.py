"""examples/python/verl_launcher.py, with a verl that only writes down its arguments."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LAUNCHER = pathlib.Path(os.environ["SEXTANT_SOURCE_DIR"]) / "examples/python/verl_launcher.py"
QUESTION = ["--gpus", "2x8xH100", "--model", "Qwen/Qwen3-8B", "--train-file", "my train.parquet", "--val-file",
            "val.parquet", "--evaluations", "100"]
RECORDER = "import json, sys\njson.dump(sys.argv[1:], open('arguments.json', 'w'))\nsys.exit(7)\n"


def launch(folder, *arguments):
    path = os.pathsep.join([folder, os.environ["PYTHONPATH"]])
    return subprocess.run([sys.executable, LAUNCHER, *arguments], capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "PYTHONPATH": path}, timeout=120, check=False)


class Launcher(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def read(self, name):
        return (pathlib.Path(self.folder) / name).read_text(encoding="utf-8")

    def test_starts_verl_with_the_plan(self):
        package = pathlib.Path(self.folder) / "verl/trainer"
        package.mkdir(parents=True)
        (package / "main_ppo.py").write_text(RECORDER, encoding="utf-8")
        ran = launch(self.folder, *QUESTION, "trainer.total_epochs=1")
        self.assertEqual(ran.returncode, 7, ran.stderr)  # verl's own
        passed = json.loads(self.read("arguments.json"))
        self.assertEqual(passed[-1], "trainer.total_epochs=1")
        self.assertEqual(passed[:-1], self.read("overrides.txt").splitlines())
        self.assertIn("data.train_files=my train.parquet", passed)
        self.assertIn("actor_rollout_ref.model.path=Qwen/Qwen3-8B", passed)
        self.assertIn("trainer.nnodes=2", passed)

    def test_dry_run_prints_reasons_and_command(self):
        ran = launch(self.folder, *QUESTION, "--dry-run")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("actor_generation ", ran.stdout)
        self.assertIn("why: an iteration takes ", ran.stdout)
        self.assertIn("why: largest parts: ", ran.stdout)
        self.assertIn("why: no plan with the same precisions takes less than ", ran.stdout)
        self.assertIn(" -m verl.trainer.main_ppo algorithm.adv_estimator=grpo ", ran.stdout)
        self.assertIn("'data.train_files=my train.parquet'", ran.stdout)

    def test_says_that_there_is_no_plan(self):
        ran = launch(self.folder, *QUESTION, "--dry-run", "--gpus", "1x1xH100", "--model", "Qwen3-32B")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no plan: no plan of ", ran.stderr)
        wrong = launch(self.folder, *QUESTION, "--dry-run", "--gpus", "1x1xQ100")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn('no facts about GPU "Q100"', wrong.stderr)


if __name__ == "__main__":
    unittest.main()
