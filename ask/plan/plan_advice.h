// Advice on a plan or on why there is none: sentences that need short searches of their own.
#pragma once

#include <optional>
#include <string>

#include "ask/plan/plan_question.h"
#include "ask/plan/plan_within_risk.h"
#include "sextant/framework_profile.h"

namespace sextant::inline ask {

struct Advice {
  // The change that would make a plan fit, to append to the message of an answer without plan: "; a larger --budget
  // finds one". Empty: none is known, or the search was interrupted.
  std::string text;
  std::optional<PlanResult>
      plan;  // one that needs no change, found after a budget of time was over: the answer
};

// profile: the framework whose layouts the search respects, or null.
[[nodiscard]] Advice advice_without_plan(const PlanRequest& request, const FrameworkProfile* profile,
                                         const PlanOutput& answer);

// Makes a plan that the advice holds the answer.
void take_plan(const PlanInputs& asked, PlanResult plan, PlanOutput& answer);

// The plan is of any layout. Says how much longer an iteration is in a layout that the framework can run.
[[nodiscard]] std::string cost_of_limits(const PlanInputs& asked, const PlanResult& found);

// Says so if waiting for each other would be faster: generation and training that overlap on devices of their own
// are as fast as the slower of them, and small clusters cannot be cut in the right ratio. Empty: it would not.
[[nodiscard]] std::string gain_of_synchronous(const PlanInputs& asked, const FrameworkProfile* profile,
                                              const PlanResult& found);

// Says so if a batch that all devices can share evenly makes more sequences a second: the framework splits batches
// evenly, and the plan leaves devices idle. Empty: it would not, or such a batch is far from the asked one.
[[nodiscard]] std::string gain_of_another_batch(const PlanInputs& asked, const FrameworkProfile* profile,
                                                const PlanResult& found);

// The question names a framework that has several trainers, such as verl, and the answer is of its usual one. Says so if
// another one would be faster, or has a plan where this one has none (found: null) or none that keeps the memory risk.
// Empty: none would.
[[nodiscard]] std::string gain_of_another_trainer(const PlanQuestion& question, const PlanInputs& asked,
                                                  const PlanResult* found, bool is_above_risk = false);

}  // namespace sextant::inline ask
