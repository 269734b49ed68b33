#!/usr/bin/env bash
# slurm_lab itself: lab_test.sh SLURM_LAB. Exit code 0 all well, 1 not, 77 there can be no lab here.
set -euo pipefail
lab=$1

# Of this lab alone: others may run beside it. The mark is in the environment of all that the lab starts.
mark=SLURM_LAB_TEST=$$.$RANDOM
export "${mark?}"
marked() {  # name...: "pid name" of those of our processes that are called so
  local process name
  for process in /proc/[0-9]*; do
    name=$(cat "$process/comm" 2>/dev/null) || continue
    [[ " $* " == *" $name "* ]] && grep -qzsxF "$mark" "$process/environ" && echo "${process#/proc/} $name"
  done || true
}
daemons() { marked slurmd slurmctld munged slurmstepd | cut -d ' ' -f 2 | sort | tr '\n' ' '; }
fail() {
  printf '%s\n' "$*"
  marked unshare | while read -r process _; do kill -KILL "$process" || true; done
  exit 1
}
until_gone() {
  local left
  for _ in {1..100}; do
    left=$(daemons)
    [ -n "$left" ] || return 0
    sleep 0.1
  done
  fail "$1: still there:$left"
}

status=0
"$lab" --nodes 1 true || status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] || fail "a lab of one node: exit $status"

"$lab" --nodes 1 bash -c 'exit 9' || status=$?
[ $status -eq 9 ] || fail "the exit code of the command: $status"
until_gone "after a command that failed"

read -r hosts addresses < <("$lab" --nodes 3 srun --nodes=3 bash -c 'echo "$(hostname) $(ip -4 -o address show uplink)"' |
  awk '{ hosts[$1] = 1; addresses[$5] = 1 } END { print length(hosts), length(addresses) }')
[ "$hosts $addresses" = "3 3" ] || fail "three nodes have $hosts names and $addresses addresses"

# Killed in the middle of a job, with no chance to clean up.
traces() { mount && ip -o link && ls -Ad /run/slurm_lab /run/munge /tmp/ompi.node* /dev/shm/*node* 2>/dev/null || true; }
before=$(traces)
for signal in KILL TERM; do
  started=$(mktemp)
  "$lab" --nodes 1 bash -c "echo up >$started; srun sleep 1000" 2>/dev/null &
  job=$!
  for _ in {1..300}; do [ ! -s "$started" ] || break; sleep 0.1; done
  [ -s "$started" ] || fail "the lab did not come up"
  sleep 0.3
  [[ $(daemons) == *slurmctld*slurmd* ]] || fail "no daemons are seen while the lab runs: $(daemons)"
  kill -$signal $job
  wait $job 2>/dev/null || true
  until_gone "after SIG$signal"
  rm -f "$started"
done
[ "$before" = "$(traces)" ] || fail "it left this behind: $(diff <(echo "$before") <(traces))"

status=0
setpriv --reuid 65534 --clear-groups "$lab" true 2>/dev/null || status=$?
[ $status -eq 77 ] || fail "without root: exit $status"
status=0
setpriv --bounding-set -sys_admin "$lab" true 2>/dev/null || status=$?
[ $status -eq 77 ] || fail "without namespaces: exit $status"
