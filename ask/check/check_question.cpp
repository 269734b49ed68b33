#include "ask/check/check_question.h"

#include "ask/coefficient_source.h"
#include "sextant/error.h"

namespace sextant::inline ask {

void check_runs(const CheckQuestion& question, const Runs& runs,
                const std::function<void(const CheckedRun&)>& take) {
  bool is_found = false;
  for (const Run& run : runs.runs) {
    if (!question.run.empty() && run.name != question.run) continue;
    is_found = true;
    const ChosenCoefficients chosen =
        choose_coefficients(question.coefficients, run.framework, runs.cluster_of(run));
    take(
        {run,
         verdict_on(run, {runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run)}, chosen.coefficients),
         chosen.notes});
  }
  if (!is_found)
    throw_bad_input(question.run.empty() ? "there is no run to check"
                                         : "there is no run \"" + question.run + "\"");
}

}  // namespace sextant::inline ask
