"""Bandwidth, latency, loss and jitter against what was set, and against iperf3 and sockperf over the same links.

usage: links_test.py SEXTANT DELAY_RELAY
"""

import re
import shutil
import subprocess
import sys
import time

import lab

sextant, relay = sys.argv[1:]
HEADERS = lab.MTU - 52  # TCP payload of a full packet: IPv4, TCP and its time stamps
FRAME = lab.MTU + 14
DELAY_MS = 15
JITTER_MS, LOSS_PERCENT = 4, 3  # of the way to Oregon
RATES = {"va1": 200, "va2": 80, "oh1": 120, "oh2": 200}  # Mbit/s that a host sends
PAIRS = [("va1", "va2"), ("va1", "oh1"), ("va2", "oh2")]  # that iperf3 and sockperf measure too
STREAMS = 2
SENDS_FOR_S, WARM_UP_S = 2, 1

for tool in ("iperf3", "sockperf"):
    if not shutil.which(tool):
        print(f"skipped: there is no {tool}")
        sys.exit(lab.SKIPPED)

network = lab.Lab()
tests = lab.Tests()
for region in ("virginia", "ohio"):
    network.region(region)
for host, rate in RATES.items():
    network.host(host, "virginia" if host.startswith("va") else "ohio", rate)
network.join(relay, "virginia", "ohio", DELAY_MS)


def probe(name, hosts, *options):
    """The pairs, by the names of their hosts."""
    file = network.hosts_file(hosts).rename(network.folder / f"{name}.txt")
    samples = network.folder / f"{name}.json"
    words = ["probe", "--hosts", file, *lab.LAUNCHER, "--devices", "none", "--samples", samples, *options]
    done = lab.run(sextant, *words, timeout=300)
    print(done.stdout, done.stderr)
    tests.expect(done.returncode == 0, f"{name}: exit code {done.returncode}")
    tests.expect(not lab.validate(samples), f"{name}: {lab.validate(samples)}")
    return {(pair["from"], pair["to"]): pair for pair in lab.load(samples)["pairs"]}


def payload(host):
    """bytes/s of TCP payload that the host can send."""
    return RATES[host] * 1e6 / 8 * HEADERS / FRAME


def iperf(one, other, *options):
    server = network.start(other, "iperf3", "-s", "-1", stdout=subprocess.DEVNULL)
    wait_until_listening(other, 5201)
    words = ["iperf3", "-c", network.address(other), "-t", SENDS_FOR_S, "-O", WARM_UP_S, "-J", *options]
    result = lab.json.loads(lab.call(*words, inside=one))
    server.wait(timeout=10)
    return result["end"]["sum_received"]["bits_per_second"] / 8


def sockperf_s(one, other):
    """Median one-way latency of small messages."""
    server = network.start(other, "sockperf", "sr", "--tcp", "-p", "11111", stdout=subprocess.DEVNULL)
    wait_until_listening(other, 11111)
    words = ["sockperf", "pp", "--tcp", "-i", network.address(other), "-p", "11111", "-t", "1", "-m", "32"]
    text = lab.call(*words, inside=one)
    server.kill()
    server.wait()
    return float(re.search(r"percentile 50.000 =\s*([\d.]+)", text)[1]) * 1e-6


def wait_until_listening(host, port):
    end = time.monotonic() + 10
    while f":{port} " not in lab.call("ss", "-Htln", inside=host) and time.monotonic() < end:
        time.sleep(0.05)


def least_until(measure, enough, key=lambda value: value):
    """The least of up to three: what a busy machine adds is not of the link."""
    values = []
    while len(values) < 3 and (not values or key(values[-1]) > enough):
        values.append(measure())
    return min(values, key=key)


def round_trip_s(one, other):
    """Of near hosts: the least of a few, for both programs wait for the kernel on a machine that is not idle."""
    return min(2 * sockperf_s(one, other) for _ in range(2))


