// Generation: serving points and published batches.
#include "lab/claims/families.h"

namespace sextant::claims {
void generation(const ClaimContext& context, ClaimReport& report) {
  const Runs all =
      joined({context.published("aiconfigurator"), context.published("blis"), context.published("generation")});
  context.say("generation: " + std::to_string(all.runs.size()) + " runs");
  const CrossValidation left_out =
      cross_validate(all, leave_one_out(all, [&](const Run& run) { return device_types_of(all, run); }));
  add_mape(context, report, "generation.leave_one_gpu_out", "time of a generation batch, one GPU type left out",
           0.12, left_out);
  report.held_out["generation"] = summary_of(all, left_out, LeaveOut::device_type);
  const Runs hybrids = context.published("linear_attention");
  const Runs with_hybrids = joined({all, hybrids});
  const auto is_hybrid = [&](const Run& run) {
    return with_hybrids.workflow_of(run).models.begin()->second.linear_attention.has_value();
  };
  context.say("generation: " + std::to_string(hybrids.runs.size()) + " runs of linear attention");
  add_mape(context, report, "generation.unseen_architecture",
           "time of a batch of Qwen3.5-397B-A17B (linear attention), an architecture that no fit sees", 0.20,
           cross_validate(with_hybrids, leave_one_out(with_hybrids, [&](const Run& run) {
                            return is_hybrid(run) ? "linear attention" : "";
                          })));
}

}  // namespace sextant::claims
