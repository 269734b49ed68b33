#include "probes/ranks/rank_device.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/json_value.h"
#include "probes/assembly/cluster_assembly.h"
#include "probes/host/gemm_probe.h"
#include "probes/host/memory_probe.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// Half of what the host has is left to everything else.
constexpr double kMemoryShare = 0.5;
constexpr double kSmokeBytes = 64.0 * 1024 * 1024;

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

std::vector<std::string> sentences(const std::string& host, const std::vector<EnvironmentWarning>& warnings) {
  std::vector<std::string> texts;
  texts.reserve(warnings.size());
  for (const EnvironmentWarning& warning : warnings) texts.push_back(host + ": " + warning.sentence());
  return texts;
}

}  // namespace

RankDevice::RankDevice(Communicator& world, const ProbeOptions& options)
    : rank_(world.rank()), options_(options), place_(find_place(world)), facts_(read_environment(files_)) {
  if (options.pin) pinned_.emplace(place_.nth_rank);
  context_.sampling = sampling_options(options.budget_s_per_point, options.target_spread_fraction);
  context_.memory_limit_bytes = kMemoryShare * facts_.memory_available_bytes / place_.ranks;
  context_.is_smoke_test = options.is_smoke_test;
  if (options.is_smoke_test) context_.memory_limit_bytes = std::min(context_.memory_limit_bytes, kSmokeBytes);
}

RankReport RankDevice::measure(LivenessBarrier& muster, const ProbeHooks& hooks) {
  RankReport report;
  report.rank = rank_;
  report.host = place_.host;
  report.cpu_model = facts_.cpu_model;
  report.gemm_library = gemm_library();
  report.settings = network_settings();
  if (pinned_) report.cpu = pinned_->cpu();
  report.memory_bytes = facts_.memory_available_bytes / place_.ranks;
  context_.agreement = [&muster](bool is_enough) { return !muster.any(!is_enough); };
  report.results = measure_points([&](const char* what) {
    muster.show();
    if (muster.any(hooks.should_stop && hooks.should_stop()))
      throw_machine_failed("interrupted before the devices were measured");
    hooks.step(what);
  });
  context_.agreement = ProbeContext().agreement;
  report.results.push_back(capacity_result(report.memory_bytes, place_.ranks));
  for (ProbeResult& result : report.results) result.rank = rank_;
  if (place_.nth_rank == 0) report.warnings = warnings();  // once a host
  return report;
}

std::vector<ProbeResult> RankDevice::measure_points(const std::function<void(const char*)>& before) {
  std::vector<ProbeResult> results;
  for (const Precision precision : {Precision::fp32, Precision::fp64, Precision::bf16, Precision::fp16}) {
    before("matrix products");
    append(results, measure_peak_gemm(precision, context_));
  }
  if (options_.model) {
    before("matrix products of the model");
    const ProbeResult* peak = peak_gemm(results, Precision::fp32);
    append(results, measure_model_gemm(*options_.model, options_.model_tokens, options_.model_tensor_parallel,
                                       peak != nullptr ? peak->value : 1.0, context_));
  }
  before("memory bandwidth");
  append(results,
         measure_memory(choose_memory_sizes(facts_, place_.ranks, context_.memory_limit_bytes), context_));
  return results;
}

std::vector<std::string> RankDevice::warnings() const {
  std::vector<std::string> all;
  for (const auto& judged :
       {judge_environment(facts_, place_.ranks, place_.usable_cpus), judge_gemm_library(facts_, gemm_library()),
        judge_change(facts_, read_environment(files_))}) {
    const auto texts = sentences(place_.host, judged);
    all.insert(all.end(), texts.begin(), texts.end());
  }
  return all;
}

}  // namespace sextant::inline probes