pairs = probe("four", list(RATES), "--pair-budget", "2", "--loss-seconds", "1", "--streams", STREAMS)
tests.expect(len(pairs) == 6, f"{len(pairs)} pairs of 6")
for (one, other), pair in pairs.items():
    name = f"{one} to {other}"
    is_far = one[:2] != other[:2]
    rates = {(rate["direction"], rate["streams"]): rate["bytes_per_s"] for rate in pair["rates"]}
    for direction, sender in (("there", one), ("back", other)):
        tests.near(rates[direction, 1], payload(sender), 0.05, f"{name}: one stream {direction}")
        tests.near(rates[direction, STREAMS], payload(sender), 0.05, f"{name}: {STREAMS} streams {direction}")
    tests.expect(pair["datagrams"]["returned"] == pair["datagrams"]["sent"], f"{name}: datagrams were lost")
    if is_far:
        tests.near(pair["round_trips"]["median_s"], 2 * DELAY_MS * 1e-3, 0.10, f"{name}: round trip")
    tests.expect(
        abs(pair["round_trips"]["clock_offset_s"]) <= pair["round_trips"]["clock_offset_error_s"] + 1e-5,
        f"{name}: one machine has one clock",
    )
    if (one, other) not in PAIRS and (other, one) not in PAIRS:
        continue
    for direction, turned in (("there", []), ("back", ["-R"])):
        tests.near(iperf(one, other, *turned), rates[direction, 1], 0.05, f"{name}: iperf3 against one stream {direction}")
        several = iperf(one, other, "-P", STREAMS, *turned)
        tests.near(several, rates[direction, STREAMS], 0.05, f"{name}: iperf3 against {STREAMS} streams {direction}")
    if is_far:
        # The relay is a program on this machine: when that is busy, frames are late, and only ever late.
        quickest = least_until(lambda: 2 * sockperf_s(one, other), 1.05 * pair["round_trips"]["median_s"])
        tests.near(quickest, pair["round_trips"]["median_s"], 0.05, f"{name}: sockperf")
    else:
        # Microseconds, most of them the kernel's and the machine's: within a factor, not within a share.
        least = pair["round_trips"]["min_s"], round_trip_s(one, other)
        print(f"{name}: round trip {pair['round_trips']['median_s']:.3g} s, least {least[0]:.3g} s; sockperf {least[1]:.3g} s")
        tests.expect(0.2 < least[0] / least[1] < 5, f"{name}: the least round trip is {least[0]}, sockperf's median {least[1]}")

# Loss and jitter of a way that is nothing else: each frame is lost with that probability, and late by up to that much.
SECONDS = 10
network.region("oregon")
network.host("or1", "oregon")
network.join(relay, "virginia", "oregon", DELAY_MS, JITTER_MS, LOSS_PERCENT)
lossy = ["--pair-budget", "0.2", "--loss-seconds", SECONDS, "--streams", "1"]


def jitter_ms(loss):
    return 1e3 * max(loss["jitter_there_s"], loss["jitter_back_s"])


# The mean difference of two numbers spread evenly over JITTER_MS is a third of it.
loss = least_until(
    lambda: next(iter(probe("lossy", ["va1", "or1"], *lossy).values()))["datagrams"], 1.5 * JITTER_MS / 3, jitter_ms
)
sent = loss["sent"]
# Four standard deviations of so many that are lost one by one.
for way, of in (("there", sent), ("back", loss["arrived"])):
    share, set_share = loss[f"lost_{way}_fraction"], LOSS_PERCENT / 100
    room = 4 * (set_share * (1 - set_share) / of) ** 0.5
    tests.expect(abs(share - set_share) <= room, f"loss {way}: {share:.4f} of {of}, set {set_share} +- {room:.4f}")
for way in ("there", "back"):
    tests.near(loss[f"jitter_{way}_s"], JITTER_MS * 1e-3 / 3, 0.5, f"jitter {way}")
jitters = [slot["jitter_s"] for slot in loss["over_time"] if "jitter_s" in slot]
tests.expect(len(loss["over_time"]) == -(-sent // 20), f"{len(loss['over_time'])} parts of {sent} datagrams")
tests.expect(sum(slot["returned"] for slot in loss["over_time"]) == loss["returned"], "datagrams over time")
# Of there and back together: the mean difference of two sums of two is 7/15 of it.
tests.near(lab.statistics.median(jitters), JITTER_MS * 1e-3 * 7 / 15, 0.2, "jitter over time, of the round trip")
tests.expect(2 * DELAY_MS <= loss["median_s"] * 1e3 <= 2 * (DELAY_MS + JITTER_MS), f"round trip of datagrams: {loss['median_s']}")
tests.finish()
