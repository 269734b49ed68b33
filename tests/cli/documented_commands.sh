#!/usr/bin/env bash
# Runs the commands of README.md and of the user guide as they stand there: the loop on two tiny workflows, the pages
# about planning on examples/plan, whose printed output must be what the commands print now.
#
#   documented_commands.sh ROOT FOLDER_OF_SEXTANT [--write]
#
# --write changes the pages where they differ in numbers (documented_output.py); the next run must pass.
# Exit 77 (skipped) without an MPI launcher.
set -euo pipefail
root=$(realpath "$1")
write=${3:-}
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

# The lines of a page's blocks of shell commands that begin with sextant. Comments after two spaces are the page's, not
# the command's; a backslash joins lines. Left out are commands that need a GPU, many hosts, or a program or log of the reader's.
commands_of() {
  sed -n '/^```sh$/,/^```$/p' "$root/$1" | sed -e ':join' -e '/\\$/{N;s/\\\n */ /;b join' -e '}' |
    grep -E '^(mpirun -n 2 )?sextant (probe|proxy|import|calibrate|validate|plan|predict|report|export|coefficients|diff) ' |
    grep -v -e ' --devices\? gpu' -e ' --hosts ' -e ' import verl ' -e ' train.log ' -e ' last-week.json ' | sed 's/   *#.*//'
}
count=0
run_page() {
  local commands command status
  mapfile -t commands < <(commands_of "$1")
  [ "${#commands[@]}" -ge 1 ] || { echo "found no commands in $1"; exit 1; }
  for command in "${commands[@]}"; do
    # A number of evaluations in place of time: the same plan on any machine, however busy.
    case "$command" in
      *" --evaluations "*) ;;
      "sextant plan "*) command+=" --evaluations 100000" ;;
      # Most of the time of all commands is the probe's, which needs no accuracy here.
      *" sextant probe "*) command+=" --smoke-test --budget 0.02" ;;
    esac
    echo "+ $1: $command"
    status=0
    eval "$command" >>output.txt 2>&1 || { status=$? && tail -n 20 output.txt; }
    # On workflows of microseconds the model may miss the accuracy asked for; every other answer must be yes.
    case "$status $command" in
      0\ *) ;;
      1\ "sextant validate "*) ;;
      *) echo "exit $status"; exit 1 ;;
    esac
    count=$((count + 1))
  done
}

ln -s "$root/data" data
for page in quick-start runs calibrate trust cost-model; do run_page "docs/guide/$page.md"; done
for file in cluster.json runs.json coefficients.json accuracy.json plan.json report.html report.md suggested.json; do
  [ -s "$file" ] || { echo "$file is missing"; exit 1; }
done

mkdir plan
cd plan
cp "$root"/examples/plan/*.json .
ln -s "$root/examples" examples
for page in README.md docs/guide/plan.md; do run_page $page; done
# The commands still print the output that the pages show.
if command -v python3 >/dev/null; then
  compare() { python3 "$root/tests/cli/documented_output.py" "$root/$1" output.txt "${@:2}" $write || [ -n "$write" ]; }
  compare README.md
  compare docs/guide/plan.md --all
  compare docs/guide/trust.md
fi
for file in plan.json explanation.json; do
  [ -s "$file" ] || { echo "plan/$file is missing"; exit 1; }
done
echo "$count commands"
