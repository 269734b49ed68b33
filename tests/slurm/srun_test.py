"""sextant under srun, in the Slurm that slurm_lab starts: usage srun_test.py SEXTANT TESTS/DATA

Exit code 0 all well, 1 not, 77 this Slurm has no plug-in for PMIx.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sextant, data = sys.argv[1], sys.argv[2]
# Little is measured: what is tested is who joins, not how fast this machine is.
shortest = ["probe", "--devices", "cpu", "--budget", "0.001", "--no-pin", "--smoke-test"]
planning = ["plan", "--cluster", f"{data}/cluster.json", "--workflow", f"{data}/workflow_grpo.json"]
planning += ["--coefficients", "none", "--evaluations", "400", "--threads", "1", "--json"]
failed = []


def expect(condition, sentence, run=None):
    if not condition:
        failed.append(sentence + (f": exit {run.returncode}, {run.stdout[-2000:]}{run.stderr[-4000:]}" if run else ""))


def srun(options, arguments):
    command = ["srun", *options, sextant, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def own_lines(run):
    return [line for line in run.stderr.splitlines() if line.startswith("sextant")]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def measured(options, probe):
    """All nodes share this machine's cores: when they are busy, the time of a message may say nothing, and a level without
    any fit makes no cluster."""
    for _ in range(5):
        run = srun(options, probe)
        if "could be measured" not in run.stderr and "could not be measured" not in run.stderr:
            break
        for journal in pathlib.Path().glob("*.journal"):  # what it holds is what was wrong
            journal.unlink()
    return run


def four_ranks_on_three_nodes_are_one_cluster():
    run = measured(["--mpi=pmix", "-N3", "-n4"], [*shortest, "--out", "cluster.json"])
    expect(run.returncode == 0, "four ranks", run)
    if run.returncode == 0:
        cluster = load("cluster.json")
        nodes = [(node["name"], node["devices"]) for node in cluster["nodes"]]
        expect(nodes == [("node1", 2), ("node2", 1), ("node3", 1)], f"nodes {nodes}")
        levels = sorted(cluster["links"])
        expect({"within_node", "within_zone"} <= set(levels), f"levels {levels}")


def write_places():
    with open("places.txt", "w", encoding="utf-8") as file:
        file.write("node1 region=east zone=e1\nnode2 region=east zone=e1\nnode3 region=west zone=w1\n")


def places_make_levels_and_growing_groups():
    write_places()
    probe = [*shortest, "--places", "places.txt", "--out", "placed.json", "--samples", "samples.json"]
    run = measured(["--mpi=pmix", "-N3", "-n4"], probe)
    expect(run.returncode == 0, "ranks with places", run)
    if run.returncode == 0:
        cluster = load("placed.json")
        regions = [node["region"] for node in cluster["nodes"]]
        expect(regions == ["east", "east", "west"], f"regions {regions}")
        levels = sorted(cluster["links"])
        expect({"within_node", "within_zone", "between_regions"} <= set(levels), f"levels {levels}")
        groups = {(one["group"], one["ranks"]) for one in load("samples.json")["results"] if "group" in one}
        expect(groups == {("node node1", 2), ("zone e1", 3), ("all", 4)}, f"groups {groups}")
        expect("mpi/zone/all_reduce/65536" in run.stdout and "bus bandwidth" in run.stdout, "no table of collectives")
        expect(not os.path.exists("placed.json.journal"), "the journal of a whole probe stays")


def a_dry_run_shows_the_schedule_and_measures_nothing():
    write_places()
    run = srun(["--mpi=pmix", "-N3", "-n4"], [*shortest, "--places", "places.txt", "--dry-run", "--out", "dry.json"])
    expect(run.returncode == 0, "a dry run", run)
    expect("4 ranks on 3 hosts in 2 zones and 2 regions" in run.stdout, "what is there", run)
    # Three nodes in three rounds, and the two ranks of node1.
    expect("round 1: node" in run.stdout and "round 4: node1/0-node1/1" in run.stdout, "rounds", run)
    expect("collectives: zone e1 (3 ranks)" in run.stdout, "groups", run)
    expect(not os.path.exists("dry.json") and not os.path.exists("dry.json.journal"), "a dry run wrote something")


def without_a_plug_in_it_is_refused():
    for plug_in, proof in (("none", "SLURM_STEP_NUM_TASKS=3 (srun)"), ("pmi2", "PMI_SIZE=3")):
        run = srun([f"--mpi={plug_in}", "-N3", "-n3"], [*shortest, "--out", f"{plug_in}.json"])
        expect(run.returncode == 2, f"--mpi={plug_in}", run)
        lines = own_lines(run)
        # Each rank is a program of its own and knows of no other that could speak for it.
        expect(len(lines) == 3 and len(set(lines)) == 1, f"--mpi={plug_in} is refused in one line a rank", run)
        expect(all("every process is a job of one rank: " + proof in line for line in lines), f"--mpi={plug_in} says {proof}", run)
        expect(all("start them with srun --mpi=pmix" in line for line in lines), f"--mpi={plug_in}: the fix", run)
        expect("OPAL ERROR" not in run.stderr, f"--mpi={plug_in}: Open MPI's own page of text", run)
        expect(not os.path.exists(f"{plug_in}.json"), f"--mpi={plug_in} wrote a cluster")


def one_task_needs_no_plug_in():
    for plug_in in ("none", "pmi2"):
        run = srun([f"--mpi={plug_in}", "-n1"], planning)
        expect(run.returncode == 0, f"one task, --mpi={plug_in}", run)


def planning_on_two_ranks_gives_the_plan_of_one():
    alone = subprocess.run([sextant, *planning], capture_output=True, text=True, timeout=100)
    expect(alone.returncode == 0, "planning alone", alone)
    run = srun(["--mpi=pmix", "-N2", "-n2"], planning)
    expect(run.returncode == 0, "planning on two ranks", run)
    if alone.returncode == 0 and run.returncode == 0:
        plans = [json.loads(printed.stdout) for printed in (alone, run)]  # two documents would be no JSON
        expect(plans[0]["tasks"] == plans[1]["tasks"], "the plan of two ranks is another")
    bad = srun(["--mpi=pmix", "-N2", "-n2"], [*planning, "--bogus"])
    expect(bad.returncode == 2 and len(own_lines(bad)) == 1, "wrong usage is said once", bad)
    unjoined = srun(["--mpi=none", "-N2", "-n2"], planning)
    expect(unjoined.returncode == 2, "planning on ranks that did not join", unjoined)


# Ctrl-C at srun would end the ranks at once: this is how to ask for the best so far.
def a_signal_ends_a_search_with_the_best_so_far():
    search = [*planning[:7], "--threads", "1", "--budget", "60", "--out", "best.json"]
    command = ["srun", "--mpi=pmix", "-N2", "-n2", "--job-name=search", sextant, *search]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(2)
        jobs = subprocess.run(["squeue", "--noheader", "--name=search", "--format=%i"], capture_output=True, text=True)
        subprocess.run(["scancel", "--signal=INT", f"{jobs.stdout.strip()}.0"])
        began = time.monotonic()
        printed = process.communicate(timeout=100)
    expect(process.returncode == 0 and os.path.exists("best.json"), f"a search that was told to end: {printed}")
    expect(time.monotonic() - began < 30, "the search did not end when told to")


plug_ins = subprocess.run(["srun", "--mpi=list"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
if "pmix" not in plug_ins.split():
    print("skipped: this Slurm has no plug-in for PMIx")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in (
        four_ranks_on_three_nodes_are_one_cluster,
        places_make_levels_and_growing_groups,
        a_dry_run_shows_the_schedule_and_measures_nothing,
        without_a_plug_in_it_is_refused,
        one_task_needs_no_plug_in,
        planning_on_two_ranks_gives_the_plan_of_one,
        a_signal_ends_a_search_with_the_best_so_far,
    ):
        test()
    os.chdir("/")
for sentence in failed:
    print(sentence)
sys.exit(1 if failed else 0)
