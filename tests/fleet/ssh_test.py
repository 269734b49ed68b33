"""Over a real sshd between namespaces: the whole probe of four hosts in two regions, then a coordinator that is killed.

usage: ssh_test.py SEXTANT DELAY_RELAY
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import lab

sextant, relay = sys.argv[1:]
if not shutil.which("sshd") or not shutil.which("ssh"):
    print("skipped: there is no sshd (Debian: openssh-server)")
    sys.exit(lab.SKIPPED)
if (pathlib.Path("/proc/self/uid_map").read_text().split()[2]) != "4294967295":
    print("skipped: sshd needs root outside of a user namespace too")
    sys.exit(lab.SKIPPED)

network = lab.Lab()
tests = lab.Tests()


def agents():
    """Also what they started."""
    return [line for _, line in lab.programs(sextant) if "--hosts" not in line]


for region in ("virginia", "ohio"):
    network.region(region)
for host in ("va1", "va2", "oh1", "oh2"):
    network.host(host, "virginia" if host.startswith("va") else "ohio", 200)
network.join(relay, "virginia", "ohio", 10)

folder = network.folder
for key in ("host_key", "user_key"):
    lab.call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key)
(folder / "sshd_config").write_text(
    f"HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/user_key.pub\nStrictModes no\nUsePAM no\n"
    "PidFile none\nPermitRootLogin yes\nMaxStartups 100\n"
)
(folder / "ssh_config").write_text(
    f"IdentityFile {folder}/user_key\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
    "BatchMode yes\nConnectTimeout 10\n"
)
pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
servers = [
    network.start(host, shutil.which("sshd"), "-D", "-f", folder / "sshd_config", stderr=subprocess.DEVNULL)
    for host in network.hosts
]
time.sleep(0.5)
tests.expect(all(server.poll() is None for server in servers), "an sshd did not start")

hosts = network.hosts_file(target="root@{address}")
out, samples = folder / "cluster.json", folder / "fleet.json"
# The coordinator is on one of the hosts.
command = ["ip", "netns", "exec", "va1", sextant, "probe", "--hosts", hosts, "--launcher"]
command += [f"ssh -F {folder}/ssh_config {{target}}", "--out", out, "--samples", samples]
shortest = ["--devices", "cpu", "--budget", "0.001", "--no-pin", "--smoke-test", "--pair-budget", "0.3", "--loss-seconds", "0.2"]
done = subprocess.run([*map(str, command), *shortest], capture_output=True, text=True, timeout=200)
print(done.stdout, done.stderr)
tests.expect(done.returncode == 0, f"exit code {done.returncode}")
cluster = lab.load(out)
tests.expect([node["name"] for node in cluster["nodes"]] == list(network.hosts), "nodes are the hosts")
tests.expect({node["region"] for node in cluster["nodes"]} == {"virginia", "ohio"}, "regions are those of the list")
far = cluster["links"]["between_regions"]
tests.near(far["latency_s"]["value"], 10e-3, 0.5, "latency between regions")  # links_test.py is exact, and alone
tests.expect(far["latency_s"]["source"] == "measured", "a measured latency says so")
tests.expect(len(lab.load(samples)["pairs"]) == 6, "all pairs")
for file in (out, samples):
    tests.expect(not lab.validate(file), f"{file}: {lab.validate(file)}")
tests.expect(lab.gone(agents, 5), "agents stayed behind")
tests.expect("secret" not in samples.read_text().replace("wrong_secret", ""), "the secret is in a document")

# Killed without a chance to say good-bye.
run = subprocess.Popen([*map(str, command), *shortest], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
end = time.monotonic() + 60
while len(agents()) < 4 and time.monotonic() < end:
    time.sleep(0.05)
tests.expect(len(agents()) >= 4, "the agents did not start")
secrets = agents()
tests.expect(all(not lab.re.search("[0-9a-f]{64}", line) for line in secrets), "the secret is on a command line")
coordinator = [pid for pid, line in lab.processes("--hosts") if line.startswith(sextant)]
for pid in coordinator:
    os.kill(pid, 9)
run.wait()
tests.expect(lab.gone(agents, 10), f"agents outlive a killed coordinator: {agents()}")

# A host that is not reached.
text = hosts.read_text() + "far1 region=mars zone=mars-a target=root@10.77.9.9 address=10.77.9.9\n"
hosts.write_text(text)
quick = ["--devices", "cpu", "--budget", "0.001", "--no-pin", "--smoke-test", "--pair-budget", "0.1", "--loss-seconds", "0", "--streams", "1"]
done = subprocess.run([*map(str, command), *quick], capture_output=True, text=True, timeout=300)
tests.expect(done.returncode == 3 and "far1 could not be started" in done.stderr, f"unreachable host: {done.stderr}")
tests.expect(len(lab.load(out)["nodes"]) == 4, "the hosts that are there make a cluster")
for server in servers:
    server.kill()
tests.finish()
