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
}

}  // namespace sextant::claims
