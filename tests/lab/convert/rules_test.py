"""Rules of lab/convert that no record of today needs, and the format of numbers. Argument: the repository."""

import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop() + "/lab/convert")

import aiconfigurator  # noqa: E402
import blis  # noqa: E402
import lengths  # noqa: E402
import torchtitan  # noqa: E402
from documents import Facts, Runs, TaskPlan, expand, number_text, read_csv, refuse_unknown  # noqa: E402
from iterations import TASKS, Iteration, Task, _workflow  # noqa: E402
from serving import Generation, add_generation  # noqa: E402
from steps import Step, add_step  # noqa: E402

FACTS = Facts()


def step(**changes):
    out = Step("step")
    out.framework, out.gpu, out.model = "megatron-lm", FACTS.gpu("H100"), FACTS.model("Llama-3.1-8B")
    out.gpus, out.dp, out.tp, out.sequences, out.sequence_tokens, out.step_s = 8, 4, 2, 16, 8192, 2.5
    for name, value in changes.items():
        setattr(out, name, value)
    return out


def reason(add, measured):
    runs = Runs()
    add(runs, measured)
    return runs.left_out[0][1] if runs.left_out else ""


class Numbers(unittest.TestCase):
    def test_are_the_shortest_of_fixed_and_scientific(self):
        for number, text in ((0.0, "0"), (5.0, "5"), (1e5, "1e+05"), (100000, "100000"), (85094039552.0, "85094039552"),
                             (2.039e12, "2.039e+12"), (0.001, "0.001"), (0.0001, "1e-04"), (1e-5, "1e-05"),
                             (0.5, "0.5"), (-1.5, "-1.5"),
                             (123456.75, "123456.75"), (1e22, "1e+22"), (0.1 + 0.2, "0.30000000000000004")):
            self.assertEqual(number_text(number), text)
            self.assertEqual(float(text), number)


class Layouts(unittest.TestCase):
    def test_put_the_pipeline_of_trainers_outermost(self):
        self.assertEqual(expand(2, 2, 2, 0, True, 3), [[(2, [0, 1]), (1, [4, 5])], [(2, [2, 3]), (1, [6, 7])]])
        self.assertEqual(expand(2, 2, 2, 0, False, 3), [[(2, [0, 1]), (1, [2, 3])], [(2, [4, 5]), (1, [6, 7])]])

    def test_are_compact_where_they_can_be(self):
        self.assertEqual(TaskPlan(expand(2, 2, 2, 4, True, 3)).to_json()["outermost"], "stages")
        self.assertNotIn("outermost", TaskPlan(expand(2, 1, 2, 4, True, 3)).to_json())
        self.assertIn("replicas", TaskPlan([[(1, [0])], [(1, [5])]]).to_json())

    def test_refuse_unknown_options(self):
        with self.assertRaises(ValueError):
            TaskPlan(expand(1, 1, 1, 0, True, 1), {"zero_stages": 1}).to_json()
        with self.assertRaises(ValueError):
            refuse_unknown({"promts": 3}, ("prompts",), "record")


class Steps(unittest.TestCase):
    def test_that_contradict_themselves_are_left_out(self):
        self.assertEqual(reason(add_step, step()), "")
        self.assertIn("8 x 1 x 2 x 1 are not the 8 GPUs", reason(add_step, step(dp=8)))
        self.assertIn("40 pipeline stages", reason(add_step, step(gpus=40, dp=1, tp=1, pp=40)))
        self.assertIn("18 sequences cannot be cut", reason(add_step, step(sequences=18)))
        self.assertIn("no rate of fp4", reason(add_step, step(execution={"precision": "fp4"})))

    def test_that_are_printed_again_are_left_out(self):
        runs = Runs()
        add_step(runs, step())
        add_step(runs, step(name="again"))
        add_step(runs, step(name="other", step_s=2.6))
        self.assertEqual([name for name, _ in runs.left_out], ["again"])
        self.assertIn("those of step to the last digit", runs.left_out[0][1])


