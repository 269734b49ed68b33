#include "planner/sha_ea/arrangement.h"

#include <algorithm>

#include "planner/sha_ea/best_packing.h"

namespace sextant::inline planner {

Arranger::Arranger(SearchRun& run, Packing packing)
    : run_(run),
      packing_(packing),
      seen_(run.evaluator().task_count()),
      prospects_(run.request(), run.evaluator()) {
  const Workflow& workflow = run.request().workflow;
  if (!workflow.has_weight_sync()) return;
  for (const Task* task : {&workflow.actor_training(), &workflow.actor_generation()})
    synchronized_.push_back(static_cast<std::size_t>(task - workflow.tasks.data()));
}

const SeenSets& Arranger::seen() {
  for (const auto& [task, devices, options] : run_.options().heard()) seen_.add(task, devices, *options);
  return seen_;
}

std::vector<Corner> Arranger::corners_of(const std::vector<UnitClass>& classes,
                                         const DeviceSets& sharing) const {
  std::vector<Corner> corners;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    for (const Region& region : sharing.regions[c]) {
      const std::uint16_t device = classes[c].units.front().front();
      Corner corner{run_.free_memory_bytes()[device], run_.options().type_of(device), {}};
      for (std::size_t t = 0; t < sharing.set_of.size(); ++t) {
        const int task = run_.dealt_tasks()[t];
        if ((region.sets >> sharing.set_of[t] & 1U) != 0 && run_.pinned(task) == nullptr)
          corner.tasks.push_back(static_cast<std::size_t>(task));
      }
      add_pinned(classes[c].units.front(), corner.tasks);
      if (!corner.tasks.empty()) corners.push_back(std::move(corner));
    }
  }
  return corners;
}

void Arranger::add_pinned(const std::vector<std::uint16_t>& unit, std::vector<std::size_t>& tasks) const {
  for (int task = 0; task < run_.evaluator().task_count(); ++task) {
    const SearchRun::Pinned* pinned = run_.pinned(task);
    if (pinned == nullptr) continue;
    const auto& devices = pinned->devices;
    if (std::find(devices.begin(), devices.end(), unit.front()) != devices.end())
      tasks.push_back(static_cast<std::size_t>(task));
  }
}

int Arranger::pinned_units(const std::vector<UnitClass>& classes) const {
  int units = 0;
  for (const UnitClass& of_class : classes) {
    std::vector<std::size_t> tasks;
    add_pinned(of_class.units.front(), tasks);
    if (!tasks.empty()) units += of_class.count();
  }
  return units;
}

std::vector<Arranger::Devices> Arranger::devices_of_tasks(const std::vector<UnitClass>& classes,
                                                          const DeviceSets& sharing) const {
  const std::vector<Devices> sets = devices_of_sets(classes, sharing);
  std::vector<Devices> devices(static_cast<std::size_t>(run_.evaluator().task_count()));
  for (std::size_t t = 0; t < sharing.set_of.size(); ++t)
    devices[static_cast<std::size_t>(run_.dealt_tasks()[t])] =
        sets[static_cast<std::size_t>(sharing.set_of[t])];
  for (int task = 0; task < run_.evaluator().task_count(); ++task) {
    if (const SearchRun::Pinned* pinned = run_.pinned(task))
      devices[static_cast<std::size_t>(task)] = pinned->devices;
  }
  return devices;
}

// Chooses options one after the other, considering only those whose additional time pays off.
void Arranger::choose_for_sync(const OptionLists& options, const ChosenOptions& chosen,
                               const std::vector<Devices>& devices, Scored& scored) {
  Evaluator& evaluator = run_.evaluator();
  for (const std::size_t t : synchronized_) {
    const int task = static_cast<int>(t);
    const Option* taken = chosen[t];
    for (const Option& option : *options[t]) {
      if (!option.syncs_faster_than(*taken)) continue;
      if (run_.is_over()) return;
      const Shape& shape = evaluator.shapes(task).at(option.shape);
      evaluator.replace_task(task, placed(shape, option.shape, option.order, devices[t]));
      const Score score = evaluator.score();
      run_.note(score);
      if (score.is_better_than(scored.score, SearchRun::kRounding)) {
        evaluator.keep();
        scored.score = score;
        scored.candidate.tasks[t] = evaluator.placement(task);
        taken = &option;
      } else {
        evaluator.undo();
      }
    }
  }
}

// The estimate of a task is not reliable before the task was costed on a number of sets.
bool Arranger::may_beat(const Score& score, const std::vector<Devices>& devices) const {
  constexpr std::size_t kTellingSets = 16;
  if (!score.fits()) return true;
  std::vector<double> times_s;
  for (std::size_t t = 0; t < devices.size(); ++t) {
    if (const std::vector<Option>* known = run_.options().known(static_cast<int>(t), devices[t])) {
      if (known->empty()) return false;
      times_s.push_back(known->front().value.time_s);
      continue;
    }
    const std::optional<double> time_s = prospects_.time_s(t, devices[t]);
    if (!time_s || seen_.count(t) < kTellingSets) return true;
    times_s.push_back(*time_s);
  }
  return prospects_.loss(devices, times_s) < score.loss;
}

bool Arranger::arrange(const std::vector<UnitClass>& classes, const DeviceSets& sharing, Scored& scored,
                       const Score* to_beat) {
  const std::vector<Devices> devices = devices_of_tasks(classes, sharing);
  if (to_beat != nullptr && !may_beat(*to_beat, devices)) return false;
  const auto devices_of = [&](std::size_t task) -> const Devices& { return devices[task]; };
  OptionLists options;
  ChosenOptions chosen;
  for (std::size_t t = 0; t < devices.size(); ++t) {
    options.push_back(&run_.options().of(static_cast<int>(t), devices_of(t)));
    if (options.back()->empty()) return false;
    seen_.add(static_cast<int>(t), devices_of(t), *options.back());
    chosen.push_back(&options.back()->front());
    prospects_.learn(t, devices_of(t), chosen.back()->value.time_s);
  }
  const std::vector<Corner> corners = corners_of(classes, sharing);
  if (packing_ == Packing::fast || !choose_best_fitting(corners, options, chosen))
    choose_fitting(corners, options, chosen);
  scored.candidate.tasks.clear();
  for (std::size_t t = 0; t < chosen.size(); ++t) {
    const Shape& shape = run_.evaluator().shapes(static_cast<int>(t)).at(chosen[t]->shape);
    scored.candidate.tasks.push_back(placed(shape, chosen[t]->shape, chosen[t]->order, devices_of(t)));
  }
  scored.score = run_.evaluator().evaluate(scored.candidate);
  run_.note(scored.score);
  choose_for_sync(options, chosen, devices, scored);
  return true;
}

}  // namespace sextant::inline planner
