// A plan on several ranks against the same workflow on one: every rank runs both.
#pragma once

#include <string>
#include <vector>

#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::test {

struct Layout {
  std::string name;
  TaskPlan generation;
  TaskPlan inference;
  TaskPlan training;
};
[[nodiscard]] Plan plan_of(const Workflow& workflow, const Layout& layout);

// Runs one iteration in parallel and serially and expects: the same tokens, the same losses, the same
// gradients up to the order of summation, and weights of the generation that equal the trained ones.
void expect_equals_serial(const Workflow& workflow, const Plan& plan);

// Runs two iterations and expects the generation's weights to equal the trained ones and times for all tasks.
void expect_runs(const Workflow& workflow, const Plan& plan);

}  // namespace sextant::test
