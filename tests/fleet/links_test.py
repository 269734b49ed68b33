"""Bandwidth and latency against what was set, and against iperf3 and sockperf over the same links.

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
DELAY_MS, JITTER_MS, LOSS_PERCENT = 15, 0, 1
RATES = {"va1": 200, "va2": 80, "oh1": 120, "oh2": 200}  # Mbit/s that a host sends

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

samples = network.folder / "fleet.json"
probe = ["probe", "--hosts", network.hosts_file(), *lab.LAUNCHER, "--devices", "none", "--samples", samples]
done = lab.run(sextant, *probe, "--pair-budget", "3", "--loss-seconds", "1", "--streams", "2", timeout=300)
print(done.stdout, done.stderr)
tests.expect(done.returncode == 0, f"exit code {done.returncode}")
pairs = {(pair["from"], pair["to"]): pair for pair in lab.load(samples)["pairs"]}
tests.expect(len(pairs) == 6, f"{len(pairs)} pairs of 6")


def payload(host):
    """bytes/s of TCP payload that the host can send."""
    return RATES[host] * 1e6 / 8 * HEADERS / FRAME


def iperf(one, other):
    server = network.start(other, "iperf3", "-s", "-1", stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    words = ["iperf3", "-c", network.address(other), "-t", "3", "-O", "1", "-J"]
    result = lab.json.loads(lab.call(*words, inside=one))
    server.wait(timeout=10)
    return result["end"]["sum_received"]["bits_per_second"] / 8


def sockperf_s(one, other):
    """Median one-way latency of small messages."""
    server = network.start(other, "sockperf", "sr", "--tcp", "-p", "11111", stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    words = ["sockperf", "pp", "--tcp", "-i", network.address(other), "-p", "11111", "-t", "2", "-m", "32"]
    text = lab.call(*words, inside=one)
    server.kill()
    return float(re.search(r"percentile 50.000 =\s*([\d.]+)", text)[1]) * 1e-6


for (one, other), pair in pairs.items():
    name = f"{one} to {other}"
    is_far = one[:2] != other[:2]
    rates = {(rate["direction"], rate["streams"]): rate["bytes_per_s"] for rate in pair["rates"]}
    for direction, sender in (("there", one), ("back", other)):
        tests.near(rates[direction, 1], payload(sender), 0.05, f"{name}: one stream {direction}")
        tests.near(rates[direction, 2], payload(sender), 0.05, f"{name}: two streams {direction}")
    tests.near(iperf(one, other), rates["there", 1], 0.05, f"{name}: iperf3 against one stream")
    tests.expect(pair["datagrams"]["returned"] == pair["datagrams"]["sent"], f"{name}: datagrams were lost")
    if is_far:
        tests.near(pair["round_trips"]["median_s"], 2 * DELAY_MS * 1e-3, 0.10, f"{name}: round trip")
        tests.near(2 * sockperf_s(one, other), pair["round_trips"]["median_s"], 0.05, f"{name}: sockperf")
    tests.expect(
        abs(pair["round_trips"]["clock_offset_s"]) <= pair["round_trips"]["clock_offset_error_s"] + 1e-5,
        f"{name}: one machine has one clock",
    )
tests.finish()
