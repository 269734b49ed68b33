#include <algorithm>
#include <array>
#include <string>

#include "lab/reproduce/study.h"
#include "sextant/error.h"
#include "sextant/run.h"

namespace sextant::inline lab {
namespace {

struct Setting {
  const char* models;  // as in the names of the published runs: real-7b7b-searched-cudagraph
  const char* graphs;
  double gain;  // Table 6: heuristic over searched, end to end
};
constexpr std::array kSettings = {
    Setting{"7b7b", "cudagraph", 122.6 / 64.0}, Setting{"7b7b", "nocudagraph", 183.0 / 82.2},
    Setting{"70b7b", "cudagraph", 546.8 / 383.1}, Setting{"70b7b", "nocudagraph", 912.3 / 547.4}};
constexpr std::array kPlans = {"searched", "heuristic"};
constexpr std::array kPlanners = {"sha-ea", "mcmc"};

const Run& find_run(const Runs& published, const std::string& name) {
  const auto found = std::find_if(published.runs.begin(), published.runs.end(),
                                  [&](const Run& run) { return run.name == name; });
  if (found == published.runs.end()) throw_bad_input("the published runs have none named " + name);
  return *found;
}

// Planners get the task's execution without what only the published layout says, or with it.
std::vector<Execution> executions_of(const Workflow& workflow, const Plan& plan, RealReading reading) {
  std::vector<Execution> all;
  for (const Task& task : workflow.tasks) {
    Execution execution = plan.tasks.at(task.name).execution;
    if (reading == RealReading::as_read) execution.micro_batches = 0;
    all.push_back(execution);
  }
  return all;
}

// Adds the measurements of one published plan.
void add_measured(Study& study, const std::string& cell, const char* plan, const Run& run) {
  const double iteration_s = run.iteration.median_s();
  study.figures.push_back({"iteration of the published plans",
                           "ReaL, Table 6",
                           Measure::iteration_s,
                           {cell, plan},
                           std::nullopt,
                           iteration_s,
                           iteration_s});
  for (const auto& [task, timing] : run.tasks) {
    study.figures.push_back({"tasks of the published plans",
                             "ReaL, Tables 2 to 6",
                             Measure::task_s,
                             {cell, plan},
                             std::nullopt,
                             timing.median_s(),
                             timing.median_s(),
                             task});
  }
}

void add_setting(Study& study, const Runs& published, const Setting& setting, RealReading reading) {
  const std::string cell = std::string(setting.models) + "/" + setting.graphs;
  const auto run_of = [&](const char* plan) -> const Run& {
    return find_run(published, std::string("real-") + setting.models + "-" + plan + "-" + setting.graphs);
  };
  const Run& searched = run_of(kPlans[0]);
  const Workflow& workflow = published.workflow_of(searched);
  StudyCell one{cell,
                published.cluster_of(searched),
                workflow,
                executions_of(workflow, published.plan_of(searched), reading),
                {}};
  for (const char* plan : kPlans) {
    one.contestants.push_back({plan, "", ContestantPlacement::published, published.plan_of(run_of(plan))});
    add_measured(study, cell, plan, run_of(plan));
  }
  for (const char* planner : kPlanners) one.contestants.push_back({planner, planner});
  study.cells.push_back(std::move(one));
  for (const char* better : {kPlans[0], kPlanners[0], kPlanners[1]}) {
    study.figures.push_back({std::string("gain of ") + better + " over heuristic",
                             "ReaL, Table 6 (searched)",
                             Measure::sequences_per_s,
                             {cell, better},
                             Side{cell, kPlans[1]},
                             setting.gain,
                             setting.gain});
  }
}

}  // namespace

Study real_study(const Runs& published, RealReading reading) {
  Study study{
      reading == RealReading::as_read ? "real" : "real-micro-batches",
      "ReaL: Efficient RLHF Training of Large Language Models with Parameter Reallocation (Mei et al.), "
      "appendix",
      "real",
      {"GPUs: H100, from the paper's body; network as data/gpus.json has it.",
       "Batch of the 70B runs: 4096, by the weak-scaling rule of appendix A; its base setting would say 512.",
       "Whether activations are computed again is unsaid: not, in our prediction of the published plans.",
       // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): a sentence of two lines
       "The coefficients were fitted to these very runs: the times of published plans are in sample "
       "(docs/accuracy.md has those that leave a plan out).",
       "Planners choose micro-batches by size, published plans have their printed number of them.",
       "The gain of sha-ea and of mcmc is held beside that of the plan that ReaL's own search found."},
      {},
      {}};
  for (const Setting& setting : kSettings) add_setting(study, published, setting, reading);
  for (const char* group : {"iteration of the published plans", "tasks of the published plans"}) {
    study.causes.push_back(
        {group, "the residual of a fit of a few coefficients to these runs; docs/accuracy.md has it by task."});
  }
  study.causes.push_back(
      {"gain of searched over heuristic",
       "the ratio of two predictions, each within the residual of the fit (docs/accuracy.md)."});
  for (const char* planner : kPlanners) {
    study.causes.push_back({std::string("gain of ") + planner + " over heuristic",
                            "the planners decode all sequences of a replica in one wave, as vLLM does; ReaL's "
                            "engine cuts a batch into "
                            "micro-batches. Made to cut as ReaL's searched plan does (real-micro-batches), the "
                            "planners gain 1.4 to "
                            "2.9 instead of 2.4 to 3.4 times."});
  }
  return study;
}

}  // namespace sextant::inline lab
