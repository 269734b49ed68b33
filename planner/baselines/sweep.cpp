#include "planner/baselines/sweep.h"

#include <algorithm>

#include "planner/space/units.h"

namespace sextant {
namespace {

constexpr int kWantedUnits = 32;  // four machines of eight devices one by one

std::vector<UnitClass> sorted(std::vector<UnitClass> units) {
  std::sort(units.begin(), units.end(),
            [](const UnitClass& a, const UnitClass& b) { return a.units < b.units; });
  return units;
}

}  // namespace

Sweep::Sweep(SearchRun& run) : run_(run), arranger_(run) {}

void Sweep::look_at(const std::vector<UnitClass>& classes, const Sharing& sharing) {
  Scored scored;
  if (run_.is_over() || !arranger_.arrange(classes, sharing, scored)) return;
  descend(classes, sharing, std::move(scored));
}

void Sweep::descend(const std::vector<UnitClass>& classes, const Sharing& sharing, Scored scored) {
  // Looked up beforehand: a look-up changes the evaluator's current candidate.
  const int tasks = run_.evaluator().task_count();
  const std::vector<std::vector<std::uint16_t>> sets = devices_of_sets(classes, sharing);
  std::vector<const std::vector<std::uint16_t>*> devices;
  std::vector<const std::vector<Option>*> options;
  for (int t = 0; t < tasks; ++t) {
    devices.push_back(&sets[static_cast<std::size_t>(sharing.set_of[static_cast<std::size_t>(t)])]);
    options.push_back(&run_.options().of(t, *devices.back()));
  }
  (void)run_.evaluator().evaluate(scored.candidate);
  for (bool improved = true; improved && !run_.is_over();) {
    improved = false;
    for (int t = 0; t < tasks; ++t) {
      const auto at = static_cast<std::size_t>(t);
      improved = improve(t, *devices[at], *options[at], scored) || improved;
    }
  }
}

bool Sweep::improve(int task, const std::vector<std::uint16_t>& devices, const std::vector<Option>& options,
                    Scored& scored) {
  constexpr double kLeast = 1e-9;  // relative: less is rounding
  bool improved = false;
  for (const Option& option : options) {
    if (run_.is_over()) break;
    Evaluator& evaluator = run_.evaluator();
    const Shape& shape = evaluator.shapes(task).at(option.shape);
    evaluator.replace_task(task, placed(shape, option.shape, option.order, devices));
    const Score tried = evaluator.score();
    run_.note(tried);
    if (!tried.is_better_than(scored.score, kLeast)) {
      evaluator.undo();
      continue;
    }
    evaluator.keep();
    scored.score = tried;
    improved = true;
  }
  return improved;
}

void Sweep::look_at_splits(const TaskGrouping& grouping, const std::vector<UnitClass>& units) {
  const std::vector<UnitClass> in_order = sorted(units);
  Deal deal(2, UnitShare(units.size(), 0));
  deal[1].assign(units.size(), 1);
  for (std::size_t first = 0; first + 1 < units.size() && !run_.is_over(); ++first) {
    const auto at = std::find_if(in_order.begin(), in_order.end(),
                                 [&](const UnitClass& unit) { return unit.units == units[first].units; });
    const auto unit = static_cast<std::size_t>(at - in_order.begin());
    std::swap(deal[0][unit], deal[1][unit]);
    look_at(in_order, sharing_of(grouping, deal));
  }
}

void Sweep::look_at_one_set() {
  const std::vector<UnitClass> units = units_in_order(run_.request().cluster);
  const TaskGrouping together{std::vector<int>(run_.request().workflow.tasks.size(), 0), 1};
  look_at(units, sharing_of(together, {UnitShare(units.size(), 1)}));
}

std::vector<UnitClass> units_in_order(const Cluster& cluster) {
  std::vector<UnitClass> units;
  for (const UnitClass& of_class : unit_classes(cluster, kWantedUnits)) {
    for (const std::vector<std::uint16_t>& unit : of_class.units) units.push_back({of_class.devices, {unit}});
  }
  return sorted(std::move(units));
}

}  // namespace sextant
