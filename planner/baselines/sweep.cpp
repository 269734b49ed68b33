#include "planner/baselines/sweep.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "planner/space/units.h"

namespace sextant::inline planner {
namespace {

constexpr int kWantedUnits = 32;  // four machines of eight devices one by one

std::vector<UnitClass> sorted(std::vector<UnitClass> units) {
  std::sort(units.begin(), units.end(),
            [](const UnitClass& a, const UnitClass& b) { return a.units < b.units; });
  return units;
}

// Neighbours of one device type, with the same tasks pinned, as one unit.
std::vector<UnitClass> merged(const std::vector<UnitClass>& fine, std::size_t wanted,
                              const PlanRequest& request, const std::vector<int>& marks) {
  const std::size_t maximum = (fine.size() + wanted - 1) / wanted;
  std::vector<UnitClass> coarse;
  std::size_t count = 0;  // in the last one
  const auto kind_of = [&](const UnitClass& unit) {
    const DeviceId first{unit.units.front().front()};
    return std::pair{request.cluster.type_name(first), marks.empty() ? 0 : marks[first.index()]};
  };
  for (const UnitClass& unit : fine) {
    if (coarse.empty() || count == maximum || kind_of(coarse.back()) != kind_of(unit)) {
      coarse.push_back(unit);
      count = 1;
      continue;
    }
    std::vector<std::uint16_t>& devices = coarse.back().units.front();
    devices.insert(devices.end(), unit.units.front().begin(), unit.units.front().end());
    coarse.back().devices += unit.devices;
    ++count;
  }
  return coarse;
}

// The next ascending choice of numbers below `limit`; false after the last.
bool advance(std::vector<std::size_t>& chosen, std::size_t limit) {
  for (std::size_t i = chosen.size(); i-- > 0;) {
    if (chosen[i] + (chosen.size() - i) >= limit) continue;
    ++chosen[i];
    for (std::size_t j = i + 1; j < chosen.size(); ++j) chosen[j] = chosen[j - 1] + 1;
    return true;
  }
  return false;
}

// The sizes of the first part of all splits of the units in two: first those between two device types, then the
// half, the quarters and so on, so that a search that ends early has looked at very different splits.
std::vector<std::size_t> split_sizes(const std::vector<UnitClass>& units, const Cluster& cluster) {
  std::vector<std::size_t> sizes;
  const auto add = [&](std::size_t size) {
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  };
  const auto type_of = [&](std::size_t unit) -> const std::string& {
    return cluster.type_name(DeviceId{units[unit].units.front().front()});
  };
  for (std::size_t size = 1; size < units.size(); ++size) {
    if (type_of(size - 1) != type_of(size)) add(size);
  }
  for (std::size_t parts = 2; parts < 2 * units.size(); parts *= 2) {
    for (std::size_t part = 1; part < parts; ++part) {
      const std::size_t size = part * units.size() / parts;
      if (size > 0 && size < units.size()) add(size);
    }
  }
  return sizes;
}

}  // namespace

Sweep::Sweep(SearchRun& run) : run_(run), arranger_(run, Arranger::Packing::best) {}

void Sweep::look_at(const std::vector<UnitClass>& classes, const DeviceSets& sharing) {
  Scored scored;
  if (run_.is_over() || !arranger_.arrange(classes, sharing, scored)) return;
  descend(classes, sharing, std::move(scored));
}

void Sweep::glance_at(const std::vector<UnitClass>& classes, const DeviceSets& sharing) {
  Glance glance{classes, sharing, {}};
  if (run_.is_over() || !arranger_.arrange(classes, sharing, glance.scored)) return;
  constexpr std::size_t kKept = 4;
  const auto at = std::find_if(glances_.begin(), glances_.end(), [&](const Glance& known) {
    return glance.scored.score.is_better_than(known.scored.score, SearchRun::kRounding);
  });
  glances_.insert(at, std::move(glance));
  if (glances_.size() > kKept) glances_.pop_back();
}

void Sweep::glance_at_one_set(const std::vector<UnitClass>& units) {
  const TaskGrouping together{std::vector<int>(run_.dealt_tasks().size(), 0), 1};
  const std::vector<UnitClass> in_order = sorted(units);
  glance_at(in_order, device_sets_of(together, {UnitShare(units.size(), 1)}));
}

void Sweep::glance_at_splits(const TaskGrouping& grouping, const std::vector<UnitClass>& units) {
  for_each_split(grouping, units,
                 [&](const auto& classes, const DeviceSets& sharing) { glance_at(classes, sharing); });
}

void Sweep::descend_from_best_glances() {
  for (Glance& glance : std::exchange(glances_, {})) {
    if (run_.is_over()) return;
    descend(glance.classes, glance.sharing, std::move(glance.scored));
  }
}

void Sweep::descend(const std::vector<UnitClass>& classes, const DeviceSets& sharing, Scored scored) {
  // Looked up beforehand: a look-up changes the evaluator's current candidate.
  const int tasks = run_.evaluator().task_count();
  const std::vector<std::vector<std::uint16_t>> devices = arranger_.devices_of_tasks(classes, sharing);
  std::vector<const std::vector<Option>*> options;
  options.reserve(devices.size());
  for (int t = 0; t < tasks; ++t)
    options.push_back(&run_.options().of(t, devices[static_cast<std::size_t>(t)]));
  (void)run_.evaluator().evaluate(scored.candidate);
  for (bool improved = true; improved && !run_.is_over();) {
    improved = false;
    for (int t = 0; t < tasks; ++t) {
      const auto at = static_cast<std::size_t>(t);
      improved = improve(t, devices[at], *options[at], scored) || improved;
    }
  }
  if (scored.score.fits()) min_loss_ = std::min(min_loss_, scored.score.loss);
}

bool Sweep::improve(int task, const std::vector<std::uint16_t>& devices, const std::vector<Option>& options,
                    Scored& scored) {
  constexpr double kMinimum = 1e-9;  // relative: less is rounding
  bool improved = false;
  for (const Option& option : options) {
    if (run_.is_over()) break;
    Evaluator& evaluator = run_.evaluator();
    const Shape& shape = evaluator.shapes(task).at(option.shape);
    evaluator.replace_task(task, placed(shape, option.shape, option.order, devices));
    const Score tried = evaluator.score();
    run_.note(tried);
    if (!tried.is_better_than(scored.score, kMinimum)) {
      evaluator.undo();
      continue;
    }
    evaluator.keep();
    scored.score = tried;
    improved = true;
  }
  return improved;
}

TaskGrouping Sweep::of_dealt(const TaskGrouping& grouping) const {
  TaskGrouping dealt{{}, grouping.groups};
  for (const int task : run_.dealt_tasks())
    dealt.group_of.push_back(grouping.group_of[static_cast<std::size_t>(task)]);
  return dealt;
}

bool Sweep::look_beside_pins(const TaskGrouping& grouping, const std::vector<UnitClass>& units) {
  std::set<int> dealt;
  for (const int task : run_.dealt_tasks()) dealt.insert(grouping.group_of[static_cast<std::size_t>(task)]);
  if (dealt.size() == 2) return false;
  const int other = *dealt.begin();
  UnitAssignment deal(2, UnitShare(units.size(), 0));
  bool is_any_left = false;
  for (std::size_t u = 0; u < units.size(); ++u) {
    bool is_taken = false;
    for (int task = 0; task < run_.evaluator().task_count(); ++task) {
      const SearchRun::Pinned* pinned = run_.pinned(task);
      if (pinned == nullptr || grouping.group_of[static_cast<std::size_t>(task)] == other) continue;
      const auto& devices = pinned->devices;
      is_taken = is_taken ||
                 std::find(devices.begin(), devices.end(), units[u].units.front().front()) != devices.end();
    }
    deal[static_cast<std::size_t>(is_taken ? 1 - other : other)][u] = 1;
    is_any_left = is_any_left || !is_taken;
  }
  if (is_any_left) look_at(units, device_sets_of(of_dealt(grouping), deal));
  return is_any_left;
}

void Sweep::look_at_splits(const TaskGrouping& grouping, const std::vector<UnitClass>& units) {
  if (look_beside_pins(grouping, sorted(units))) return;
  for_each_split(grouping, units,
                 [&](const auto& classes, const DeviceSets& sharing) { look_at(classes, sharing); });
}

void Sweep::for_each_split(const TaskGrouping& grouping, const std::vector<UnitClass>& units,
                           const Look& look) {
  for (const std::size_t size : split_sizes(units, run_.request().cluster)) {
    if (run_.is_over()) return;
    split(grouping, units, size, look);
  }
}

void Sweep::split(const TaskGrouping& grouping, const std::vector<UnitClass>& units, std::size_t size,
                  const Look& look) {
  const std::vector<UnitClass> in_order = sorted(units);
  UnitAssignment deal(2, UnitShare(units.size(), 0));
  for (std::size_t u = 0; u < units.size(); ++u) {
    const auto at = std::find_if(in_order.begin(), in_order.end(),
                                 [&](const UnitClass& unit) { return unit.units == units[u].units; });
    deal[u < size ? 0 : 1][static_cast<std::size_t>(at - in_order.begin())] = 1;
  }
  look(in_order, device_sets_of(of_dealt(grouping), deal));
}

void Sweep::look_at_split(const TaskGrouping& grouping, const std::vector<UnitClass>& units, std::size_t size) {
  split(grouping, units, size,
        [&](const auto& classes, const DeviceSets& sharing) { look_at(classes, sharing); });
}

void Sweep::look_at_cuts(const TaskGrouping& grouping, const std::vector<UnitClass>& units) {
  const auto groups = static_cast<std::size_t>(grouping.groups);
  const std::vector<UnitClass> in_order = sorted(units);
  if (in_order.size() < groups) return;
  // The unit that ends each group but the last: every ascending choice of them.
  std::vector<std::size_t> ends(groups - 1);
  std::iota(ends.begin(), ends.end(), std::size_t{0});
  for (bool is_any_left = true; is_any_left && !run_.is_over();) {
    UnitAssignment deal(groups, UnitShare(units.size(), 0));
    for (std::size_t u = 0, group = 0; u < units.size(); ++u) {
      const auto at = std::find_if(in_order.begin(), in_order.end(),
                                   [&](const UnitClass& unit) { return unit.units == units[u].units; });
      deal[group][static_cast<std::size_t>(at - in_order.begin())] = 1;
      if (group < ends.size() && u == ends[group]) ++group;
    }
    look_at(in_order, device_sets_of(grouping, deal));
    is_any_left = advance(ends, units.size() - 1);
  }
}

void Sweep::look_at_one_set() {
  const std::vector<UnitClass> units = units_in_order(run_.request());
  const TaskGrouping together{std::vector<int>(run_.dealt_tasks().size(), 0), 1};
  look_at(units, device_sets_of(together, {UnitShare(units.size(), 1)}));
}

std::vector<UnitClass> units_in_order(const PlanRequest& request) {
  std::vector<UnitClass> units;
  const std::vector<int> marks = marks_of(request.limits.pins, request.cluster);
  for (const UnitClass& of_class : unit_classes(request.cluster, kWantedUnits, marks)) {
    for (const std::vector<std::uint16_t>& unit : of_class.units) units.push_back({of_class.devices, {unit}});
  }
  units = sorted(std::move(units));
  const int maximum = request.limits.max_units;
  return maximum > 0 ? merged(units, static_cast<std::size_t>(maximum), request, marks) : units;
}

}  // namespace sextant::inline planner
