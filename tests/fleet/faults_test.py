"""Hosts that die, hang or never answer, a coordinator that dies, networks that go black, Ctrl-C, full disks: what was
measured stays, and nothing stays behind. Each host is a network namespace and probes its devices too.

usage: faults_test.py SEXTANT [SEEDS]
"""

import atexit
import concurrent.futures
import itertools
import json
import os
import pathlib
import queue
import random
import signal
import subprocess
import sys
import time

import lab

sextant = sys.argv[1]
seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 50 if "SEXTANT_THOROUGH" in os.environ else 6
HOSTS = 8
AT_ONCE = 16  # probes side by side: they mostly wait
PATIENCE_S = 240
TRIES = 5  # a moment that was missed, the machine being busy, is tried again
GONE_S = 30  # a busy machine takes its time
RATE_MBIT = 20  # so that what the streams move costs the cores little
DEVICES = ["--devices", "cpu", "--no-pin", "--smoke-test"]
PAIRS = ["--loss-seconds", "0", "--streams", "1"]
PAIR_S = 0.1
LONG_PAIR_S = 1  # where something must happen between the first pair and the last, on a busy machine too
POINT_S = 0.0001  # of a device
LONG_POINT_S = 0.5  # where something must happen while devices are probed: about two seconds of them
network = lab.Lab()
tests = lab.Tests()
teams = queue.SimpleQueue()  # of hosts that no probe uses
for team in range(AT_ONCE):
    teams.put(network.team(f"t{team}", HOSTS, RATE_MBIT))


# The moments are seen in journals, which a busy disk keeps for many seconds: here they are in memory. The mount is in
# this test's own namespace.
subprocess.run(["mount", "-t", "tmpfs", "none", str(network.folder)], check=True)
atexit.register(subprocess.run, ["umount", "-l", str(network.folder)])


class Missed(Exception):
    """The moment at which something was to happen: the probe had come to its end before."""


