#include "planner/baselines/sweep.h"

#include <algorithm>

#include "planner/space/units.h"

namespace sextant {
namespace {

constexpr int kWantedUnits = 32;  // four machines of eight devices one by one

}  // namespace

Sweep::Sweep(SearchRun& run)
    : run_(run), arranger_(run.evaluator(), run.options(), rooms_of_devices(run.request())) {}

void Sweep::look_at(const Arrangement& arrangement) {
  Scored scored;
  if (run_.is_over() || !arranger_.arrange(arrangement, scored)) return;
  run_.note(scored.score);
  descend(arrangement, std::move(scored));
}

void Sweep::descend(const Arrangement& arrangement, Scored scored) {
  // Looked up beforehand: a look-up changes the evaluator's current candidate.
  const int tasks = run_.evaluator().task_count();
  std::vector<const std::vector<std::uint16_t>*> devices;
  std::vector<const std::vector<Option>*> options;
  for (int t = 0; t < tasks; ++t) {
    const int group = arrangement.grouping.group_of[static_cast<std::size_t>(t)];
    devices.push_back(&arrangement.devices[static_cast<std::size_t>(group)]);
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
    const Scored tried{{}, evaluator.score()};
    run_.note(tried.score);
    const bool is_rounding = scored.score.fits() && tried.score.time_s >= scored.score.time_s * (1 - kLeast);
    if (!tried.is_better_than(scored) || is_rounding) {
      evaluator.undo();
      continue;
    }
    evaluator.keep();
    scored.score = tried.score;
    improved = true;
  }
  return improved;
}

void Sweep::look_at_splits(const TaskGrouping& grouping, const std::vector<std::vector<std::uint16_t>>& units) {
  for (std::size_t first = 1; first < units.size() && !run_.is_over(); ++first) {
    Arrangement arrangement{grouping, std::vector<std::vector<std::uint16_t>>(2)};
    for (std::size_t u = 0; u < units.size(); ++u) {
      std::vector<std::uint16_t>& set = arrangement.devices[u < first ? 0 : 1];
      set.insert(set.end(), units[u].begin(), units[u].end());
    }
    for (std::vector<std::uint16_t>& set : arrangement.devices) std::sort(set.begin(), set.end());
    look_at(arrangement);
  }
}

void Sweep::look_at_one_set() {
  std::vector<std::uint16_t> all;
  for (int d = 0; d < run_.request().cluster.device_count(); ++d) all.push_back(static_cast<std::uint16_t>(d));
  const std::size_t tasks = run_.request().workflow.tasks.size();
  look_at({{std::vector<int>(tasks, 0), 1}, {all}});
}

std::vector<std::vector<std::uint16_t>> units_in_order(const Cluster& cluster) {
  std::vector<std::vector<std::uint16_t>> units;
  for (const UnitClass& of_class : unit_classes(cluster, kWantedUnits))
    units.insert(units.end(), of_class.units.begin(), of_class.units.end());
  std::sort(units.begin(), units.end());
  return units;
}

}  // namespace sextant
