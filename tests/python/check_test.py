"""sextant.check: the verdicts of `sextant check`, as objects."""

import copy
import pathlib
import tempfile
import unittest

import sextant
from command_line import DATA, load, run


class Check(unittest.TestCase):
    def test_judges_as_the_command_line(self):
        checked = sextant.check(DATA / "runs.json")
        there = run("check", DATA / "runs.json")
        self.assertEqual(there.returncode, 1)
        self.assertEqual([one.run for one in checked], ["grpo-split-1", "ppo-mixed-1"])
        for one in checked:
            outside = sum(time.is_outside for time in one.times)
            self.assertFalse(one.is_normal)
            self.assertIn(f"{one.run}: {outside} of {len(one.times)} times are not as expected", there.stdout)
            for gain in one.gains:
                self.assertIn(gain.name, there.stdout)

    def test_has_the_measured_times(self):
        times = {time.what: time for time in sextant.check(DATA / "runs.json", run="grpo-split-1")[0].times}
        runs = {one["name"]: one for one in load("runs.json")["runs"]}
        samples = sorted(runs["grpo-split-1"]["iteration"]["samples_s"])
        iteration = times["iteration"]
        self.assertGreaterEqual(iteration.measured_s, samples[0])
        self.assertLessEqual(iteration.measured_s, samples[-1])
        self.assertEqual(iteration.is_outside,
                         not iteration.interval_s.low <= iteration.measured_s <= iteration.interval_s.high)
        self.assertGreater(times["weight_sync"].interval_s.high, times["weight_sync"].predicted_s)

    def test_a_run_as_fast_as_predicted_is_normal(self):
        runs = copy.deepcopy(load("runs.json"))
        predicted = {time.what: time.predicted_s for time in sextant.check(runs, run="ppo-mixed-1")[0].times}
        run_document = next(one for one in runs["runs"] if one["name"] == "ppo-mixed-1")
        for task, measurement in run_document["tasks"].items():
            measurement["samples_s"] = [predicted[task]]
        run_document["iteration"]["samples_s"] = [predicted["iteration"]]
        checked = sextant.check(runs, run="ppo-mixed-1")
        self.assertTrue(checked[0].is_normal, checked[0].times)
        self.assertEqual(checked[0].causes, ())

    def test_reads_a_log_with_its_configuration(self):
        step = ("{{'rollout/response_len/mean': 1000.0, 'perf/rollout_time': 71.0, 'perf/log_probs_time': 4.0, "
                "'perf/actor_train_time': 21.0, 'perf/step_time': 100.0, 'perf/update_weights_time': 2.0}}")
        flags = ("--actor-num-nodes 1 --colocate --rollout-batch-size 32 --n-samples-per-prompt 8 --global-batch-size 256 "
                 "--rollout-max-response-len 8192 --hf-checkpoint Qwen/Qwen3-8B --use-dynamic-batch-size "
                 "--max-tokens-per-gpu 9216 --tensor-model-parallel-size 2 --rollout-num-gpus-per-engine 2")
        with tempfile.TemporaryDirectory() as folder:
            log, script = pathlib.Path(folder) / "run.log", pathlib.Path(folder) / "run.sh"
            log.write_text("".join(f"perf {number}: {step.format()}\n" for number in range(3)), encoding="utf-8")
            script.write_text(f"python3 train.py {flags}\n", encoding="utf-8")
            checked = sextant.check([str(log)], config=str(script), gpus="H100")
            named = sextant.check([log], logs_of="slime", config=[script], gpus="1x8xH100")
            self.assertEqual(checked[0].times, named[0].times)
            self.assertNotIn("read as a log", " ".join(named[0].notes))
            there = run("check", log, "--config", script, "--gpus", "H100")
            self.assertIn(f"{checked[0].run}: ", there.stdout)
            self.assertIn("read as a log of slime", " ".join(checked[0].notes))
        times = {time.what: time.measured_s for time in checked[0].times}
        self.assertEqual(times["iteration"], 100)
        self.assertEqual(times["actor_generation"], 71)

    def test_refuses_what_the_command_line_refuses(self):
        with self.assertRaisesRegex(ValueError, 'there is no run "other"'):
            sextant.check(DATA / "runs.json", run="other")
        with self.assertRaisesRegex(ValueError, "one runs document at a time"):
            sextant.check([str(DATA / "runs.json")] * 2)


if __name__ == "__main__":
    unittest.main()
