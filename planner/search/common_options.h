// The values that options which are one setting for several tasks can have (EngineRules::common_options).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/search/search_run.h"

namespace sextant::inline planner {

// A value of each rule's options together, by the rule's number; -1: any.
using OptionValues = std::vector<int>;

class CommonOptionValues {
 public:
  // rules: those to obey. References must outlive the object.
  CommonOptionValues(const PlanRequest& request, Evaluator& evaluator,
                     const std::vector<EngineRules::Common>& rules);

  // True if a task's shape has the values of all rules about the task.
  [[nodiscard]] bool has(const OptionValues& values, std::size_t task, int shape);

  // Every choice of values that some execution of each task has.
  [[nodiscard]] std::vector<OptionValues> all();

 private:
  [[nodiscard]] OptionValues values_of(std::size_t task, const TaskPlan& options);
  [[nodiscard]] std::vector<OptionValues> values_of_task(std::size_t task);

  const PlanRequest& request_;
  Evaluator& evaluator_;
  const std::vector<EngineRules::Common>& rules_;
  std::vector<std::map<std::string, int>> numbers_;  // of values, by rule
  // The values of a shape by task, execution, recomputation and micro-batch.
  std::map<std::tuple<std::size_t, int, Recompute, int>, OptionValues> known_;
};

}  // namespace sextant::inline planner
