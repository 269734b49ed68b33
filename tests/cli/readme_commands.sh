#!/usr/bin/env bash
# Runs the README's loop "by hand", line by line as it stands there, on two tiny workflows.
#
#   readme_commands.sh README.md FOLDER_OF_SEXTANT
#
# Exit 77 (skipped) without an MPI launcher.
set -euo pipefail
readme=$(realpath "$1")
export PATH="$(realpath "$2"):$PATH"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
command -v mpirun >/dev/null || { echo "skipped: no mpirun on PATH"; exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

workflow() {  # name, prompt tokens
  cat <<JSON
{"name": "$1", "algorithm": "grpo", "mode": "synchronous", "prompts": 2, "responses_per_prompt": 2, "mini_batches": 1,
 "models": {"actor": $model, "reference": $model},
 "prompt_tokens": {"kind": "fixed", "tokens": $2}, "response_tokens": {"kind": "fixed", "tokens": 4}, "precision": "fp32"}
JSON
}
plan() {  # name, dp, tp
  local task="{\"layers\": 2, \"data_parallel\": $2, \"pipeline_parallel\": 1, \"tensor_parallel\": $3,
    \"devices\": {\"first\": 0, \"count\": 2}, \"micro_batch_sequences\": 2}"
  printf '{"name": "%s", "tasks": {"actor_generation": %s, "reference_inference": %s, "actor_training": %s}}' \
    "$1" "$task" "$task" "$task"
}
envelope() {  # kind
  printf '"schema": "sextant.%s/1.0", "provenance": {"tool_version": "test", "command": "readme_commands.sh",
    "time_utc": "2026-01-01T00:00:00Z", "host": "test"}' "$1"
}
model='{"name": "tiny", "layers": 2, "hidden": 32, "intermediate": 64, "heads": 4, "kv_heads": 4, "head_dim": 8,
  "vocabulary": 64, "tied_embeddings": false, "value_head": false}'
one=$(workflow one 8) two=$(workflow two 16)
cat >experiments.json <<JSON
{$(envelope experiments), "workflows": {"one": $one, "two": $two},
 "plans": {"dp2": $(plan dp2 2 1), "tp2": $(plan tp2 1 2)},
 "experiments": [{"name": "one/dp2", "workflow": "one", "plan": "dp2"}, {"name": "one/tp2", "workflow": "one", "plan": "tp2"},
                 {"name": "two/dp2", "workflow": "two", "plan": "dp2"}, {"name": "two/tp2", "workflow": "two", "plan": "tp2"}]}
JSON
printf '{%s, %s' "$(envelope workflow)" "${one#\{}" >workflow.json

# Comments after two spaces are the README's, not the command's. Those for a GPU need one.
mapfile -t commands < <(grep -E '^(mpirun -n 2 )?sextant (probe|proxy|calibrate|validate|plan|predict|report) ' "$readme" |
  grep -v -e ' --devices\? gpu' -e ' --hosts ' | sed 's/   *#.*//')
[ "${#commands[@]}" -ge 7 ] || { echo "found only ${#commands[@]} commands in $readme"; exit 1; }
for command in "${commands[@]}"; do
  echo "+ $command"
  status=0
  eval "$command" || status=$?
  # On workflows of microseconds the model may miss the accuracy asked for; every other answer must be yes.
  case "$status $command" in
    0\ *) ;;
    1\ "sextant validate "*) ;;
    *) echo "exit $status"; exit 1 ;;
  esac
done
for file in cluster.json runs.json coefficients.json accuracy.json plan.json report.html report.md; do
  [ -s "$file" ] || { echo "$file is missing"; exit 1; }
done
