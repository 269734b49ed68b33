#include "planner/sha_ea/packing.h"

#include <algorithm>
#include <limits>

namespace sextant::inline planner {
namespace {

constexpr double kNoCap = std::numeric_limits<double>::infinity();

double time_of(const ChosenOptions& chosen) {
  double sum = 0;
  for (const Option* option : chosen) sum += option->value.time_s;
  return sum;
}

class Packing {
 public:
  Packing(const std::vector<Corner>& corners, const OptionLists& options)
      : corners_(corners), options_(options), corners_of_(options.size()) {
    for (std::size_t c = 0; c < corners.size(); ++c) {
      for (const std::size_t task : corners[c].tasks) corners_of_[task].push_back(c);
    }
  }

  [[nodiscard]] double shortage(const ChosenOptions& chosen) const {
    double sum = 0;
    for (const Corner& corner : corners_) {
      const MemoryNeeds needs = needs_of(corner, chosen, options_.size());
      sum += std::max(0.0, needs.resident_bytes + needs.working_bytes - corner.free_memory_bytes);
    }
    return sum;
  }

  // Reduces memory from `chosen` while some is missing, without options whose working bytes exceed the cap, and
  // only while the total time is below `limit_s`.
  void save(double cap_bytes, double limit_s, ChosenOptions& chosen) {
    double together_s = time_of(chosen);
    while (together_s < limit_s && shortage(chosen) > 0) {
      const Option* better = nullptr;
      std::size_t of_task = 0;
      double minimum = std::numeric_limits<double>::infinity();
      for (std::size_t t = 0; t < options_.size(); ++t) {
        if (corners_of_[t].empty()) continue;
        const std::vector<MemoryNeeds> others = needs_of_others(t, chosen);
        const double now = shortage_with(t, *chosen[t], others);
        for (const Option& option : *options_[t]) {
          if (option.value.time_s < chosen[t]->value.time_s || option.value.max_working_bytes > cap_bytes)
            continue;
          const double saved = now - shortage_with(t, option, others);
          const double price = (option.value.time_s - chosen[t]->value.time_s) / saved;
          if (saved <= 0 || price >= minimum) continue;
          minimum = price;
          of_task = t;
          better = &option;
        }
      }
      if (better == nullptr) return;
      together_s += better->value.time_s - chosen[of_task]->value.time_s;
      chosen[of_task] = better;
    }
  }

  // Reverts changes that later changes made unnecessary.
  void take_back(ChosenOptions& chosen) {
    for (std::size_t t = 0; t < options_.size(); ++t) {
      const std::vector<MemoryNeeds> others = needs_of_others(t, chosen);
      for (const Option& option : *options_[t]) {
        if (option.value.time_s >= chosen[t]->value.time_s) break;
        if (shortage_with(t, option, others) > 0) continue;
        chosen[t] = &option;
        break;
      }
    }
  }

  // The fastest options under the cap; for a task without one, the option with the smallest working bytes.
  [[nodiscard]] ChosenOptions fastest_under(double cap_bytes) const {
    ChosenOptions fastest;
    for (const std::vector<Option>* of_task : options_) {
      const Option* found = &of_task->front();
      for (const Option& option : *of_task) {
        if (found->value.max_working_bytes <= cap_bytes) break;
        if (option.value.max_working_bytes < found->value.max_working_bytes) found = &option;
      }
      fastest.push_back(found);
    }
    return fastest;
  }

  // The smallest working bytes of any option of any task.
  [[nodiscard]] double min_working_bytes() const {
    double minimum = kNoCap;
    for (std::size_t t = 0; t < options_.size(); ++t) {
      if (corners_of_[t].empty()) continue;
      for (const Option& option : *options_[t]) minimum = std::min(minimum, option.value.max_working_bytes);
    }
    return minimum;
  }

 private:
  static MemoryNeeds needs_of(const Corner& corner, const ChosenOptions& chosen, std::size_t without) {
    MemoryNeeds needs;
    for (const std::size_t task : corner.tasks) {
      if (task == without) continue;
      const MemoryNeeds of_task = chosen[task]->needs_on(corner.type);
      needs.resident_bytes += of_task.resident_bytes;
      needs.working_bytes = std::max(needs.working_bytes, of_task.working_bytes);
    }
    return needs;
  }

  // The needs of the other tasks, for each corner of the task.
  [[nodiscard]] std::vector<MemoryNeeds> needs_of_others(std::size_t task, const ChosenOptions& chosen) const {
    std::vector<MemoryNeeds> others;
    for (const std::size_t c : corners_of_[task]) others.push_back(needs_of(corners_[c], chosen, task));
    return others;
  }

  // Missing bytes over the task's corners.
  [[nodiscard]] double shortage_with(std::size_t task, const Option& option,
                                     const std::vector<MemoryNeeds>& others) const {
    double sum = 0;
    for (std::size_t i = 0; i < others.size(); ++i) {
      const Corner& corner = corners_[corners_of_[task][i]];
      const MemoryNeeds own = option.needs_on(corner.type);
      const double needed =
          others[i].resident_bytes + own.resident_bytes + std::max(others[i].working_bytes, own.working_bytes);
      sum += std::max(0.0, needed - corner.free_memory_bytes);
    }
    return sum;
  }

  const std::vector<Corner>& corners_;
  const OptionLists& options_;
  std::vector<std::vector<std::size_t>> corners_of_;  // by task
};

}  // namespace

void choose_fitting(const std::vector<Corner>& corners, const OptionLists& options, ChosenOptions& chosen) {
  Packing packing(corners, options);
  if (packing.shortage(chosen) <= 0) return;
  constexpr double kNoLimit = kNoCap;
  packing.save(kNoCap, kNoLimit, chosen);
  const bool fits = packing.shortage(chosen) <= 0;
  if (fits) packing.take_back(chosen);
  const double cap_bytes = packing.min_working_bytes();
  ChosenOptions tried = packing.fastest_under(cap_bytes);
  // Part of the time can be regained, so a start that is somewhat slower may be better in the end.
  constexpr double kSlack = 1.05;
  packing.save(cap_bytes, fits ? kSlack * time_of(chosen) : kNoLimit, tried);
  if (packing.shortage(tried) > 0) return;
  packing.take_back(tried);
  if (!fits || time_of(tried) < time_of(chosen)) chosen = std::move(tried);
}

}  // namespace sextant::inline planner
