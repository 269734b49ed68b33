// RL iterations: the tables of ReaL, and the published iterations of other systems.
#include <cmath>

#include "calibrate/families.h"
#include "lab/claims/families.h"
#include "lab/claims/public_fit.h"
#include "lab/claims/shared_priors.h"

namespace sextant::claims {
namespace {

std::string grade_of(const Run& run) {
  const auto found = run.notes.find("grade");
  return found == run.notes.end() ? "" : found->second;
}

// The same fit that sees all and is asked about all.
Fold everything(const Runs& runs) {
  Fold fold{"in sample", {}, {}};
  for (const Run& run : runs.runs) {
    fold.fit.push_back(run.name);
    fold.held_out.push_back(run.name);
  }
  return fold;
}

// The release of a framework whose page has a table for each; runs of others are in every fold.
std::string release_of(const Run& run) {
  const auto version = run.notes.find("version");
  return run.framework != "nemo-rl" || version == run.notes.end() ? "" : version->second;
}

// The four plans of ReaL are each measured with and without CUDA graphs.
std::string real_plan(const Run& run) {
  const std::size_t dash = run.name.rfind('-');
  return run.name.substr(0, dash);
}

}  // namespace

void real(const ClaimContext& context, ClaimReport& report) {
  const Runs published = context.published("rl");
  const Runs all = subset(published, [](const Run& run) { return run.framework == "real"; });
  context.say("real: " + std::to_string(all.runs.size()) + " runs");
  const auto with_graphs = [](const HeldOut& time) { return !time.run.ends_with("-nocudagraph"); };
  const auto tasks = [&](const HeldOut& time) { return is_task(time) && with_graphs(time); };
  const auto iterations = [&](const HeldOut& time) { return is_iteration(time) && with_graphs(time); };
  add_mape(context, report, "real.tasks.in_sample", "the 24 task times of ReaL's tables, in sample", 0.06,
           cross_validate(all, {everything(all)}), tasks);
  const CrossValidation left_out = cross_validate(all, leave_one_out(all, real_plan));
  add_mape(context, report, "real.tasks.leave_one_plan_out",
           "the 24 task times of ReaL's tables, one plan left out", 0.12, left_out, tasks);
  add_mape(context, report, "real.iterations.leave_one_plan_out",
           "ReaL's iterations with CUDA graphs, one plan left out", 0.08, left_out, iterations);
  report.held_out["real"] = summary_of(all, left_out, LeaveOut::plan);
}

void rl(const ClaimContext& context, ClaimReport& report) {
  const Runs published = context.published("rl");
  const Runs all = subset(published, [](const Run& run) {
    return run.framework != "real" && (grade_of(run) == "A" || grade_of(run) == "B");
  });
  context.say("rl: " + std::to_string(all.runs.size()) + " runs");
  const CrossValidation left_out =
      cross_validate(all, leave_one_out(all, [&](const Run& run) { return model_of(all, run); }), {},
                     priors_of_iterations(context));
  add_mape(context, report, "rl.iterations.leave_one_model_out",
           "RL iterations of grade A and B, one model left out", 0.12, left_out, is_iteration);
  add_coverage(report, "rl.iterations.coverage_90", "share inside their 90 % interval, one model left out",
               left_out, is_iteration);
  report.held_out["rl"] = summary_of(all, left_out, LeaveOut::model);
  const CrossValidation releases =
      cross_validate(all, leave_one_out(all, release_of), {}, priors_of_iterations(context));
  add_mape(context, report, "rl.iterations.leave_one_release_out",
           "RL iterations of NeMo RL, one release left out with all its models and GPUs", 0.18, releases,
           is_iteration);
  add_coverage(report, "rl.iterations.release_coverage_90",
               "share inside their 90 % interval, one release of NeMo RL left out", releases, is_iteration);
}

void framework(const ClaimContext& context, ClaimReport& report) {
  const Runs all = joined({context.published("rl"), verl_logs(context)});
  context.say("framework: " + std::to_string(all.runs.size()) + " runs");
  const auto family = [](const Run& run) { return std::string(family_of_framework(run.framework)); };
  const CrossValidation left_out =
      cross_validate(all, leave_one_out(all, family), {}, priors_of_iterations(context));
  add_mape(context, report, "framework.iterations.leave_one_framework_out",
           "all RL iterations, one family of frameworks left out", 0.35, left_out, is_iteration);
  const auto all_times = [](const HeldOut&) { return true; };
  add_coverage(
      report, "framework.coverage_90",
      "share of times of RL tasks and iterations inside their 90 % interval, one family of frameworks left out",
      left_out, all_times);
  report.held_out["any"] = summary_of(all, left_out, LeaveOut::framework);
}

void verl(const ClaimContext& context, ClaimReport& report) {
  const Runs published = context.published("rl");
  const Runs all = joined({subset(published, [](const Run& run) { return run.framework.starts_with("verl"); }),
                           verl_logs(context)});
  context.say("verl: " + std::to_string(all.runs.size()) + " runs");
  add_mape(context, report, "verl.tasks.leave_one_run_out",
           "task times of verl, one run (all bands of a log) left out", 0.12,
           cross_validate(all,
                          leave_one_out(all,
                                        [](const Run& run) {
                                          const auto log = run.notes.find("log");
                                          return log == run.notes.end() ? run.name : log->second;
                                        }),
                          {}, priors_of_iterations(context)),
           is_task);
}

}  // namespace sextant::claims
