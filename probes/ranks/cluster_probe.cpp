#include "probes/ranks/cluster_probe.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "core/json_value.h"
#include "core/progress.h"
#include "probes/campaign/findings.h"
#include "probes/collective/growing_groups.h"
#include "probes/collective/rank_collectives.h"
#include "probes/gathering/device_gathering.h"
#include "probes/host/gemm_shapes.h"
#include "probes/ranks/rank_device.h"
#include "probes/schedule/link_rounds.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// The budget of one measurement of a collective: there are many.
constexpr double kCollectiveBudget_s = 0.1;

// Whether a rank was told to end it. Collective.
bool is_told_to_stop(Communicator& world, const ProbeHooks& hooks) {
  double told = hooks.should_stop && hooks.should_stop() ? 1 : 0;
  world.all_reduce_max(std::span(&told, 1));
  return told != 0;
}

// A rank says that it is there before each kind of point, of which the longest have a dozen sizes.
LivenessBarrier::Limits limits_of_devices(const ProbeOptions& options) {
  constexpr double kPointsBetween = 12;
  const double silence_s = options.answer_limit_s + kPointsBetween * options.budget_s_per_point;
  return {silence_s, longest_devices_s(options) + 4 * silence_s};
}

// Rank 0's, on every rank.
void share_points(Communicator& world, std::vector<ProbeResult>& points) {
  const std::string text = exchange_texts(world, to_json(points).dump()).front();
  points.clear();
  const Json json = parse_json(text);
  for (const Json& point : json) points.push_back(ProbeResult::parse(JsonView(point)));
}

// One rank of the job.
class RankProbe {
 public:
  RankProbe(Communicator& world, const ProbeOptions& options, const RankJournal& done, const ProbeHooks& hooks,
            Progress* progress)
      : world_(world),
        options_(options),
        done_(done),
        hooks_(hooks),
        progress_(progress),
        device_(world, options),
        gathering_(world, limits_of_devices(options), {}),
        link_ranks_(world) {}

  [[nodiscard]] ClusterFindings run() {
    find_devices();
    find_links();
    const bool goes_on = found_.is_whole() && world_.size() > 1;
    found_.collectives = done_.collectives;
    if (goes_on) find_collectives();
    return std::move(found_);
  }

 private:
  void step(const std::string& what) const {
    if (hooks_.on_step) hooks_.on_step(what);
    if (progress_ != nullptr) progress_->step(what);
  }
  void common_step(const std::string& what) const {
    if (hooks_.on_common_step) hooks_.on_common_step(what);
    if (progress_ != nullptr) progress_->step(what);
  }
  // Passes the results so far to the caller.
  void tell_remains() const {
    if (world_.rank() != 0 || !hooks_.on_remains) return;
    hooks_.on_remains([found = found_, options = options_](const std::map<int, std::string>& lost) mutable {
      found.lost = lost;
      return conclude(found, options);
    });
  }
  void find_devices();
  void find_links();
  void find_collectives();

  Communicator& world_;
  const ProbeOptions& options_;
  const RankJournal& done_;
  const ProbeHooks& hooks_;
  Progress* progress_;
  RankDevice device_;
  DeviceGathering gathering_;
  LinkRanks link_ranks_;
  ClusterFindings found_;
};

void RankProbe::find_devices() {
  found_.reports = done_.devices;
  if (static_cast<int>(done_.devices.size()) == world_.size()) return;
  const RankReport mine =
      device_.measure(gathering_.muster(), hooks_.should_stop, [this](const std::string& what) { step(what); });
  found_.reports = gathering_.gather({mine}, "devices were measured");
  found_.lost = gathering_.muster().lost();
  if (world_.rank() == 0 && hooks_.on_devices) hooks_.on_devices(found_.reports);
}

void RankProbe::find_links() {
  step("links");
  LinkOptions options = rank_link_options(options_);
  options.lost = found_.lost;
  options.should_stop = hooks_.should_stop;
  options.on_round = hooks_.on_links;
  options.on_wake = [&] { step("links"); };
  const auto rounds = without(schedule_links(link_ranks_.hosts), done_.measured_pairs()).in_order();
  LinkOutcome links = measure_links(link_ranks_, rounds, device_.context(), options);
  found_.lost = links.lost;
  found_.is_interrupted = links.is_interrupted;
  if (found_.lost.empty()) share_points(world_, links.points);
  found_.add_links(done_.points_of_measured_pairs());
  found_.add_links(links.points);
}

// Sets the collectives of all groups, the same on every rank.
void RankProbe::find_collectives() {
  tell_remains();
  common_step("collectives");
  std::vector<GroupLevel> levels = growing_groups(options_.hosts.of(world_.hosts()));
  std::erase_if(levels, [&](const GroupLevel& level) { return done_.levels.contains(level.name); });
  CollectiveOptions collectives;
  collectives.sampling = rank_collective_sampling(options_);
  collectives.total_budget_s = options_.collectives_budget_s;
  collectives.sizes_bytes = rank_collective_sizes_bytes(options_);
  collectives.on_point = [&](const std::string& name) { common_step(name); };
  const auto make = [&](Communicator& group) {
    return CollectivesOrReason{std::make_unique<RankCollectives>(group, device_.context().memory_limit_bytes),
                               ""};
  };
  const auto share = [&](const GroupLevel& level, const std::vector<ProbeResult>& mine) {
    std::vector<ProbeResult> of_level;
    for (const std::string& text : exchange_texts(world_, to_json(mine).dump())) {
      const Json json = parse_json(text);
      for (const Json& result : json) of_level.push_back(ProbeResult::parse(JsonView(result)));
    }
    if (world_.rank() == 0 && hooks_.on_collectives) hooks_.on_collectives(level.name, of_level);
    append(found_.collectives, std::move(of_level));
    tell_remains();
    common_step("collectives");
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

ClusterProbe probe_cluster(Communicator& world, const ProbeOptions& options, const RankJournal& done,
                           const ProbeHooks& hooks) {
  if (options.model) {  // complain before anything is measured
    static_cast<void>(gemm_shapes_of(*options.model, options.model_tokens, options.model_tensor_parallel));
  }
  static_cast<void>(options.hosts.of(world.hosts()));  // likewise
  std::optional<Progress> progress;
  if (world.rank() == 0) progress.emplace("probing", 0);
  const ClusterFindings found = RankProbe(world, options, done, hooks, progress ? &*progress : nullptr).run();
  progress.reset();
  if (world.rank() == 0 && options.on_results) options.on_results(found.results());
  if (found.lost.empty() || world.rank() == 0) return conclude(found, options);
  ClusterProbe probe;
  probe.lost = found.lost;
  probe.is_interrupted = found.is_interrupted;
  return probe;
}

Json samples_to_json(const ClusterProbe& probe) {
  return {{"results", to_json(probe.results)}, {"warnings", probe.warnings}};
}

}  // namespace sextant
