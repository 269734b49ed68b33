"""Many predictions in a row: the process does not grow."""

import gc
import os
import unittest

import sextant

WORDS = {"gpus": "4x8xH100", "model": "Qwen3-14B", "framework": "verl", "train": "fsdp=32", "rollout": "tp=2"}


def resident_bytes():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS:"))


class Memory(unittest.TestCase):
    # The texts of a prediction and its plan are 19 kB: 60 that stay would be 1.1 MB. Without a leak it is 0.1 MB.
    CALLS = 200 if "SEXTANT_THOROUGH" in os.environ else 60
    ALLOWED_BYTES = 7.5e3 * CALLS

    def grown(self, call):
        for _ in range(20):
            call()
        gc.collect()
        before = resident_bytes()
        for _ in range(self.CALLS):
            call()
        gc.collect()
        return resident_bytes() - before

    def test_does_not_grow_with_predictions(self):
        self.assertLess(self.grown(lambda: sextant.predict(**WORDS)), self.ALLOWED_BYTES)

    def test_does_not_grow_with_errors(self):
        def refused():
            with self.assertRaises(ValueError):
                sextant.predict(**{**WORDS, "train": "fsdp=5"})

        self.assertLess(self.grown(refused), self.ALLOWED_BYTES)


if __name__ == "__main__":
    unittest.main()
