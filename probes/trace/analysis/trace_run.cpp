#include "probes/trace/analysis/trace_run.h"

#include <algorithm>
#include <utility>

#include "core/units.h"
#include "sextant/error.h"

namespace sextant::trace {
namespace {

template <typename T>
void put(std::map<std::string, T>& all, const std::string& name, const T& document, const char* what) {
  const auto [found, is_new] = all.try_emplace(name, document);
  if (!is_new && !(found->second == document)) {
    throw_bad_input(std::string("the runs document already has a different ") + what + " named " + name +
                    ": rename one of them");
  }
}

bool is_timer_of(const Workflow& workflow, const std::string& timer) {
  const std::vector<std::string> parts = parts_of_timer(timer);
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return workflow.has_task(part) || (part == kWeightSync && workflow.has_weight_sync());
  });
}

// Shares of the devices' time, by task: "actor_generation: attention 12.0 %, ...".
std::string describe_split(const Split& split) {
  std::string text;
  const auto add = [&](const char* what, double part_s) {
    if (part_s <= 0) return;
    text += (text.empty() ? "" : ", ") + std::string(what) + " " + format_percent(part_s / split.recorded_s());
  };
  add("attention", split.attention_s);
  add("GEMM", split.gemm_s);
  add("CUDA graphs", split.graph_s);
  add("other kernels", split.other_s);
  add("exposed communication", split.exposed_communication_s);
  add("copies", split.copy_s);
  add("idle", split.idle_s);
  return text;
}

void set_notes(const TraceSummary& summary, Run& run) {
  run.notes["iterations"] = std::to_string(summary.iteration_s.size()) + ", " + summary.iterations_are + "; " +
                            std::to_string(summary.skipped_iteration_s.size()) + " before them warm up.";
  for (const auto& [task, split] : summary.split.tasks) run.notes["devices in " + task] = describe_split(split);
  std::string remarks;
  for (const std::string& remark : summary.remarks()) remarks += (remarks.empty() ? "" : "; ") + remark;
  if (!remarks.empty()) run.notes["remarks"] = remarks;
}

}  // namespace

void add_traced_run(const TraceSummary& summary, const TracedSetup& setup, Runs& runs) {
  if (summary.iteration_s.empty()) {
    throw_bad_input("no complete iteration was traced, and a run needs one (" + summary.iterations_are + ")");
  }
  check_plan(setup.plan, setup.workflow, setup.cluster);
  Run run;
  run.name = setup.name;
  run.cluster = setup.cluster.name();
  run.workflow = setup.workflow.name;
  run.plan = setup.plan.name;
  run.source = RunSource::trace;
  run.framework = setup.framework;
  run.iteration.samples_s = summary.iteration_s;
  for (const auto& [task, times_s] : summary.tasks_s) {
    if (is_timer_of(setup.workflow, task)) run.tasks[task].samples_s = times_s;
  }
  if (run.tasks.empty()) {
    throw_bad_input("no traced range is a task of workflow " + setup.workflow.name +
                    ": map ranges to tasks with --tasks");
  }
  set_notes(summary, run);
  const bool is_taken =
      std::any_of(runs.runs.begin(), runs.runs.end(), [&](const Run& other) { return other.name == run.name; });
  if (is_taken)
    throw_bad_input("the runs document already has a run named " + run.name +
                    ": choose another name with --name");
  put(runs.clusters, run.cluster, setup.cluster, "cluster");
  put(runs.workflows, run.workflow, setup.workflow, "workflow");
  put(runs.plans, run.plan, setup.plan, "plan");
  runs.runs.push_back(std::move(run));
}

}  // namespace sextant::trace
