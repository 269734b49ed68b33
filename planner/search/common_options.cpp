#include "planner/search/common_options.h"

#include <algorithm>
#include <set>

namespace sextant::inline planner {

CommonOptionValues::CommonOptionValues(const PlanRequest& request, Evaluator& evaluator,
                                       const std::vector<EngineRules::Common>& rules)
    : request_(request), evaluator_(evaluator), rules_(rules), numbers_(rules.size()) {}

OptionValues CommonOptionValues::values_of(std::size_t task, const TaskPlan& options) {
  OptionValues values(rules_.size(), -1);
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    const std::vector<std::size_t>& tasks = rules_[r].tasks;
    if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) continue;
    std::string text;
    for (const std::string& option : rules_[r].options) text += option_of(options, option) + ";";
    values[r] = numbers_[r].try_emplace(text, static_cast<int>(numbers_[r].size())).first->second;
  }
  return values;
}

bool CommonOptionValues::has(const OptionValues& values, std::size_t task, int shape) {
  const int t = static_cast<int>(task);
  const Shape& of = evaluator_.shapes(t).at(shape);
  const auto [entry, is_new] = known_.try_emplace({task, of.execution, of.recompute, of.micro_batch_sequences});
  if (is_new) {
    TaskPlan options;
    options.execution = evaluator_.execution(t, of);
    options.recompute = of.recompute;
    options.micro_batch_sequences = of.micro_batch_sequences;
    entry->second = values_of(task, options);
  }
  const OptionValues& own = entry->second;
  for (std::size_t r = 0; r < values.size(); ++r) {
    if (own[r] >= 0 && values[r] >= 0 && own[r] != values[r]) return false;
  }
  return true;
}

std::vector<OptionValues> CommonOptionValues::values_of_task(std::size_t task) {
  const TaskChoices& choices = choices_for(request_.choices, task);
  const Task& of = request_.workflow.tasks[task];
  const std::vector<int>& sizes = choices.micro_batch_sequences.empty() ? request_.limits.micro_batch_sequences
                                                                        : choices.micro_batch_sequences;
  std::set<OptionValues> values;
  TaskPlan options;
  for (const Execution& execution : choices.executions) {
    options.execution = execution;
    for (const Recompute recompute : recompute_choices(of.kind, choices, request_.limits.try_recompute)) {
      options.recompute = recompute;
      for (const int size : sizes) {
        if (execution.micro_batch_tokens > 0 && size != sizes.front()) continue;  // the size has no effect
        options.micro_batch_sequences = size;
        values.insert(values_of(task, options));
      }
    }
  }
  return {values.begin(), values.end()};
}

std::vector<OptionValues> CommonOptionValues::all() {
  constexpr std::size_t kMaximum = 4096;  // of a natural join, whose size is the product of the rules'
  std::vector<OptionValues> joined{OptionValues(rules_.size(), -1)};
  std::set<std::size_t> tasks;
  for (const EngineRules::Common& rule : rules_) tasks.insert(rule.tasks.begin(), rule.tasks.end());
  for (const std::size_t task : tasks) {
    const std::vector<OptionValues> of_task = values_of_task(task);
    std::set<OptionValues> next;
    for (const OptionValues& values : joined) {
      for (const OptionValues& own : of_task) {
        OptionValues both = values;
        bool agree = true;
        for (std::size_t r = 0; r < both.size() && agree; ++r) {
          agree = own[r] < 0 || both[r] < 0 || own[r] == both[r];
          both[r] = std::max(both[r], own[r]);
        }
        if (agree && next.size() < kMaximum) next.insert(std::move(both));
      }
    }
    joined.assign(next.begin(), next.end());
  }
  return joined;
}

}  // namespace sextant::inline planner
