"""The probe of many hosts in namespaces, timed: prints one JSON object. For bench/fleet_hosts_bench.cpp.

usage: many_hosts.py SEXTANT HOSTS REGIONS RATE_MBIT
"""

import json
import os
import re
import subprocess
import sys
import time

import lab

sextant = sys.argv[1]
hosts, regions, rate_mbit = map(int, sys.argv[2:])
KIB = 1024

network = lab.Lab()
for region in range(regions):
    network.region(f"region{region}")
# One bridge of all: what a region adds is its name, so that the bench needs no TAP device.
for region in range(1, regions):
    words = ["ip", "link", "add", f"up{region}", "netns", "region0", "type", "veth", "peer", "name", "up0", "netns"]
    lab.call(*words, f"region{region}")
    lab.call("ip", "link", "set", f"up{region}", "mtu", lab.MTU, "master", "bridge", "up", inside="region0")
    lab.call("ip", "link", "set", "up0", "mtu", lab.MTU, "master", "bridge", "up", inside=f"region{region}")
for host in range(hosts):
    network.host(f"h{host}", f"region{host % regions}", rate_mbit)

samples = network.folder / "fleet.json"
words = ["probe", "--hosts", network.hosts_file(), *lab.LAUNCHER, "--samples", samples, *lab.QUICK]
plan = lab.run(sextant, *words, "--dry-run").stdout
begin = time.monotonic()
process = subprocess.Popen([sextant, *map(str, words)], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
wall_s = time.monotonic() - begin
document = lab.load(samples)
rates = sorted(rate["bytes_per_s"] for pair in document["pairs"] for rate in pair["rates"])
set_bytes_per_s = rate_mbit * 1e6 / 8 * (lab.MTU - 52) / (lab.MTU + 14)
print(
    json.dumps(
        {
            "exit_code": os.waitstatus_to_exitcode(status),
            "wall_s": wall_s,
            "rounds": int(re.search(r"in (\d+) rounds", plan)[1]),
            "pairs": len(document["pairs"]),
            "peak_bytes": usage.ru_maxrss * KIB,
            "median_of_set_rate": rates[len(rates) // 2] / set_bytes_per_s,
            "worst_of_set_rate": min(rates[0] / set_bytes_per_s, set_bytes_per_s / rates[-1]),
        }
    )
)
