"""Hosts in network namespaces, regions far apart, and sextant on them. To be run under in_own_network."""

import atexit
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import jsonschema
except ImportError:  # documents are read, and not held to their schemas
    jsonschema = None

SKIPPED = 77
MTU = 9000  # of the lab's links; its headers are 0.6 % of what goes over them


def call(*words, inside=None):
    # Not `ip netns exec`, which mounts /sys anew for each call: on a busy machine that takes seconds.
    place = ["nsenter", f"--net=/run/netns/{inside}"] if inside else []
    done = subprocess.run([*place, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


class Lab:
    """One bridge a region; hosts are named and numbered as they are added."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sextant_lab_"))
        atexit.register(shutil.rmtree, self.folder, True)
        self.hosts = {}  # name: (region, address)
        self.running = []

    def region(self, name):
        call("ip", "netns", "add", name)
        call("ip", "link", "add", "bridge", "type", "bridge", inside=name)
        call("ip", "link", "set", "bridge", "up", inside=name)

    def host(self, name, region, rate_mbit=None):
        """rate_mbit: of what the host sends."""
        number = len(self.hosts) + 1
        address = f"10.77.{number // 250}.{number % 250 + 1}"
        call("ip", "netns", "add", name)
        call("ip", "link", "add", f"v{number}", "netns", name, "type", "veth", "peer", "name", f"p{number}", "netns", region)
        call("ip", "addr", "add", address + "/16", "dev", f"v{number}", inside=name)
        call("ip", "link", "set", f"v{number}", "mtu", MTU, "up", inside=name)
        call("ip", "link", "set", "lo", "up", inside=name)
        call("ip", "link", "set", f"p{number}", "mtu", MTU, "master", "bridge", "up", inside=region)
        if rate_mbit:
            shape = ["tbf", "rate", f"{rate_mbit}mbit", "burst", "64kb", "latency", "50ms"]
            call("tc", "qdisc", "add", "dev", f"v{number}", "root", *shape, inside=name)
        self.hosts[name] = (region, address)

    def join(self, relay, one, other, delay_ms, jitter_ms=0, loss_percent=0):
        """Two regions, so far apart one way."""
        taps = [f"to_{other}"[:15], f"to_{one}"[:15]]
        words = [relay, one, taps[0], other, taps[1], delay_ms, jitter_ms, loss_percent]
        process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True)
        self.running.append(process)
        if process.stdout.readline() != "ready\n":
            print("skipped: no TAP devices here (/dev/net/tun)")
            sys.exit(SKIPPED)
        try:  # a frame is due when it is due, whoever else wants the core; it needs little of it
            os.sched_setscheduler(process.pid, os.SCHED_RR, os.sched_param(1))
        except OSError:
            pass
        for region, tap in ((one, taps[0]), (other, taps[1])):
            call("ip", "link", "set", tap, "mtu", MTU, "master", "bridge", "up", inside=region)

    def team(self, name, count, rate_mbit=None):
        """A region of its own with so many hosts on it; their names."""
        self.region(name)
        names = [f"{name}-h{number}" for number in range(count)]
        for host in names:
            self.host(host, name, rate_mbit)
        return names

    def link(self, host, state):
        """Takes what joins the host to the others down, or up again."""
        call("ip", "link", "set", f"v{list(self.hosts).index(host) + 1}", state, inside=host)

    def address(self, host):
        return self.hosts[host][1]

    def start(self, host, *words, **options):
        process = subprocess.Popen(["ip", "netns", "exec", host, *map(str, words)], **options)
        self.running.append(process)
        return process

    def hosts_file(self, names=None, folder=None, **more):
        """`more`: settings of all hosts, of which {name} and {address} are replaced."""
        lines = []
        for name in names or self.hosts:
            region, address = self.hosts[name]
            extra = " ".join(f"{key}={text.format(name=name, address=address)}" for key, text in more.items())
            lines.append(f"{name} region={region} zone={region}-a address={address} {extra}")
        file = (folder or self.folder) / "hosts.txt"
        file.write_text("\n".join(lines) + "\n")
        return file


def take_precedence():
    """Before other programs of this machine, where that is allowed: for tests that compare times."""
    try:
        os.nice(-15)
        pathlib.Path("/proc/self/autogroup").write_text("-15")
    except OSError:
        pass


LAUNCHER = ["--launcher", "ip netns exec {target}"]
QUICK = ["--devices", "none", "--pair-budget", "0.2", "--loss-seconds", "0", "--streams", "1"]


def run(sextant, *words, timeout=120):
    return subprocess.run([sextant, *map(str, words)], capture_output=True, text=True, timeout=timeout)


def load(file):
    return json.loads(pathlib.Path(file).read_text())


def processes(word):
    """Of this process namespace, whose command line has the word."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if word in line and state != "Z":
            found.append((int(entry.name), line))
    return found


def programs(binary, mark=None):
    """pid and command line of all processes that are this program, whatever they are called; with `mark`, of those that
    have it (as bytes) in their environment."""
    found = []
    for pid, line in processes(""):
        try:
            if not os.path.samefile(f"/proc/{pid}/exe", binary):
                continue
            if mark and mark not in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                continue
        except OSError:
            continue
        found.append((pid, line))
    return found


def validate(file):
    """What the schemas in docs/schemas have against a document; empty where it is as it should be."""
    document = load(file)
    kind = document["schema"].removeprefix("sextant.").split("/")[0]
    if jsonschema is None:
        return []
    return [f"{error.json_path}: {error.message}" for error in validator(kind).iter_errors(document)]


@functools.lru_cache
def validator(kind):
    folder = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
    schemas = {path.name: load(path) for path in folder.glob("*.schema.json")}
    schema = schemas[f"{kind}.schema.json"]
    try:
        import referencing
    except ImportError:  # jsonschema before 4.18
        resolver = jsonschema.RefResolver(schema["$id"], schema, store=schemas)
        return jsonschema.Draft202012Validator(schema, resolver=resolver)
    resources = [(name, referencing.Resource.from_contents(content)) for name, content in schemas.items()]
    return jsonschema.Draft202012Validator(schema, registry=referencing.Registry().with_resources(resources))


def gone(what, within_s):
    """Whether what() has become empty in time."""
    end = time.monotonic() + within_s
    while what():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Tests:
    """Each test is a function that calls expect(); the exit code says how it went."""

    def __init__(self):
        self.failures = []

    def expect(self, condition, sentence):
        if not condition:
            self.failures.append(sentence)
            print("FAILED:", sentence, flush=True)

    def near(self, value, wanted, share, what):
        self.expect(abs(value / wanted - 1) <= share, f"{what}: {value:.6g}, expected {wanted:.6g} within {share:.0%}")

    def finish(self):
        sys.exit(1 if self.failures else 0)


def interrupt(process):
    process.send_signal(signal.SIGINT)
