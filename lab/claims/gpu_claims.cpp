// One GPU, measured by Sextant itself (data/measured/h200): the proxy's iterations and traced ones of a real
// loop.
#include <algorithm>
#include <set>

#include "calibrate/validate.h"
#include "lab/claims/families.h"
#include "sextant/error.h"

namespace sextant::claims {
namespace {

Runs measured(const ClaimContext& context, const std::string& file) {
  return load_document<Runs>(context.data / "measured/h200" / file).content;
}

// Fitted to all but these.
Fold without(const Runs& runs, const std::set<std::string>& held_out) {
  Fold fold{"held out", {}, {}};
  for (const Run& run : runs.runs) {
    (held_out.contains(run.name) ? fold.held_out : fold.fit).push_back(run.name);
  }
  SEXTANT_CHECK(fold.held_out.size() == held_out.size());
  return fold;
}

}  // namespace

void gpu(const ClaimContext& context, ClaimReport& report) {
  const Runs proxy_runs = measured(context, "proxy/runs.json");
  const Runs traced = measured(context, "trace/runs.json");
  context.say("gpu: " + std::to_string(proxy_runs.runs.size() + traced.runs.size()) + " runs");
  constexpr int kThirds = 3;
  const CrossValidation thirds =
      cross_validate(proxy_runs, leave_groups_out(
                                     proxy_runs, [](const Run& run) { return run.workflow; }, kThirds, 1));
  add_mape(context, report, "gpu.proxy.tasks.held_out",
           "task times of proxy runs on one H200, fitted to two thirds of the workflows", 0.06, thirds,
           is_task);
  // Written down before anything was traced (scripts/measure/gpu_trace).
  const CrossValidation others = cross_validate(traced, {without(traced, {"b", "e", "g", "h"})});
  add_mape(context, report, "gpu.trace.iterations.held_out",
           "iterations of a PyTorch GRPO loop traced on one H200, fitted to four configurations", 0.08, others,
           is_iteration);
  // A user's first prediction: with the document that ships, fitted to public training runs.
  const Coefficients shipped = context.shipped("pytorch");
  const Accuracy unfitted = validate(traced, shipped);
  Claim claim;
  claim.name = "gpu.trace.iterations.shipped_coefficients";
  claim.protocol =
      "the same iterations, all eight, by data/coefficients/pytorch.json: fitted to nothing of this machine";
  claim.value = unfitted.held_out_iterations.mape;
  claim.threshold = 0.20;
  claim.records = unfitted.held_out_iterations.count;
  claim.free_coefficients = shipped.fit->free_coefficients;
  report.claims.push_back(std::move(claim));
}

}  // namespace sextant::claims
