#include "probes/cluster_probe.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/json_value.h"
#include "core/progress.h"
#include "core/units.h"
#include "probes/cluster_assembly.h"
#include "probes/collective/growing_groups.h"
#include "probes/collective/rank_collectives.h"
#include "probes/harness/environment.h"
#include "probes/harness/pinning.h"
#include "probes/harness/probe_context.h"
#include "probes/host/gemm_probe.h"
#include "probes/host/memory_probe.h"
#include "probes/link/link_probe.h"
#include "probes/link/link_rounds.h"
#include "probes/rank_report.h"

namespace sextant {
namespace {

// Half of what the host has is left to everything else.
constexpr double kMemoryShare = 0.5;
// Of a point of a collective: there are many.
constexpr double kCollectiveBudget_s = 0.1;

// Where this rank stands among those of its host.
struct RankPlace {
  std::string host;
  int nth_rank = 0;
  int ranks = 0;
  int usable_cpus = 0;  // different CPUs that the host's ranks may use together
};

RankPlace find_place(Communicator& world) {
  const std::vector<std::string> hosts = world.hosts();
  const std::vector<std::string> cpus_of_rank = exchange_texts(world, Json(allowed_cpus()).dump());
  RankPlace place;
  place.host = hosts[static_cast<std::size_t>(world.rank())];
  std::set<int> cpus;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (hosts[static_cast<std::size_t>(rank)] != place.host) continue;
    if (rank < world.rank()) ++place.nth_rank;
    ++place.ranks;
    for (const int cpu : parse_json(cpus_of_rank[static_cast<std::size_t>(rank)]).get<std::vector<int>>()) {
      cpus.insert(cpu);
    }
  }
  place.usable_cpus = static_cast<int>(cpus.size());
  return place;
}

Agreement agreement_of(Communicator& world) {
  if (world.size() == 1) return [](bool mine) { return mine; };
  return [&world](bool mine) {
    double disagrees = mine ? 0 : 1;
    world.all_reduce_max(std::span(&disagrees, 1));
    return disagrees == 0;
  };
}

void append(std::vector<ProbeResult>& all, std::vector<ProbeResult> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

ProbeResult capacity_result(double memory_bytes, int ranks) {
  if (memory_bytes <= 0) {
    return waived_result("memory/capacity", "bytes", "the kernel does not say how much memory is available");
  }
  ProbeResult result;
  result.name = "memory/capacity";
  result.outcome = ProbeOutcome::measured;
  result.sentence = "available memory of the host divided by its " + std::to_string(ranks) +
                    (ranks == 1 ? " rank" : " ranks");
  result.value = memory_bytes;
  result.unit = "bytes";
  return result;
}

// Whether a rank was told to end it. Collective.
bool is_told_to_stop(Communicator& world, const ProbeHooks& hooks) {
  double told = hooks.should_stop && hooks.should_stop() ? 1 : 0;
  world.all_reduce_max(std::span(&told, 1));
  return told != 0;
}

std::vector<ProbeResult> measure_device(const EnvironmentFacts& facts, int ranks, const ProbeOptions& options,
                                        const ProbeContext& context,
                                        const std::function<void(const char*)>& step) {
  std::vector<ProbeResult> results;
  for (const Precision precision : {Precision::fp32, Precision::fp64, Precision::bf16, Precision::fp16}) {
    step("matrix products");
    append(results, measure_peak_gemm(precision, context));
  }
  if (options.model) {
    step("matrix products of the model");
    const ProbeResult* peak = peak_gemm(results, Precision::fp32);
    append(results, measure_model_gemm(*options.model, options.model_tokens, options.model_tensor_parallel,
                                       peak != nullptr ? peak->value : 1.0, context));
  }
  step("memory bandwidth");
  append(results, measure_memory(choose_memory_sizes(facts, ranks, context.memory_limit_bytes), context));
  return results;
}

// What is said of each pair besides its points.
void append_link_fits(const std::vector<LinkMeasurement>& links, std::vector<ProbeResult>& results) {
  for (const LinkMeasurement& link : links) {
    if (!link.fit) continue;
    ProbeResult latency;
    latency.outcome = ProbeOutcome::measured;
    latency.sentence = link.sentence;
    latency.rank = link.pair.low;
    latency.peer = link.pair.high;
    ProbeResult bandwidth = latency;
    const AlphaBeta& fit = *link.fit;
    latency.name = "link/latency";
    latency.unit = "s";
    latency.value = fit.latency_s;
    latency.spread_fraction = fit.latency_spread_fraction;
    bandwidth.name = "link/bandwidth";
    bandwidth.unit = "bytes/s";
    bandwidth.value = fit.bytes_per_s;
    bandwidth.spread_fraction = fit.bytes_per_s_spread_fraction;
    results.push_back(latency);
    results.push_back(bandwidth);
  }
}

void warn_of_results(const std::vector<ProbeResult>& results, std::vector<std::string>& warnings) {
  const ProbeResult* noisiest = nullptr;
  int noisy = 0;
  for (const ProbeResult& result : results) {
    if (result.outcome == ProbeOutcome::failed) {
      warnings.push_back(result.name + " of rank " + std::to_string(result.rank) +
                         " failed: " + result.sentence + ".");
    }
    if (result.outcome != ProbeOutcome::noisy) continue;
    ++noisy;
    if (noisiest == nullptr || result.spread_fraction > noisiest->spread_fraction) noisiest = &result;
  }
  if (noisiest == nullptr) return;
  warnings.push_back(std::to_string(noisy) + " of " + std::to_string(results.size()) +
                     " points are less well known than asked, worst " + noisiest->name + " of rank " +
                     std::to_string(noisiest->rank) + " (" + format_percent(noisiest->spread_fraction) +
                     "): their values are medians of what the time allowed. Raise the budget of a point, or "
                     "look for other programs.");
}

std::vector<std::string> sentences(const std::string& host, const std::vector<EnvironmentWarning>& warnings) {
  std::vector<std::string> texts;
  texts.reserve(warnings.size());
  for (const EnvironmentWarning& warning : warnings) texts.push_back(host + ": " + warning.sentence());
  return texts;
}

// One rank of the job and what it measures with.
class RankProbe {
 public:
  RankProbe(Communicator& world, const ProbeOptions& options, const ProbeHooks& hooks, Progress* progress)
      : world_(world),
        options_(options),
        hooks_(hooks),
        progress_(progress),
        place_(find_place(world)),
        link_ranks_(world),
        facts_(read_environment(files_)) {
    if (options.pin) pinned_.emplace(place_.nth_rank);
    context_.sampling = sampling_options(options.budget_s_per_point, options.target_spread_fraction);
    context_.agreement = agreement_of(world);
    context_.memory_limit_bytes = kMemoryShare * facts_.memory_available_bytes / place_.ranks;
  }

  [[nodiscard]] RankReport measure_device();
  [[nodiscard]] LinkOutcome measure_links(const RankJournal& done);
  // Of all groups, the same on every rank. `is_interrupted` becomes true where it was.
  [[nodiscard]] std::vector<ProbeResult> measure_collectives(const RankJournal& done, bool& is_interrupted);

 private:
  void step(const std::string& what) const {
    if (hooks_.on_step) hooks_.on_step(what);
    if (progress_ != nullptr) progress_->step(what);
  }
  [[nodiscard]] std::vector<std::string> warnings() const;

  Communicator& world_;
  const ProbeOptions& options_;
  const ProbeHooks& hooks_;
  Progress* progress_;
  SystemFiles files_;
  RankPlace place_;
  LinkRanks link_ranks_;
  EnvironmentFacts facts_;
  std::optional<Pinned> pinned_;
  ProbeContext context_;
};

RankReport RankProbe::measure_device() {
  RankReport report;
  report.rank = world_.rank();
  report.host = place_.host;
  report.cpu_model = facts_.cpu_model;
  report.gemm_library = gemm_library();
  report.settings = network_settings();
  if (pinned_) report.cpu = pinned_->cpu();
  report.memory_bytes = facts_.memory_available_bytes / place_.ranks;
  world_.barrier();
  report.results = sextant::measure_device(facts_, place_.ranks, options_, context_, [&](const char* what) {
    if (is_told_to_stop(world_, hooks_)) throw_machine_failed("interrupted before the devices were measured");
    step(what);
  });
  report.results.push_back(capacity_result(report.memory_bytes, place_.ranks));
  for (ProbeResult& result : report.results) result.rank = world_.rank();
  if (place_.nth_rank == 0) report.warnings = warnings();  // once a host
  return report;
}

std::vector<std::string> RankProbe::warnings() const {
  std::vector<std::string> all;
  for (const auto& judged :
       {judge_environment(facts_, place_.ranks, place_.usable_cpus), judge_gemm_library(facts_, gemm_library()),
        judge_change(facts_, read_environment(files_))}) {
    const auto texts = sentences(place_.host, judged);
    all.insert(all.end(), texts.begin(), texts.end());
  }
  return all;
}

LinkOutcome RankProbe::measure_links(const RankJournal& done) {
  step("links");
  LinkOptions links = rank_link_options(options_);
  links.should_stop = hooks_.should_stop;
  links.on_round = hooks_.on_links;
  links.on_wake = [&] { step("links"); };
  const auto rounds = without(schedule_links(link_ranks_.hosts), done.measured_pairs()).in_order();
  return sextant::measure_links(link_ranks_, rounds, context_, links);
}

std::vector<ProbeResult> RankProbe::measure_collectives(const RankJournal& done, bool& is_interrupted) {
  step("collectives");
  std::vector<ProbeResult> all = done.collectives;
  std::vector<GroupLevel> levels = growing_groups(options_.hosts.of(world_.hosts()));
  std::erase_if(levels, [&](const GroupLevel& level) { return done.levels.contains(level.name); });
  CollectiveOptions collectives;
  collectives.sampling = rank_collective_sampling(options_);
  collectives.total_budget_s = options_.collectives_budget_s;
  collectives.sizes_bytes = rank_collective_sizes_bytes(options_);
  collectives.on_point = [&](const std::string& name) { step(name); };
  const auto make = [&](Communicator& group) {
    return CollectivesOrReason{std::make_unique<RankCollectives>(group, context_.memory_limit_bytes), ""};
  };
  const auto share = [&](const GroupLevel& level, const std::vector<ProbeResult>& mine) {
    std::vector<ProbeResult> of_level;
    for (const std::string& text : exchange_texts(world_, to_json(mine).dump())) {
      const Json json = parse_json(text);
      for (const Json& result : json) of_level.push_back(ProbeResult::parse(JsonView(result)));
    }
    if (world_.rank() == 0 && hooks_.on_collectives) hooks_.on_collectives(level.name, of_level);
    append(all, std::move(of_level));
    step("collectives");
    is_interrupted = is_told_to_stop(world_, hooks_);
    return !is_interrupted;
  };
  static_cast<void>(measure_growing_groups(world_, levels, make, collectives, steady_clock(), share));
  return all;
}

// Rank 0's, on every rank.
void share_points(Communicator& world, std::vector<ProbeResult>& points) {
  const std::string text = exchange_texts(world, to_json(points).dump()).front();
  points.clear();
  const Json json = parse_json(text);
  for (const Json& point : json) points.push_back(ProbeResult::parse(JsonView(point)));
}

// The whole course of it; what it found, not yet made a cluster of.
struct Findings {
  std::vector<RankReport> reports;  // by rank, each with the links that it led
  std::vector<ProbeResult> collectives;
  std::map<int, std::string> lost;
  bool is_interrupted = false;
};

void add_links(Findings& findings, const std::vector<ProbeResult>& points) {
  for (const ProbeResult& point : points) {
    findings.reports[static_cast<std::size_t>(point.rank)].results.push_back(point);
  }
}

std::vector<ProbeResult> points_of(const RankJournal& done) {
  const std::set<RankPair> pairs = done.measured_pairs();
  std::vector<ProbeResult> points;
  for (const ProbeResult& point : done.points) {
    if (pairs.contains({point.rank, point.peer})) points.push_back(point);
  }
  return points;
}

Findings find(Communicator& world, const ProbeOptions& options, const RankJournal& done,
              const ProbeHooks& hooks, Progress* progress) {
  RankProbe probe(world, options, hooks, progress);
  Findings found;
  found.reports = done.devices;
  if (static_cast<int>(done.devices.size()) != world.size()) {
    found.reports = exchange_reports(world, probe.measure_device());
    if (world.rank() == 0 && hooks.on_devices) hooks.on_devices(found.reports);
  }
  LinkOutcome links = probe.measure_links(done);
  found.lost = links.lost;
  found.is_interrupted = links.is_interrupted;
  if (found.lost.empty()) share_points(world, links.points);
  add_links(found, points_of(done));
  add_links(found, links.points);
  if (found.lost.empty() && !found.is_interrupted && world.size() > 1) {
    found.collectives = probe.measure_collectives(done, found.is_interrupted);
  } else {
    found.collectives = done.collectives;
  }
  return found;
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
  Findings found = find(world, options, done, hooks, progress ? &*progress : nullptr);
  progress.reset();

  ClusterProbe probe;
  probe.lost = found.lost;
  probe.is_interrupted = found.is_interrupted;
  if (!found.lost.empty() && world.rank() != 0) return probe;
  for (const RankReport& report : found.reports) {
    probe.warnings.insert(probe.warnings.end(), report.warnings.begin(), report.warnings.end());
    probe.results.insert(probe.results.end(), report.results.begin(), report.results.end());
  }
  append(probe.results, std::move(found.collectives));
  if (world.rank() == 0 && options.on_results) options.on_results(probe.results);
  if (world.size() == 1) {
    probe.results.push_back(waived_links());
  } else {
    append_link_fits(links_of(found.reports), probe.results);
  }
  for (const auto& [rank, why] : found.lost) probe.warnings.push_back(why + ": the rest went on without it.");
  try {
    AssembledCluster assembled =
        assemble_cluster({options.name, options.hosts, !probe.is_whole()}, found.reports);
    probe.warnings.insert(probe.warnings.end(), assembled.warnings.begin(), assembled.warnings.end());
    probe.cluster = std::move(assembled.cluster);
    probe.device_of_rank = std::move(assembled.device_of_rank);
  } catch (const Error& error) {
    if (probe.is_whole()) throw;
    probe.why_no_cluster = error.what();
  }
  warn_of_results(probe.results, probe.warnings);
  return probe;
}

Json samples_to_json(const ClusterProbe& probe) {
  return {{"results", to_json(probe.results)}, {"warnings", probe.warnings}};
}

}  // namespace sextant
