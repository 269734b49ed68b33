"""examples/slurm as it stands there, in the Slurm that slurm_lab starts: usage sbatch_test.py SEXTANT EXAMPLES/slurm

The batch script, and the line for mpirun in its README. Exit code 0 all well, 1 not, 77 this Slurm has no plug-in
for PMIx.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sextant, example = sys.argv[1], sys.argv[2]
os.environ["PATH"] = os.path.dirname(sextant) + ":" + os.environ["PATH"]
# This machine's cores stand in for the GPUs that the nodes say they have; little is measured.
shortest = ["--devices", "cpu", "--budget", "0.001", "--no-pin", "--smoke-test"]
small = ["--nodes=3", "--ntasks-per-node=1", "--gpus-per-node=2"]
failed = []


def expect(condition, sentence):
    if not condition:
        failed.append(sentence)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def state_of(job):
    shown = subprocess.run(["scontrol", "show", "job", job], capture_output=True, text=True).stdout
    return re.search(r"JobState=(\w+)", shown).group(1)


# sbatch --wait looks only every few seconds.
def run_to_its_end(job):
    deadline = time.monotonic() + 80
    while state_of(job) in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING") and time.monotonic() < deadline:
        time.sleep(0.1)
    return state_of(job)


def expect_three_nodes(path, how):
    expect(os.path.exists(path), f"{how} wrote no {path}")
    if os.path.exists(path):
        nodes = [(node["name"], node["devices"]) for node in load(path)["nodes"]]
        expect(nodes == [("node1", 1), ("node2", 1), ("node3", 1)], f"{how}: nodes {nodes}")


# All nodes share this machine's cores: when they are busy, the time of a message may say nothing, and a
# level without any fit makes no cluster.
def until_measured(attempt):
    for _ in range(3):
        outcome, text = attempt()
        if "could be measured" not in text:
            break
    return outcome, text


def submit():
    command = ["sbatch", "--parsable", *small, f"{example}/probe.sbatch", *shortest]
    submitted = subprocess.run(command, capture_output=True, text=True)
    if submitted.returncode != 0:
        return "REFUSED", submitted.stderr
    job = submitted.stdout.strip()
    state = run_to_its_end(job)
    return state, "".join(open(path, encoding="utf-8").read() for path in glob.glob(f"sextant-probe-{job}.log"))


def the_batch_script_runs_as_it_stands():
    state, logs = until_measured(submit)
    expect(state == "COMPLETED", f"the job is {state}: {logs[-4000:]}")
    expect("wrote cluster.json" in logs, f"no table in the log: {logs[-4000:]}")
    expect_three_nodes("cluster.json", "sbatch")
    ranks = {result["rank"] for result in load("samples.json")["results"]} if os.path.exists("samples.json") else set()
    expect(ranks == {0, 1, 2}, f"samples of ranks {ranks}")


def a_job_that_fails_is_a_failed_job():
    command = ["sbatch", "--parsable", *small, "--output=failed.log", f"{example}/probe.sbatch", "--no-such-option"]
    job = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    shown = run_to_its_end(job), open("failed.log", encoding="utf-8").read()
    expect(shown[0] == "FAILED" and "--no-such-option" in shown[1], f"wrong usage: {shown}")


def the_line_for_mpirun_works_in_an_allocation():
    with open(f"{example}/README.md", encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("salloc ")]
    expect(len(lines) == 1, f"{len(lines)} lines for mpirun in the README")
    line = lines[0].split("  #")[0].replace("--nodes=2 --ntasks-per-node=8 --gpus-per-node=8", " ".join(small))
    line = line.replace("cluster.json", "mpirun.json").replace("samples.json", "mpirun_samples.json")

    def attempt():
        run = subprocess.run([*line.split(), *shortest], capture_output=True, text=True, timeout=80)
        return run.returncode, run.stdout[-2000:] + run.stderr[-4000:]

    code, text = until_measured(attempt)
    expect(code == 0, f"{line}: exit {code}, {text}")
    expect_three_nodes("mpirun.json", "mpirun")


plug_ins = subprocess.run(["srun", "--mpi=list"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
if "pmix" not in plug_ins.split():
    print("skipped: this Slurm has no plug-in for PMIx")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    the_batch_script_runs_as_it_stands()
    a_job_that_fails_is_a_failed_job()
    the_line_for_mpirun_works_in_an_allocation()
    os.chdir("/")
for sentence in failed:
    print(sentence)
sys.exit(1 if failed else 0)
