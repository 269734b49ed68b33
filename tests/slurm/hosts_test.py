"""sextant probe --hosts with srun in place of ssh, in the Slurm that slurm_lab starts: usage hosts_test.py SEXTANT

Exit code 0 all well, 1 not.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sextant = sys.argv[1]
LAUNCHER = "srun --overlap -N1 -n1 -w {target}"  # as docs/guide/measure.md has it
NODES = ["node1", "node2", "node3"]
# Little is measured: what is tested is who is started and ended, not how fast this machine is.
SHORTEST = ["--devices", "cpu", "--budget", "0.001", "--no-pin", "--smoke-test", "--pair-budget", "0.2", "--loss-seconds", "0.2", "--streams", "2"]
failed = []


def expect(condition, sentence):
    if not condition:
        failed.append(sentence)


def probe(*more):
    words = ["probe", "--hosts", "hosts.txt", "--launcher", LAUNCHER, "--out", "cluster.json", "--samples", "fleet.json"]
    return ["salloc", "--quiet", "-N3", "-n3", sextant, *words, *SHORTEST, *more]


def programs():
    """All of this binary but coordinators."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if os.path.samefile(entry / "exe", sextant) and "--hosts" not in line:
                found.append(line)
        except OSError:
            pass
    return found


def expect_gone(what):
    end = time.monotonic() + 20
    while programs() and time.monotonic() < end:
        time.sleep(0.05)
    expect(not programs(), f"{what}: stayed behind: {programs()}")


def nodes_of_an_allocation_are_one_cluster():
    done = subprocess.run(probe(), capture_output=True, text=True, timeout=150)
    expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-3000:]}")
    if done.returncode == 0:
        cluster = json.loads(pathlib.Path("cluster.json").read_text())
        expect([node["name"] for node in cluster["nodes"]] == NODES, f"nodes: {cluster['nodes']}")
        expect("within_zone" in cluster["links"], f"links: {list(cluster['links'])}")
        fleet = json.loads(pathlib.Path("fleet.json").read_text())
        expect(len(fleet["pairs"]) == 3 and not fleet["failed_pairs"], f"pairs: {fleet['failed_pairs']}")
        expect(all(pair.get("datagrams") for pair in fleet["pairs"]), "no datagrams between nodes")
    expect_gone("a whole probe")


def a_killed_coordinator_leaves_nothing():
    run = subprocess.Popen(probe("--resume") if os.path.exists("cluster.json.journal") else probe(), stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while len(programs()) < len(NODES) and time.monotonic() < end:
        time.sleep(0.05)
    expect(len(programs()) >= len(NODES), f"agents: {programs()}")
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if line[0] == sextant.encode() and b"--hosts" in line:
            os.kill(int(entry.name), signal.SIGKILL)
    run.wait(timeout=60)
    expect_gone("a killed coordinator")


def ranks_are_refused():
    for name in ("cluster.json.journal", "fleet.json"):
        pathlib.Path(name).unlink(missing_ok=True)
    words = ["srun", "--mpi=none", "-N3", "-n3", *probe()[4:]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    lines = [line for line in done.stderr.splitlines() if line.startswith("sextant")]
    expect(done.returncode == 2, f"three coordinators: exit code {done.returncode}")
    expect(len(lines) == 3 and all("SLURM_STEP_NUM_TASKS=3" in line for line in lines), f"three coordinators: {lines}")
    expect(not os.path.exists("cluster.json.journal"), "three coordinators left a journal")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("hosts.txt").write_text("".join(f"{node}\n" for node in NODES))
    for test in (nodes_of_an_allocation_are_one_cluster, ranks_are_refused, a_killed_coordinator_leaves_nothing):
        test()
    os.chdir("/")
for sentence in failed:
    print(sentence)
sys.exit(1 if failed else 0)