class Servers(unittest.TestCase):
    @staticmethod
    def generation(gpu, model, tp=1, number_format="fp16"):
        out = Generation("batch")
        out.framework, out.gpu, out.model, out.tp = "vllm", FACTS.gpu(gpu), FACTS.model(model), tp
        out.sequences, out.prompt_tokens, out.response_tokens, out.batch_s = 8, 1000.0, 100.0, 50.0
        out.set_number_format(number_format)
        out.set_serving()
        return out

    def test_without_memory_for_a_cache_are_left_out(self):
        self.assertEqual(reason(add_generation, self.generation("H100", "Llama-2-70B", 4)), "")
        self.assertIn("no room", reason(add_generation, self.generation("H100", "Llama-2-70B")))

    def test_faster_than_their_memory_are_left_out(self):
        measured = self.generation("H100", "Llama-2-70B", 4)
        measured.batch_s = 0.1
        self.assertIn("faster than the memory", reason(add_generation, measured))

    def test_calculate_in_a_format_that_the_gpu_has(self):
        self.assertEqual(self.generation("H100", "Llama-3.1-8B", 1, "FP8").execution["precision"], "fp8")
        unpacked = self.generation("A100", "Llama-3.1-8B", 1, "FP8")
        self.assertNotIn("precision", unpacked.execution)
        self.assertEqual(unpacked.execution["weight_precision"], "fp8")
        mixture = self.generation("A100", "Qwen3-30B-A3B", 1, "int4")
        self.assertEqual(mixture.execution["expert_weight_precision"], "fp4")

    def test_omit_idle_replicas(self):
        measured = self.generation("H100", "Llama-3.1-8B")
        measured.dp, measured.sequences = 4, 2
        runs = Runs()
        add_generation(runs, measured)
        self.assertEqual(list(runs.clusters), ["2 x H100-SXM-80GB, 2 a node"])


class Tables(unittest.TestCase):
    def test_blis_rows_that_are_no_steady_load(self):
        row = read_csv("blis/runs.csv")[0]
        self.assertEqual(blis.reason_against(row, FACTS), "")
        for changes, words in (({"stage": "all"}, "summary"), ({"overloaded": "1"}, "overloaded"),
                               ({"notes": "measured again"}, "measured again"), ({"gpu_type": "Z80"}, "Z80"),
                               ({"gpu_count": "3"}, "tp x dp")):
            self.assertIn(words, blis.reason_against({**row, **changes}, FACTS))

    def test_aiconfigurator_rows_that_are_no_closed_loop_of_one_worker(self):
        row = next(row for row in read_csv("aiconfigurator/silicon_runs.csv")
                   if not aiconfigurator.reason_against(row, FACTS, set()))
        for changes, words in (({"serving_mode": "disaggregated"}, "disaggregated"), ({"pp": "2"}, "pipeline"),
                               ({"launched_tp": "16"}, "whole deployment"), ({"ttft_s": "1e9"}, "overloaded"),
                               ({"precision": ""}, "precision")):
            self.assertIn(words, aiconfigurator.reason_against({**row, **changes}, FACTS, set()))

    def test_torchtitan_without_replicas_shards_nothing(self):
        self.assertEqual(torchtitan.zero_stage(step(dp=1, tp=8)), 0)


def algorithm(*left_out):
    models = {role: FACTS.model("Llama-3.1-8B") for role in ("actor", "reference", "critic", "reward")}
    iteration = Iteration("iteration", "verl", FACTS.gpu("H100"), 8, 8, models)
    iteration.prompt_tokens = iteration.response_tokens = {"kind": "fixed", "tokens": 1000.0}
    iteration.tasks = {name: Task(name, 8, 1, 1, 1, 0) for name in TASKS if name not in left_out}
    return _workflow(iteration)["algorithm"]


class Algorithms(unittest.TestCase):
    def test_of_standard_tasks_have_their_name(self):
        self.assertEqual(algorithm("old_log_prob"), "ppo")
        self.assertEqual(algorithm("old_log_prob", "reward_inference"), "ppo")  # a rule scores
        self.assertEqual(algorithm("old_log_prob", "critic_inference", "critic_training"), "grpo")
        self.assertEqual(algorithm("old_log_prob", "critic_training"), "custom")


class Lengths(unittest.TestCase):
    def test_have_the_stated_mean(self):
        for mean in (10, 500, 900, 980):
            found = lengths.with_mean(mean, lengths.USUAL_SIGMA, 1000)
            self.assertAlmostEqual(lengths._mean(found["median"], found["sigma"], 1000), mean, delta=1e-6 * mean)
        self.assertEqual(lengths.with_mean(1000, lengths.USUAL_SIGMA, 1000), {"kind": "fixed", "tokens": 1000.0})

    def test_have_the_stated_longest(self):
        found = lengths.with_longest(200, 900, 1024, 4096)
        self.assertAlmostEqual(lengths.longest_of(found, 1024), 900, delta=1)
        self.assertEqual(lengths.with_longest(200, 5000, 1024, 4096), lengths.with_mean(200, lengths.USUAL_SIGMA, 4096))


if __name__ == "__main__":
    unittest.main()
