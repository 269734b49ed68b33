#include "probes/ranks/cluster_probe.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/progress.h"
#include "probes/collective/growing_groups.h"
#include "probes/collective/rank_collectives.h"
#include "probes/gathering/device_gathering.h"
#include "probes/host/gemm_shapes.h"
#include "probes/ranks/core_cluster.h"
#include "probes/ranks/rank_device.h"
#include "probes/schedule/rank_pairs.h"

namespace sextant::inline probes {
namespace {

// The budget of one measurement of a collective: there are many.
constexpr double kCollectiveBudget_s = 0.1;

// A rank says that it is there before each kind of point, of which the longest have a dozen sizes.
LivenessBarrier::Limits limits_of_devices(const ProbeOptions& options) {
  constexpr double kPointsBetween = 12;
  const double silence_s = options.answer_limit_s + kPointsBetween * options.budget_s_per_point;
  return {silence_s, longest_devices_s(options) + 4 * silence_s};
}

// Hooks that also show each step.
ProbeHooks with_progress(ProbeHooks hooks, std::optional<Progress>& progress) {
  if (!progress) return hooks;
  for (auto* on_step : {&hooks.on_step, &hooks.on_common_step}) {
    *on_step = [before = std::move(*on_step), &progress](const std::string& what) {
      if (before) before(what);
      progress->step(what);
    };
  }
  return hooks;
}

// One rank of the job.
class RankProbe {
 public:
  RankProbe(Communicator& world, const ProbeOptions& options, const ProbeJournal& done, const ProbeHooks& hooks)
      : world_(world),
        options_(options),
        done_(done),
        hooks_(hooks),
        device_(world, options),
        gathering_(world, limits_of_devices(options), {}),
        link_ranks_(world) {}

  [[nodiscard]] Findings run() {
    find_devices();
    find_links();
    const bool goes_on = found_.is_whole() && world_.size() > 1;
    found_.collectives = done_.collectives;
    if (goes_on) find_collectives();
    return std::move(found_);
  }

 private:
  // Passes the results so far to the caller.
  void tell_remains() const {
    const Remains remains(found_, hooks_, [options = options_](const Findings& left) {
      return assemble_core_cluster(left, options);
    });
  }
  void find_devices();
  void find_links();
  void find_collectives();

  Communicator& world_;
  const ProbeOptions& options_;
  const ProbeJournal& done_;
  const ProbeHooks& hooks_;
  RankDevice device_;
  DeviceGathering gathering_;
  LinkRanks link_ranks_;
  Findings found_;
};

void RankProbe::find_devices() {
  found_.reports = done_.devices;
  if (static_cast<int>(done_.devices.size()) == world_.size()) return;
  const RankReport mine = device_.measure(gathering_.muster(), hooks_);
  found_.reports = gathering_.gather({mine}, "devices were measured");
  found_.lost = gathering_.muster().lost();
  if (world_.rank() == 0 && hooks_.on_devices) hooks_.on_devices(found_.reports);
}

void RankProbe::find_links() {
  hooks_.step("links");
  LinkOptions options = rank_link_options(options_);
  options.lost = found_.lost;
  options.should_stop = hooks_.should_stop;
  options.on_round = hooks_.on_links;
  options.on_wake = [&] { hooks_.step("links"); };
  PairRounds rounds = rounds_of_ranks(link_ranks_.hosts);
  remove_pairs(rounds, measured_pairs(done_.points));
  LinkOutcome links = measure_links(link_ranks_, rounds, device_.context(), options);
  found_.lost = links.lost;
  found_.is_interrupted = links.is_interrupted;
  if (found_.lost.empty()) links.points = exchange_results(world_, links.points);  // those of rank 0
  found_.add(points_of_measured_pairs(done_.points));
  found_.add(links.points);
}

// Sets the collectives of all groups, the same on every rank.
void RankProbe::find_collectives() {
  tell_remains();
  hooks_.common_step("collectives");
  std::vector<GroupLevel> levels = growing_groups(options_.hosts.of(world_.hosts()));
  std::erase_if(levels, [&](const GroupLevel& level) { return done_.levels.contains(level.name); });
  CollectiveOptions collectives;
  collectives.sampling = rank_collective_sampling(options_);
  collectives.total_budget_s = options_.collectives_budget_s;
  collectives.sizes_bytes = rank_collective_sizes_bytes(options_);
  collectives.on_point = [&](const std::string& name) { hooks_.common_step(name); };
  const auto make = [&](Communicator& group) {
    return CollectivesOrReason{std::make_unique<RankCollectives>(group, device_.context().memory_limit_bytes),
                               ""};
  };
  const auto share = [&](const GroupLevel& level, const std::vector<ProbeResult>& mine) {
    std::vector<ProbeResult> of_level = exchange_results(world_, mine);
    if (world_.rank() == 0 && hooks_.on_collectives) hooks_.on_collectives(level.name, of_level);
    append(found_.collectives, std::move(of_level));
    tell_remains();
    hooks_.common_step("collectives");
    found_.is_interrupted = is_told_to_stop(world_, hooks_);
    return !found_.is_interrupted;
  };
  static_cast<void>(measure_growing_groups(world_, levels, make, collectives, steady_clock(), share));
}

}  // namespace

std::vector<double> rank_collective_sizes_bytes(const ProbeOptions& options) {
  if (options.is_smoke_test) return {8, 65536};
  return {8, 65536, 1 << 20, 16 << 20};
}

LinkOptions rank_link_options(const ProbeOptions& options) {
  LinkOptions links;
  if (options.is_smoke_test) links.message_bytes = {8, 65536, 1 << 20};
  links.answer_limit_s = options.answer_limit_s;
  return links;
}

SamplingOptions rank_collective_sampling(const ProbeOptions& options) {
  return sampling_options(std::min(options.budget_s_per_point, kCollectiveBudget_s),
                          options.target_spread_fraction);
}

double longest_devices_s(const ProbeOptions& options) {
  constexpr double kPoints = 30;  // four precisions of up to five sizes, and memory; a model's come on top
  constexpr double kWithWarmUp = 1.1;
  return kPoints * kWithWarmUp * options.budget_s_per_point;
}

ClusterProbe probe_cluster(Communicator& world, const ProbeOptions& options, const ProbeJournal& done,
                           const ProbeHooks& hooks) {
  if (options.model) {  // complain before anything is measured
    static_cast<void>(gemm_shapes_of(*options.model, options.model_tokens, options.model_tensor_parallel));
  }
  static_cast<void>(options.hosts.of(world.hosts()));  // likewise
  std::optional<Progress> progress;
  if (world.rank() == 0) progress.emplace("probing", 0);
  const Findings found = RankProbe(world, options, done, with_progress(hooks, progress)).run();
  progress.reset();
  if (world.rank() == 0 && options.on_results) options.on_results(found.results());
  if (found.lost.empty() || world.rank() == 0) return assemble_core_cluster(found, options);
  return probe_without_cluster({{}, {}, {}, found.lost, found.is_interrupted});
}

}  // namespace sextant::inline probes
