#include "planner/baselines/random_candidates.h"

#include <algorithm>
#include <numeric>

namespace sextant::inline planner {

RandomCandidates::RandomCandidates(SearchRun& run)
    : run_(run),
      limits_(shape_limits_of(run.request())),
      devices_(static_cast<std::size_t>(run.request().cluster.device_count())),
      known_shapes_(static_cast<std::size_t>(run.evaluator().task_count())) {
  std::iota(devices_.begin(), devices_.end(), std::uint16_t{0});
}

const std::vector<int>& RandomCandidates::shapes_on(int task, int devices) {
  const Workflow& workflow = run_.request().workflow;
  const auto t = static_cast<std::size_t>(task);
  const auto [entry, is_new] = known_shapes_[t].try_emplace(devices);
  if (!is_new) return entry->second;
  for (const Shape& shape : shapes_of(workflow.tasks[t], workflow, devices, limits_))
    entry->second.push_back(run_.evaluator().shapes(task).add(shape));
  return entry->second;
}

const Task* RandomCandidates::task_without_shapes() {
  for (int t = 0; t < run_.evaluator().task_count(); ++t) {
    bool has_one = false;
    for (int count = 1; count <= static_cast<int>(devices_.size()) && !has_one; ++count)
      has_one = !shapes_on(t, count).empty();
    if (!has_one) return &run_.request().workflow.tasks[static_cast<std::size_t>(t)];
  }
  return nullptr;
}

Placement RandomCandidates::pinned_placement(int task, const SearchRun::Pinned& pinned,
                                             std::mt19937_64& random) {
  if (pinned.has_layout) return {run_.options().of(task, pinned.devices).front().shape, pinned.devices};
  const std::vector<int>& shapes = shapes_on(task, static_cast<int>(pinned.devices.size()));
  Placement placement{shapes[random() % shapes.size()], pinned.devices};
  if (random() % 2 == 0) return placement;
  for (std::size_t i = placement.devices.size(); i > 1; --i)
    std::swap(placement.devices[i - 1], placement.devices[random() % i]);
  return placement;
}

Placement RandomCandidates::placement(int task, std::mt19937_64& random) {
  if (const SearchRun::Pinned* pinned = run_.pinned(task)) return pinned_placement(task, *pinned, random);
  const std::size_t all = devices_.size();
  const std::vector<int>* shapes = nullptr;
  std::size_t count = 0;
  do {
    count = 1 + random() % all;
    shapes = &shapes_on(task, static_cast<int>(count));
  } while (shapes->empty());
  Placement placement;
  placement.shape = (*shapes)[random() % shapes->size()];
  placement.devices.resize(count);
  if (random() % 2 == 0) {
    std::iota(placement.devices.begin(), placement.devices.end(),
              static_cast<std::uint16_t>(random() % (all - count + 1)));
    return placement;
  }
  // The first steps of Fisher and Yates's shuffle.
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(devices_[i], devices_[i + random() % (all - i)]);
    placement.devices[i] = devices_[i];
  }
  return placement;
}

Candidate RandomCandidates::candidate(std::mt19937_64& random) {
  Candidate candidate;
  for (int t = 0; t < run_.evaluator().task_count(); ++t) candidate.tasks.push_back(placement(t, random));
  return candidate;
}

}  // namespace sextant::inline planner
