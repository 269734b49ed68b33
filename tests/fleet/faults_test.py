"""Hosts that die, hang or never answer, a coordinator that dies, Ctrl-C, a full disk: what was measured stays, and nothing
stays behind.

usage: faults_test.py SEXTANT [SEEDS]
"""

import concurrent.futures
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import lab

sextant = sys.argv[1]
seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
HOSTS = 6
AT_ONCE = 10  # probes side by side: they mostly wait
network = lab.Lab()
tests = lab.Tests()


def hosts_file(folder, names):
    """All on this machine: what is tested is who talks to whom, not how fast. The target marks the probe."""
    file = folder / "hosts.txt"
    file.write_text("".join(f"{name} target={folder.name}-{name} address=127.0.0.1\n" for name in names))
    return file


def probe(folder, *more):
    words = ["probe", "--hosts", folder / "hosts.txt", "--launcher", "env LAB={target}", "--samples", folder / "fleet.json"]
    return list(map(str, [sextant, *words, *lab.QUICK, *more]))


def start(folder, *more):
    return subprocess.Popen(probe(folder, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def agents_of(folder):
    """pid by host."""
    found = {}
    for pid, _ in lab.processes(" agent"):
        try:
            settings = (pathlib.Path("/proc") / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for setting in settings:
            if setting.startswith(f"LAB={folder.name}-".encode()):
                found[setting.decode().rsplit("-", 1)[1]] = pid
    return found


def new_folder(name):
    folder = network.folder / name
    folder.mkdir()
    return folder


def journal_pairs(folder):
    """As they stand on the disk: a last line may be half."""
    file = folder / "fleet.json.journal"
    if not file.exists():
        return None
    lines = file.read_text().split("\n")[:-1]
    return {tuple(sorted((line["pair"]["from"], line["pair"]["to"]))) for line in map(json.loads, lines) if "pair" in line}


def pairs_in(document):
    return {tuple(sorted((pair["from"], pair["to"]))) for pair in document["pairs"]}


def one_seed(seed):
    """Kills 1, 3 or half of the hosts at random moments."""
    rng = random.Random(seed)
    folder = new_folder(f"seed{seed}")
    names = [f"h{i}" for i in range(HOSTS)]
    hosts_file(folder, names)
    victims = rng.sample(names, [1, 3, HOSTS // 2][seed % 3])
    run = start(folder)
    moments = sorted(rng.uniform(0.05, 4.5) for _ in victims)
    begin = time.monotonic()
    killed = []
    for moment, victim in zip(moments, victims):
        time.sleep(max(0, begin + moment - time.monotonic()))
        pid = agents_of(folder).get(victim)
        if pid:
            os.kill(pid, signal.SIGKILL)
            killed.append(victim)
    known = journal_pairs(folder) or set()
    out, err = run.communicate(timeout=120)
    what = f"seed {seed}, killed {killed}"
    document = lab.load(folder / "fleet.json")
    expected = {tuple(sorted((a, b))) for a in names for b in names if a < b and a not in killed and b not in killed}
    tests.expect(run.returncode in (0, 3), f"{what}: exit code {run.returncode}: {err}")
    tests.expect(expected <= pairs_in(document), f"{what}: pairs of others are missing: {expected - pairs_in(document)}")
    tests.expect(known <= pairs_in(document), f"{what}: {known - pairs_in(document)} was on disk and is lost")
    lost = {host["name"] for host in document["hosts"] if "why_lost" in host}
    tests.expect(lost <= set(killed), f"{what}: {lost} were given up")
    if run.returncode == 3:
        again = subprocess.run(probe(folder, "--resume"), capture_output=True, text=True, timeout=120)
        tests.expect(again.returncode == 0, f"{what}: resume: exit code {again.returncode}: {again.stderr}")
        whole = pairs_in(lab.load(folder / "fleet.json"))
        tests.expect(len(whole) == HOSTS * (HOSTS - 1) // 2, f"{what}: {len(whole)} pairs after resume")
        tests.expect(not (folder / "fleet.json.journal").exists(), f"{what}: the journal is still there")
    tests.expect(lab.gone(lambda: agents_of(folder), 5), f"{what}: agents stayed behind")
    return len(killed)


def killed_hosts_over_seeds():
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        killed = sum(pool.map(one_seed, range(seeds)))
    print(f"{seeds} seeds, {killed} hosts killed")
    tests.expect(killed >= seeds, "hardly any host was killed: the moments are too late")


def killed_coordinator():
    folder = new_folder("coordinator")
    hosts_file(folder, [f"h{i}" for i in range(HOSTS)])
    run = start(folder)
    while not journal_pairs(folder):
        time.sleep(0.05)
    tests.expect(len(agents_of(folder)) == HOSTS, "not all agents run")
    run.kill()
    run.wait()
    tests.expect(lab.gone(lambda: agents_of(folder), 5), "agents outlive a killed coordinator")
    known = journal_pairs(folder)
    with open(folder / "fleet.json.journal", "a", encoding="utf-8") as file:
        file.write('{"pair": {"from": "h')  # as a write that was cut off
    again = subprocess.run(probe(folder, "--resume"), capture_output=True, text=True, timeout=120)
    tests.expect(again.returncode == 0, f"resume after a kill: {again.stderr}")
    tests.expect(known <= pairs_in(lab.load(folder / "fleet.json")), "a measurement was lost")


def stopped_host():
    """One that hangs is given up, and the others are measured."""
    folder = new_folder("stopped")
    hosts_file(folder, ["a", "b", "c"])
    run = start(folder)
    while not journal_pairs(folder):
        time.sleep(0.02)
    os.kill(agents_of(folder)["b"], signal.SIGSTOP)
    out, err = run.communicate(timeout=120)
    tests.expect(run.returncode == 3, f"hanging host: exit code {run.returncode}")
    document = lab.load(folder / "fleet.json")
    tests.expect(("a", "c") in pairs_in(document), "the others were not measured")
    tests.expect(len(document["failed_pairs"]) in (1, 2), f"pairs that failed: {document['failed_pairs']}")
    why = {host["name"]: host.get("why_lost", "") for host in document["hosts"]}
    tests.expect(why["b"] != "" and why["a"] == why["c"] == "", f"reasons: {why}")
    tests.expect(lab.gone(lambda: agents_of(folder), 5), "a stopped agent stayed behind")


def ctrl_c():
    folder = new_folder("interrupted")
    hosts_file(folder, [f"h{i}" for i in range(HOSTS)])
    run = start(folder)
    while not journal_pairs(folder):
        time.sleep(0.05)
    lab.interrupt(run)
    out, err = run.communicate(timeout=30)
    document = lab.load(folder / "fleet.json")
    tests.expect(run.returncode == 3 and "--resume" in err, f"Ctrl-C: exit code {run.returncode}: {err}")
    tests.expect(document["is_interrupted"] and document["pairs"], "Ctrl-C leaves what was measured")
    tests.expect(lab.gone(lambda: agents_of(folder), 5), "agents stayed behind after Ctrl-C")


def full_disk():
    folder = new_folder("full")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder)], check=True)
    hosts_file(folder, ["a", "b", "c"])
    (folder / "ballast").write_bytes(b"x" * 8192)
    run = subprocess.run(probe(folder), capture_output=True, text=True, timeout=120)
    tests.expect(run.returncode == 3 and "No space left" in run.stderr, f"full disk: {run.returncode} {run.stderr}")
    tests.expect(len(run.stderr.strip().split("\n")) <= 2, f"full disk: more than a line: {run.stderr}")
    tests.expect(lab.gone(lambda: agents_of(folder), 5), "agents stayed behind after a full disk")


def never_there():
    folder = new_folder("absent")
    (folder / "hosts.txt").write_text("a address=127.0.0.1\nb address=127.0.0.1 program=/nowhere/sextant\nc address=127.0.0.1\n")
    run = subprocess.run(probe(folder), capture_output=True, text=True, timeout=120)
    tests.expect(run.returncode == 3, f"absent host: exit code {run.returncode}")
    tests.expect("b could not be started" in run.stderr and "/nowhere/sextant" in run.stderr, run.stderr)
    tests.expect(pairs_in(lab.load(folder / "fleet.json")) == {("a", "c")}, "the others were not measured")


for test in (killed_hosts_over_seeds, killed_coordinator, stopped_host, ctrl_c, full_disk, never_there):
    begin = time.monotonic()
    test()
    print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
tests.expect(not lab.processes(" agent"), "something stayed behind")
tests.finish()
