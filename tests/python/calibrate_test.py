"""sextant.calibrate: the coefficients of `sextant calibrate`, as objects."""

import unittest

import sextant
from command_line import DATA, content, documents, load

RUNS = DATA / "runs.json"


class Calibrate(unittest.TestCase):
    def test_fits_as_the_command_line(self):
        here = sextant.calibrate(RUNS)
        there = documents("calibrate", RUNS, out="--out")["out"]
        self.assertEqual(content(here.document), content(there))

    def test_has_the_runs_and_the_coefficients_that_they_determine(self):
        here = sextant.calibrate(load("runs.json"))
        self.assertTrue(here.converged, here.message)
        self.assertEqual(here.runs, ("grpo-split-1", "ppo-mixed-1"))
        # Those that the document calls identified, and no others.
        identified = [one for one in here.document["values"] if one.get("identified")]
        self.assertEqual(len(here.identified), len(identified))
        # Two runs of two workflows are too few to hold one out.
        self.assertIsNone(here.held_out_iteration_error_fraction)
        for one in here.values:
            self.assertGreaterEqual(one.standard_error, 0)

    def test_cross_validates_what_is_asked_for(self):
        here = sextant.calibrate(RUNS, cross_validate="run", folds=2)
        there = documents("calibrate", RUNS, "--cross-validate", "run", "--folds", 2, out="--out")["out"]
        held_out = there["fit"]["held_out"]
        self.assertEqual(here.held_out_task_error_fraction, held_out["task_mape"])
        self.assertEqual(here.held_out_iteration_error_fraction, held_out["iteration_mape"])

    def test_makes_predictions_of_its_runs_closer(self):
        fitted = sextant.calibrate(RUNS)

        def error(**options):
            time = sextant.check(RUNS, run="ppo-mixed-1", **options)[0].times[-1]
            return abs(time.predicted_s / time.measured_s - 1)

        self.assertLess(error(coefficients=fitted), 0.5 * error())

    def test_starts_from_coefficients(self):
        first = sextant.calibrate(RUNS)
        again = sextant.calibrate(RUNS, start=first)
        self.assertEqual(again.runs, first.runs)
        self.assertNotEqual([one.prior for one in again.values], [one.prior for one in first.values])

    def test_refuses_no_runs_and_unknown_groups(self):
        with self.assertRaisesRegex(ValueError, "the runs document: /runs: no runs to fit"):
            sextant.calibrate({**load("runs.json"), "runs": []})
        with self.assertRaisesRegex(ValueError, "cross_validate: expected one of auto, none, model"):
            sextant.calibrate(RUNS, cross_validate="moon")


if __name__ == "__main__":
    unittest.main()
