"""Searches run beside other threads, and Ctrl-C ends them."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import sextant

LONG = "gpus='16x8xH100', model='Qwen3-32B', framework='verl', budget_s=100"
CODE = f"""
import sys, time, sextant
print("ready", flush=True)
try:
    sextant.plan({LONG})
except KeyboardInterrupt:
    print("interrupted", flush=True)
sextant.plan(gpus='1x8xH100', model='Qwen3-8B', framework='verl', evaluations=20)
print("planned again", flush=True)
"""


class Interrupt(unittest.TestCase):
    def test_ctrl_c_ends_the_search(self):
        with subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(3)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            self.assertEqual(process.stdout.readline(), "interrupted\n")
            took_s = time.monotonic() - begin
            self.assertEqual(process.stdout.readline(), "planned again\n")
        self.assertEqual(process.returncode, 0)
        # A search looks at the flag many times a second; the rest is for a busy machine.
        self.assertLess(took_s, 1 if os.cpu_count() > 2 else 2)


class Threads(unittest.TestCase):
    def test_run_during_a_search(self):
        counted = 0
        is_over = threading.Event()

        def count():
            nonlocal counted
            while not is_over.is_set():
                counted += 1
                time.sleep(0.01)

        thread = threading.Thread(target=count)
        thread.start()
        begin = time.monotonic()
        sextant.plan(gpus="4x8xH100", model="Qwen3-14B", framework="verl", budget_s=2, threads=1)
        took_s = time.monotonic() - begin
        is_over.set()
        thread.join()
        # With the lock held it would count once or twice.
        self.assertGreater(counted, 10 * took_s)

    def test_predict_at_the_same_time(self):
        def predicted():
            return sextant.predict(gpus="4x8xH100", model="Qwen3-14B", train="fsdp=32", rollout="tp=2").iteration_s

        alone = predicted()
        results = []
        threads = [threading.Thread(target=lambda: results.append(predicted())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [alone] * 8)


if __name__ == "__main__":
    unittest.main()
