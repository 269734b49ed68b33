#include "planner/sha_ea/arrangement.h"

#include <algorithm>
#include <limits>

namespace sextant {
namespace {

// Bytes of the fullest device if every task took its choice, no matter which of its devices needs the most.
double need_of(const std::vector<const Option*>& chosen) {
  double resident = 0, working = 0;
  for (const Option* option : chosen) {
    resident += option->value.most_resident_bytes;
    working = std::max(working, option->value.most_working_bytes);
  }
  return resident + working;
}

}  // namespace

bool Scored::is_better_than(const Scored& other) const {
  if (score.fits() != other.score.fits()) return score.fits();
  if (!score.fits() && score.excess_bytes != other.score.excess_bytes)
    return score.excess_bytes < other.score.excess_bytes;
  return score.time_s < other.score.time_s;
}

// From the fastest of each on, while they need too much: the change that saves the most bytes for its time.
void Arranger::choose(const std::vector<int>& tasks, const std::vector<std::uint16_t>& devices,
                      Candidate& candidate) {
  double room = std::numeric_limits<double>::infinity();
  for (const std::uint16_t device : devices) room = std::min(room, room_bytes_[device]);
  std::vector<const std::vector<Option>*> all;
  std::vector<const Option*> chosen;
  for (const int task : tasks) {
    all.push_back(&options_.of(task, devices));
    chosen.push_back(&all.back()->front());
  }
  for (double need = need_of(chosen); need > room;) {
    std::size_t best = chosen.size();
    const Option* better = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < all.size(); ++t) {
      const Option* before = chosen[t];
      for (const Option& option : *all[t]) {
        if (option.value.time_s < before->value.time_s) continue;
        chosen[t] = &option;
        const double saved = need - need_of(chosen);
        const double price = (option.value.time_s - before->value.time_s) / saved;
        if (saved > 0 && price < least) {
          least = price;
          best = t;
          better = &option;
        }
      }
      chosen[t] = before;
    }
    if (better == nullptr) break;
    chosen[best] = better;
    need = need_of(chosen);
  }
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Shape& shape = evaluator_.shapes(tasks[t]).at(chosen[t]->shape);
    candidate.tasks[static_cast<std::size_t>(tasks[t])] =
        placed(shape, chosen[t]->shape, chosen[t]->order, devices);
  }
}

bool Arranger::arrange(const Arrangement& arrangement, Scored& scored) {
  const TaskGrouping& grouping = arrangement.grouping;
  for (std::size_t t = 0; t < grouping.group_of.size(); ++t) {
    const auto group = static_cast<std::size_t>(grouping.group_of[t]);
    if (options_.of(static_cast<int>(t), arrangement.devices[group]).empty()) return false;
  }
  scored.candidate.tasks.resize(grouping.group_of.size());
  for (int group = 0; group < grouping.groups; ++group) {
    std::vector<int> tasks;
    for (std::size_t t = 0; t < grouping.group_of.size(); ++t) {
      if (grouping.group_of[t] == group) tasks.push_back(static_cast<int>(t));
    }
    choose(tasks, arrangement.devices[static_cast<std::size_t>(group)], scored.candidate);
  }
  ++evaluations_;
  scored.score = evaluator_.evaluate(scored.candidate);
  return true;
}

}  // namespace sextant
