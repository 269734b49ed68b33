#include "python/questions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sextant/error.h"
#include "sextant/search.h"

namespace sextant::python {
namespace {

constexpr Range kPrompts{1, 100'000'000};
constexpr Range kCount{1, 1'000'000};
constexpr std::int64_t kMaxCount = SearchRecord::kMaxCount;

void take_inputs(Options& options, ModelInputs& inputs) {
  ClusterOptions& cluster = inputs.cluster_in_words;
  WorkflowOptions& workflow = inputs.workflow_in_words;
  options.take("cluster", inputs.cluster);
  options.take("gpus", cluster.gpus);
  options.take("network", cluster.network.inside);
  options.take("network_between", cluster.network.outside);
  options.take("workflow", inputs.workflow);
  options.take("model", workflow.model);
  options.take_choice("algorithm", workflow.algorithm, {{"grpo", Algorithm::grpo}, {"ppo", Algorithm::ppo}});
  options.take_choice("mode", workflow.mode,
                      {{"synchronous", Mode::synchronous},
                       {"one_step_off", Mode::one_step_off},
                       {"asynchronous", Mode::asynchronous}});
  options.take_positive("staleness", workflow.staleness);
  options.take("streamed_parts", workflow.streamed_parts, kCount);
  options.take("prompts", workflow.prompts, kPrompts);
  options.take("responses", workflow.responses, kCount);
  options.take("mini_batches", workflow.mini_batches, kCount);
  options.take("prompt_tokens", workflow.prompt_tokens);
  options.take("response_tokens", workflow.response_tokens);
  options.take("lengths", workflow.lengths);
  options.take("reward_model", workflow.reward_model);
  options.take("critic", workflow.critic);
  options.take_choice("precision", workflow.precision,
                      {{"bf16", Precision::bf16},
                       {"fp16", Precision::fp16},
                       {"fp32", Precision::fp32},
                       {"fp8", Precision::fp8}});
  options.take("framework", inputs.framework);
  options.take("coefficients", inputs.coefficients);
  if (!inputs.cluster.empty() && !cluster.gpus.empty())
    throw_bad_input("cluster and gpus: both describe the cluster, give one of them");
  if (!inputs.workflow.empty() && !workflow.model.empty())
    throw_bad_input("workflow and model: both describe the workflow, give one of them");
}

void take_planner(Options& options, PlannerOptions& planner) {
  options.take("planner", planner.planner);
  options.take_positive("budget_s", planner.budget_s);
  options.take("evaluations", planner.evaluations, Range{1, kMaxCount});
  options.take("seed", planner.seed, Range{0, kMaxCount});
  constexpr int kMaxThreads = 4096;
  options.take("threads", planner.threads, Range{1, kMaxThreads});
  options.take_choice("goal", planner.goal,
                      {{"time", AskedGoal::time},
                       {"cost", AskedGoal::cost},
                       {"devices", AskedGoal::devices},
                       {"mean", AskedGoal::mean},
                       {"p50", AskedGoal::p50},
                       {"p75", AskedGoal::p75},
                       {"p90", AskedGoal::p90},
                       {"p95", AskedGoal::p95},
                       {"p99", AskedGoal::p99}});
  options.take_positive("deadline_s", planner.objective.max_iteration_s);
  options.take_positive("max_usd_per_hour", planner.objective.max_usd_per_hour);
  options.take_positive("max_usd_per_iteration", planner.objective.max_usd_per_iteration);
  for (const auto& [task, devices] : options.texts("pins"))
    planner.pins.devices.push_back(task + "=" + devices);
  options.take("warm_start", planner.warm_start);
}

}  // namespace

PlanCall plan_call(const pybind11::dict& given) {
  Options options(given);
  PlanCall call;
  take_inputs(options, call.question.inputs);
  take_planner(options, call.question.planner);
  options.take("exclude", call.question.excluded);
  options.take("any_layout", call.question.any_layout);
  constexpr double kMinRisk = 0.001, kMaxRisk = 0.5;
  options.take_between("max_memory_risk", call.question.max_memory_risk, kMinRisk, kMaxRisk);
  options.take("explain", call.explains);
  options.expect_all_taken();
  if (call.explains && !call.question.excluded.empty()) throw_bad_input("exclude cannot be used with explain");
  return call;
}

PredictCall predict_call(const pybind11::dict& given) {
  Options options(given);
  PredictCall call;
  take_inputs(options, call.inputs);
  options.take("plan", call.question.plan);
  options.take("train", call.question.layouts.train);
  options.take("rollout", call.question.layouts.rollout);
  options.take("inference", call.question.layouts.inference);
  options.take("sensitivities", call.question.has_sensitivities);
  options.expect_all_taken();
  if (!call.question.plan.empty() && call.question.layouts.is_given())
    throw_bad_input("plan and train, rollout or inference: both describe the plan, give one of them");
  return call;
}

CheckCall check_call(const pybind11::dict& given) {
  Options options(given);
  CheckCall call;
  options.take("runs", call.logs.logs);
  options.take("logs_of", call.logs.format);
  options.take("config", call.logs.configs);
  options.take("gpus", call.logs.configuration.cluster.gpus);
  options.take("coefficients", call.question.coefficients);
  options.take("run", call.question.run);
  options.expect_all_taken();
  return call;
}

CalibrateCall calibrate_call(const pybind11::dict& given) {
  Options options(given);
  CalibrateCall call;
  options.take("runs", call.runs);
  options.take("start", call.start);
  options.take("cross_validate", call.fit.leave_out);
  constexpr Range kFolds{2, 1000};
  options.take("folds", call.fit.max_folds, kFolds);
  constexpr Range kSeed{0, 4'294'967'295};
  options.take("seed", call.fit.seed, kSeed);
  options.expect_all_taken();
  const std::vector<std::string> names = cross_validation_names();
  if (std::find(names.begin(), names.end(), call.fit.leave_out) == names.end()) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    throw_bad_input("cross_validate: expected one of " + all + ", got " + call.fit.leave_out);
  }
  return call;
}

TrainerQuestion export_call(const pybind11::dict& given) {
  Options options(given);
  TrainerQuestion question;
  take_inputs(options, question.inputs);
  options.take("plan", question.plan);
  options.take("to", question.to);
  options.expect_all_taken();
  const std::vector<std::string> names = trainer_names();
  if (std::find(names.begin(), names.end(), question.to) == names.end()) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    throw_bad_input("to: expected one of " + all + ", got " + question.to);
  }
  return question;
}

}  // namespace sextant::python
