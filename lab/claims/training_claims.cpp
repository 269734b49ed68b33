// Training steps: vTrain's homogeneous plans, Sailor's heterogeneous ones, and the published tables.
#include "lab/claims/families.h"

namespace sextant::claims {
namespace {

const Model& actor_of(const Runs& runs, const Run& run) { return runs.workflow_of(run).models.at("actor"); }

int tensor_parallel_of(const Runs& runs, const Run& run) {
  const TaskPlan& plan = runs.plan_of(run).tasks.begin()->second;
  return plan.tensor_parallel(plan.replicas.front().stages.front());
}

bool on_one_node(const Runs& runs, const Run& run) { return runs.cluster_of(run).nodes().size() == 1; }

bool is_memory(const HeldOut& time) { return time.what == kPeakMemory; }
bool is_time(const HeldOut& time) { return time.what != kPeakMemory; }

}  // namespace

void vtrain(const ClaimContext& context, ClaimReport& report) {
  const Runs all = context.published("vtrain");
  const Runs single = subset(all, [&](const Run& run) { return on_one_node(all, run); });
  context.say("vtrain: " + std::to_string(all.runs.size()) + " runs");
  add_mape(context, report, "vtrain.five_fold", "single node, five random folds", 0.06,
           cross_validate(single, random_folds(single, 5, 1)));
  context.say("vtrain: five folds done");
  add_mape(context, report, "vtrain.from_40_runs", "fitted to 40 random single-node runs, ten draws", 0.08,
           cross_validate(single, few_runs(single, 40, 10, 1)));
  context.say("vtrain: 40 runs done");
  add_mape(context, report, "vtrain.leave_hidden_out", "single node, one hidden size left out", 0.10,
           cross_validate(single, leave_one_out(single, [&](const Run& run) {
                            return std::to_string(actor_of(single, run).hidden);
                          })));
  add_mape(context, report, "vtrain.leave_tp8_out", "single node, tensor parallelism 8 left out", 0.12,
           cross_validate(single, leave_one_out(single, [&](const Run& run) {
                            return tensor_parallel_of(single, run) == 8 ? "tp8" : "";
                          })));
  add_mape(context, report, "vtrain.single_to_multi_node", "fitted to one node, 64 to 512 GPUs predicted", 0.15,
           cross_validate(all, leave_one_out(all, [&](const Run& run) {
                            return on_one_node(all, run) ? "" : "several nodes";
                          })));
}

void sailor(const ClaimContext& context, ClaimReport& report) {
  const Runs all = context.published("sailor");
  context.say("sailor: " + std::to_string(all.runs.size()) + " runs");
  const CrossValidation validation = cross_validate(
      all, leave_one_out(all, [&](const Run& run) { return run.peak_memory_bytes ? run.name : ""; }));
  add_mape(context, report, "sailor.time", "iteration time, one plan left out", 0.08, validation, is_time);
  add_mape(context, report, "sailor.memory", "largest memory of a GPU, one plan left out", 0.06, validation,
           is_memory);
  report.held_out["sailor"] = summary_of(all, validation, LeaveOut::plan);
}

// A source is a framework with its own way to measure, so that what a fit learns of one says little of another:
// the counts must be right.
void memory(const ClaimContext& context, ClaimReport& report) {
  const Runs published =
      joined({context.published("training"), context.published("torchtitan"), context.published("sailor")});
  // A plan cannot say what torchtitan's selective recomputation keeps.
  const Runs all = subset(
      published, [](const Run& run) { return run.peak_memory_bytes.has_value() && run.unstated.empty(); });
  context.say("memory: " + std::to_string(all.runs.size()) + " runs");
  const CrossValidation left_out =
      cross_validate(all, leave_one_out(all, [](const Run& run) { return run.framework; }));
  const ErrorSummary errors = left_out.errors(is_memory);
  add_claim(report, "memory.leave_one_source_out.median",
            "largest memory of a GPU in training, one source left out, median error", errors.median, 0.10,
            left_out, errors.count);
  add_claim(report, "memory.leave_one_source_out.p90", "the same, the error that nine of ten stay below",
            errors.p90, 0.30, left_out, errors.count);
}

void training(const ClaimContext& context, ClaimReport& report) {
  const Runs all = context.published("training");
  context.say("training: " + std::to_string(all.runs.size()) + " runs");
  const CrossValidation left_out =
      cross_validate(all, leave_one_out(all, [&](const Run& run) { return model_of(all, run); }));
  add_mape(context, report, "training.leave_one_model_out", "published training steps, one model left out",
           0.08, left_out, is_time);
  report.held_out["training"] = summary_of(all, left_out, LeaveOut::model);
}

}  // namespace sextant::claims
