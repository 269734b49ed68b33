#include "calibrate/split.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

const std::string& group_of(const Run& run, HoldOutBy by) {
  switch (by) {
    case HoldOutBy::run:
      return run.name;
    case HoldOutBy::workflow:
      return run.workflow;
    case HoldOutBy::plan:
      return run.plan;
  }
  SEXTANT_CHECK(false);
  return run.name;
}

}  // namespace

Split split_runs(const Runs& runs, double fraction, HoldOutBy by, unsigned seed) {
  std::set<std::string> unique;
  for (const Run& run : runs.runs) unique.insert(group_of(run, by));
  if (unique.size() < 2) throw_bad_input("holding out runs needs at least two groups of runs, got one");
  std::vector<std::string> groups(unique.begin(), unique.end());
  // std::shuffle may differ between standard libraries; this does not.
  std::mt19937 random(seed);
  for (std::size_t i = groups.size() - 1; i > 0; --i) std::swap(groups[i], groups[random() % (i + 1)]);
  const auto wanted = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(groups.size())));
  const std::size_t kept_back = std::clamp<std::size_t>(wanted, 1, groups.size() - 1);
  const std::set<std::string> held(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(kept_back));
  Split split;
  for (const Run& run : runs.runs)
    (held.contains(group_of(run, by)) ? split.held_out : split.fit).push_back(run.name);
  return split;
}

Runs subset(const Runs& runs, const std::function<bool(const Run&)>& keep) {
  Runs out;
  for (const Run& run : runs.runs) {
    if (!keep(run)) continue;
    out.clusters.emplace(run.cluster, runs.cluster_of(run));
    out.workflows.emplace(run.workflow, runs.workflow_of(run));
    out.plans.emplace(run.plan, runs.plan_of(run));
    out.runs.push_back(run);
  }
  return out;
}

Runs subset(const Runs& runs, const std::vector<std::string>& names) {
  const std::set<std::string> wanted(names.begin(), names.end());
  return subset(runs, [&](const Run& run) { return wanted.contains(run.name); });
}

}  // namespace sextant::inline calibrate