class Probe:
    """One folder, some hosts, and a coordinator; `LAB` in their environment marks what belongs to it."""

    def __init__(self, name, hosts, with_devices=True, pair_s=PAIR_S, point_s=POINT_S):
        self.folder = network.folder / next(free for free in names_from(name) if not (network.folder / free).exists())
        self.folder.mkdir()
        self.started = None
        self.hosts, self.with_devices, self.pair_s, self.point_s = hosts, with_devices, pair_s, point_s
        self.samples, self.out = self.folder / "fleet.json", self.folder / "cluster.json"
        self.journal = self.folder / "cluster.json.journal"
        network.hosts_file(hosts, self.folder)
        # As "ip netns exec", but for the mounts that it makes anew each time.
        self.launcher = f"nsenter --net=/run/netns/{{target}} env LAB={self.folder.name}:{{target}}"

    def words(self, *more):
        words = ["probe", "--hosts", self.folder / "hosts.txt", "--launcher", self.launcher, "--samples", self.samples]
        devices = [*DEVICES, "--budget", self.point_s, "--out", self.out] if self.with_devices else ["--devices", "none", "--journal", self.journal]
        return list(map(str, [sextant, *words, *devices, *PAIRS, "--pair-budget", self.pair_s, *more]))

    def start(self, *more):
        self.started = subprocess.Popen(self.words(*more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return self.started

    def run(self, *more):
        return subprocess.run(self.words(*more), capture_output=True, text=True, timeout=PATIENCE_S)

    def programs(self):
        """All of this program on its hosts: agents, and probes of devices that they started."""
        return lab.programs(sextant, f"LAB={self.folder.name}:".encode())

    def agent(self, host):
        pids = [pid for pid, line in lab.programs(sextant, f"LAB={self.folder.name}:{host}\0".encode()) if " agent" in line]
        return pids[0] if pids else None

    def entries(self):
        """Of the journal, as they stand on the disk: a last line may be half."""
        if not self.journal.exists():
            return []
        return [json.loads(line) for line in self.journal.read_text().split("\n")[1:-1]]

    def pairs_on_disk(self):
        return [entry["pair"] for entry in self.entries() if "pair" in entry]

    def expect_going_on(self):
        if self.started.poll() is not None:
            raise Missed

    def wait_until(self, condition):
        """For what is seen only while the probe goes on."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.expect_going_on()
            if time.monotonic() > end:
                self.started.kill()
                raise TimeoutError
            time.sleep(0.02)
        self.expect_going_on()

    def wait_for_pairs(self):
        self.wait_until(self.pairs_on_disk)

    def wait_for_device_probe(self):
        self.wait_until(lambda: any("--samples" in line for _, line in self.programs()))

    def expect_valid(self, what):
        """The documents are as their schemas have them, and have all that the journal has."""
        document = lab.load(self.samples)
        for file in (self.samples, self.out):
            faults = lab.validate(file) if file.exists() else []
            tests.expect(not faults, f"{what}: {file.name}: {faults[:3]}")
        for entry in self.entries():
            if "pair" in entry:
                tests.expect(entry["pair"] in document["pairs"], f"{what}: a pair of the journal is not in the document")
            else:
                host = next(host for host in document["hosts"] if host["name"] == entry["host"])
                tests.expect(host.get("results") == entry["devices"]["results"], f"{what}: devices of {entry['host']} are lost")
        return document

    def expect_whole(self, what):
        document = self.expect_valid(what)
        wanted = set(map(frozenset, itertools.combinations(self.hosts, 2)))
        tests.expect(pairs_in(document) == wanted, f"{what}: {len(document['pairs'])} pairs of {len(wanted)}")
        nodes = [node["name"] for node in lab.load(self.out)["nodes"]] if self.with_devices else self.hosts
        tests.expect(nodes == self.hosts, f"{what}: {nodes} are the nodes")
        tests.expect(not self.journal.exists(), f"{what}: the journal is still there")

    def expect_gone(self, what, within_s=GONE_S):
        tests.expect(lab.gone(self.programs, within_s), f"{what}: stayed behind: {self.programs()}")


def names_from(name):
    yield name
    yield from (f"{name}-{number}" for number in itertools.count(2))


def pairs_in(document):
    return {frozenset((pair["from"], pair["to"])) for pair in document["pairs"]}


def with_team(test):
    """Runs a test on hosts that nobody else uses meanwhile."""

    def run(*arguments):
        hosts = teams.get()
        begin = time.monotonic()
        try:
            for _ in range(TRIES):
                try:
                    return test(hosts, *arguments)
                except Missed:
                    print(f"{test.__name__}: too late, once more", flush=True)
            tests.expect(False, f"{test.__name__}: too late {TRIES} times")
        except Exception as error:  # else it would be seen only when all have ended
            tests.expect(False, f"{test.__name__}{arguments}: {error!r}")
        finally:
            teams.put(hosts)
            if not arguments:
                print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)

    return run


def kill(pid, sign=signal.SIGKILL):
    """Whether it was still there."""
    try:
        os.kill(pid, sign)
    except (ProcessLookupError, TypeError):
        return False
    return True


@with_team
def one_seed(hosts, seed):
    """Kills 1, 3 or half of the hosts at random moments, from before they have started to the last round. Every third
    three seeds with devices: their probes are what takes the cores' time."""
    rng = random.Random(seed)
    probe = Probe(f"seed{seed}", hosts, with_devices=seed // 3 % 3 == 0)
    victims = rng.sample(hosts, [1, 3, HOSTS // 2][seed % 3])
    run = probe.start()
    begin = time.monotonic()
    rounds = HOSTS - 1
    moments = sorted(rng.uniform(0, rounds + 2) for _ in victims)  # in rounds; the first two: starting, and devices
    killed = []
    for moment, victim in zip(moments, victims):
        share = min(1, max(0, moment - 2) / rounds)
        while run.poll() is None and time.monotonic() < begin + moment * 0.5:
            time.sleep(0.02)
        while run.poll() is None and len(probe.pairs_on_disk()) < share * HOSTS * rounds / 2 * 0.9:
            time.sleep(0.05)
            if time.monotonic() > begin + 60:  # those that were killed leave fewer
                break
        if kill(probe.agent(victim)):
            killed.append(victim)
    known = probe.pairs_on_disk()
    out, err = run.communicate(timeout=PATIENCE_S)
    what = f"seed {seed}, killed {killed}"
    document = probe.expect_valid(what)
    tests.expect(run.returncode in (0, 3), f"{what}: exit code {run.returncode}: {err}")
    tests.expect(all(pair in document["pairs"] for pair in known), f"{what}: what was on disk is lost")
    expected = set(map(frozenset, itertools.combinations(set(hosts) - set(killed), 2)))
    tests.expect(expected <= pairs_in(document), f"{what}: pairs of others are missing: {expected - pairs_in(document)}: {err}")
    lost = {host["name"] for host in document["hosts"] if "why_lost" in host}
    tests.expect(lost <= set(killed), f"{what}: {lost} were given up: {err}")
    probe.expect_gone(what)
    if run.returncode == 3:
        again = probe.run("--resume")
        tests.expect(again.returncode == 0, f"{what}: resume: exit code {again.returncode}: {again.stderr}")
        probe.expect_whole(f"{what}, resumed")
        probe.expect_gone(what)
    return len(killed)


@with_team
def killed_coordinator(hosts):
    """Once while its agents probe devices, once while they measure pairs."""
    probe = Probe("coordinator", hosts, pair_s=LONG_PAIR_S, point_s=LONG_POINT_S)
    for wait in (probe.wait_for_device_probe, probe.wait_for_pairs):
        run = probe.start(*(["--resume"] if probe.journal.exists() else []))
        wait()
        run.kill()
        run.wait()
        probe.expect_gone("killed coordinator")
    known = probe.pairs_on_disk()
    refused = probe.run()
    tests.expect(refused.returncode == 2 and "--resume" in refused.stderr, f"without --resume: {refused.stderr}")
    with open(probe.journal, "a", encoding="utf-8") as file:
        file.write('{"pair": {"from": "h')  # as a write that was cut off
    again = probe.run("--resume")
    tests.expect(again.returncode == 0, f"resume after a kill: {again.stderr}")
    probe.expect_whole("resume after a kill")
    document = lab.load(probe.samples)
    tests.expect(known and all(pair in document["pairs"] for pair in known), "killed coordinator: a measurement was lost")


@with_team
def two_coordinators(hosts):
    """On one journal only one of them may write."""
    probe = Probe("two", hosts, pair_s=LONG_PAIR_S)
    run = probe.start()
    probe.wait_for_pairs()
    run.send_signal(signal.SIGSTOP)  # so that it does not come to its end meanwhile
    probe.expect_going_on()
    second = probe.run("--resume")
    run.send_signal(signal.SIGCONT)
    tests.expect(second.returncode == 3 and "another probe writes to" in second.stderr, f"second: {second.stderr}")
    out, err = run.communicate(timeout=PATIENCE_S)
    tests.expect(run.returncode == 0, f"first of two: {err}")
    probe.expect_whole("first of two")


@with_team
def stopped_host(hosts):
    """One that hangs is given up, and the others are measured."""
    probe = Probe("stopped", hosts[:3], pair_s=2 * LONG_PAIR_S)
    run = probe.start()
    probe.wait_for_pairs()
    if not kill(probe.agent(hosts[1]), signal.SIGSTOP):
        raise Missed
    out, err = run.communicate(timeout=PATIENCE_S)
    if run.returncode == 0:
        raise Missed
    tests.expect(run.returncode == 3, f"hanging host: exit code {run.returncode}")
    document = probe.expect_valid("hanging host")
    tests.expect(frozenset((hosts[0], hosts[2])) in pairs_in(document), "hanging host: the others were not measured")
    tests.expect(len(document["failed_pairs"]) in (1, 2), f"hanging host: pairs that failed: {document['failed_pairs']}")
    why = [host.get("why_lost", "") for host in document["hosts"]]
    tests.expect(why[0] == why[2] == "" and why[1] != "", f"hanging host: reasons: {why}")
    tests.expect("refusals" not in document["hosts"][1], "hanging host: nobody knows whom it refused")
    probe.expect_gone("hanging host")


@with_team
def black_network(hosts):
    """What joins a host to the others goes down in the middle; what leads to the coordinator does not."""
    probe = Probe("black", hosts[:4], pair_s=2 * LONG_PAIR_S)
    run = probe.start()
    probe.wait_for_pairs()
    network.link(hosts[3], "down")
    out, err = run.communicate(timeout=PATIENCE_S)
    if run.returncode == 0:
        network.link(hosts[3], "up")
        raise Missed
    document = probe.expect_valid("black network")
    tests.expect(run.returncode == 3, f"black network: exit code {run.returncode}: {err}")
    expected = set(map(frozenset, itertools.combinations(hosts[:3], 2)))
    tests.expect(expected <= pairs_in(document), f"black network: pairs of others are missing: {err}")
    tests.expect(document["failed_pairs"], "black network: no pair failed")
    tests.expect(all(hosts[3] in (pair["from"], pair["to"]) for pair in document["failed_pairs"]), f"black network: {err}")
    network.link(hosts[3], "up")
    again = probe.run("--resume")
    tests.expect(again.returncode == 0, f"black network, up again: {again.stderr}")
    probe.expect_whole("black network, up again")
    probe.expect_gone("black network")


@with_team
def ctrl_c(hosts):
    """Also a terminal that is closed."""
    for sign in (signal.SIGINT, signal.SIGHUP):
        probe = Probe(f"interrupted{sign}", hosts, pair_s=LONG_PAIR_S)
        run = probe.start()
        probe.wait_for_pairs()
        run.send_signal(sign)
        out, err = run.communicate(timeout=PATIENCE_S)
        if run.returncode == 0:
            raise Missed
        document = probe.expect_valid("Ctrl-C")
        tests.expect(run.returncode == 3 and "--resume" in err, f"Ctrl-C: exit code {run.returncode}: {err}")
        tests.expect(document["is_interrupted"] and document["pairs"], "Ctrl-C leaves what was measured")
        probe.expect_gone("Ctrl-C")


def full_folder(folder, size="16k"):
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=True)
    return folder


def full_is_full(folder):
    return os.statvfs(folder).f_bavail == 0


@with_team
def full_disk(hosts):
    """Of the coordinator."""
    probe = Probe("full", hosts[:3])
    full = full_folder(probe.folder / "disk")
    (full / "ballast").write_bytes(b"x" * 8192)
    run = probe.run("--journal", full / "journal")
    tests.expect(run.returncode == 3 and "No space left" in run.stderr, f"full disk: {run.returncode} {run.stderr}")
    tests.expect(len(run.stderr.strip().split("\n")) <= 2, f"full disk: more than a line: {run.stderr}")
    probe.expect_gone("full disk")


@with_team
def full_disk_of_a_host(hosts):
    """Where a host can write nothing, it is measured all the same, or named with the reason; the others go on."""
    probe = Probe("full_host", hosts[:3])
    full = full_folder(probe.folder / "tmp")
    with open(full / "ballast", "wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(b"x" * 4096)
        except OSError:
            pass
    launcher = probe.folder / "launcher"
    launcher.write_text(f'#!/bin/sh\ncase $1 in */{hosts[1]}) export TMPDIR={full};; esac\nexec nsenter "$@"\n')
    launcher.chmod(0o755)
    probe.launcher = probe.launcher.replace("nsenter", str(launcher))
    run = probe.run()
    document = probe.expect_valid("full disk of a host")
    tests.expect(run.returncode in (0, 3), f"full disk of a host: exit code {run.returncode}: {run.stderr}")
    tests.expect(len(document["pairs"]) == 3, f"full disk of a host: pairs are missing: {run.stderr}")
    tests.expect(full_is_full(full), "full disk of a host: it was not full")
    has_devices = [host["has_devices"] for host in document["hosts"]]
    tests.expect(has_devices[0] and has_devices[2], f"full disk of a host: devices of others are missing: {run.stderr}")
    why = document["hosts"][1].get("why_no_devices", "")
    tests.expect(has_devices[1] or why, "full disk of a host: no reason why it has no devices")
    print(f"full disk of a host: {'its devices were measured' if has_devices[1] else why}")
    probe.expect_gone("full disk of a host")


@with_team
def never_there(hosts):
    probe = Probe("absent", hosts[:3])
    text = (probe.folder / "hosts.txt").read_text().split("\n")
    text[1] += " program=/nowhere/sextant"
    (probe.folder / "hosts.txt").write_text("\n".join(text))
    run = probe.run()
    tests.expect(run.returncode == 3, f"absent host: exit code {run.returncode}")
    tests.expect(f"{hosts[1]} could not be started" in run.stderr and "/nowhere/sextant" in run.stderr, run.stderr)
    tests.expect(pairs_in(probe.expect_valid("absent host")) == {frozenset((hosts[0], hosts[2]))}, "the others were not measured")


def unheard_agent():
    """An agent that nobody listens to notices all the same that its coordinator has gone."""
    FULL, PAIRS_ASKED = 3, 2000
    version = lab.call(sextant, "--version").strip()
    agent = subprocess.Popen([sextant, "agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    say = lambda command: print(json.dumps(command), file=agent.stdin, flush=True)
    say({"do": "start", "secret": "ab" * 32, "version": version, "ports": [0, 0]})
    ready = json.loads(agent.stdout.readline())
    tests.expect(ready["is"] == "ready", f"agent: {ready}")
    options = {"budget_s": 1, "target_spread_fraction": 0.1, "streams": 1, "datagrams_s": 0}
    for task in range(PAIRS_ASKED):  # each fails at once, and is told of in more than 64 KiB in all
        to = {"address": "127.0.0.1", "port": 1}
        say({"do": "pair", "task": task, "to": to, "options": options, "limit_s": 5})
    time.sleep(FULL)
    agent.stdin.close()
    try:
        agent.wait(timeout=60)
    except subprocess.TimeoutExpired:
        tests.expect(False, "an agent that nobody listens to stays behind")
        agent.kill()
    agent.stdout.close()


others = [killed_coordinator, two_coordinators, stopped_host, black_network, ctrl_c, full_disk, full_disk_of_a_host, never_there]
begin = time.monotonic()
with concurrent.futures.ThreadPoolExecutor(AT_ONCE + 1) as pool:
    waiting = [pool.submit(test) for test in [unheard_agent, *others]]
    killed = sum(number or 0 for number in pool.map(one_seed, range(seeds)))
    for test in waiting:
        test.result()
print(f"{seeds} seeds, {killed} hosts killed; {time.monotonic() - begin:.1f} s in all")
tests.expect(killed >= seeds, "hardly any host was killed: the moments are too late")
tests.expect(lab.gone(lambda: lab.programs(sextant), GONE_S), f"something stayed behind: {lab.programs(sextant)}")
tests.finish()
