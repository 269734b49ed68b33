"""Hosts half the world apart, with the options that nobody changed: 250 ms there and back, once over a clean line and once
over one that loses packets, so that no rate becomes stable.

usage: far_test.py SEXTANT DELAY_RELAY
"""

import subprocess
import sys

import lab

sextant, relay = sys.argv[1:]
DELAY_MS, LOSS_PERCENT, RATE_MBIT = 125, 0.5, 50
FEWEST_ROUND_TRIPS = 50
FEWEST_SECONDS = 4.9  # ten bins of two round trips

lab.take_precedence()
network = lab.Lab()
tests = lab.Tests()
runs = {}
for name, loss in (("clean", 0), ("lossy", LOSS_PERCENT)):
    ends = (f"{name}-a", f"{name}-b")
    for end in ends:
        network.region(end)
        network.host(f"{end}1", end, RATE_MBIT)
    network.join(relay, *ends, DELAY_MS, 0, loss)
    hosts = network.hosts_file([f"{end}1" for end in ends])
    hosts = hosts.rename(network.folder / f"{name}.txt")
    samples = network.folder / f"{name}.json"
    words = [sextant, "probe", "--hosts", hosts, *lab.LAUNCHER, "--devices", "none", "--samples", samples]
    runs[name] = (subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), samples)

for name, (run, samples) in runs.items():
    out, err = run.communicate(timeout=300)
    print(out, err)
    tests.expect(run.returncode == 0, f"{name}: exit code {run.returncode}: {err}")
    document = lab.load(samples)
    tests.expect(not lab.validate(samples), f"{name}: {lab.validate(samples)}")
    tests.expect(len(document["pairs"]) == 1 and not document["failed_pairs"], f"{name}: {document['failed_pairs']}")
    for pair in document["pairs"]:
        trips = pair["round_trips"]
        tests.near(trips["median_s"], 2 * DELAY_MS * 1e-3, 0.10, f"{name}: round trip")
        tests.expect(trips["count"] >= FEWEST_ROUND_TRIPS and "p99_s" in trips, f"{name}: {trips['count']} round trips")
        rates = [(rate["direction"], rate["streams"]) for rate in pair["rates"]]
        tests.expect(rates == [("there", 1), ("back", 1), ("there", 4), ("back", 4)], f"{name}: {rates}, {pair}")
        tests.expect("datagrams" in pair, f"{name}: {pair.get('why_no_datagrams')}")
    if name == "clean" and document["pairs"]:
        payload = RATE_MBIT * 1e6 / 8 * (lab.MTU - 52) / (lab.MTU + 14)
        for rate in document["pairs"][0]["rates"]:
            tests.near(rate["bytes_per_s"], payload, 0.05, f"{rate['streams']} streams {rate['direction']}")
            # Enough of what can be stable; whether it is, is this machine's affair too.
            tests.expect(rate["seconds"] >= FEWEST_SECONDS, f"{rate['streams']} streams {rate['direction']}: {rate['sentence']}")
tests.expect(lab.gone(lambda: lab.programs(sextant), 5), "agents stayed behind")
tests.finish()
