// What the ways of measuring the GPUs of a job's ranks (gpu_ranks.h) share.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "probes/gathering/device_gathering.h"
#include "probes/gpu/gpu_ranks.h"

namespace sextant {

[[nodiscard]] std::vector<std::string> bus_ids(const std::vector<GpuFacts>& gpus);
[[nodiscard]] GpuPlace place_of(const GpuTools& tools, const GpuFacts& gpu, const std::string& host,
                                const std::vector<std::string>& of_host);
[[nodiscard]] KindOfPair kinds_of(std::vector<GpuPlace> places);
[[nodiscard]] RankReport report_of(const GpuProbe& probe, const GpuFacts& gpu, const GpuPlace& place,
                                   const GpuTools& tools);

// Whether a rank was told to end it. Collective.
[[nodiscard]] bool is_told_to_stop(Communicator& ranks, const ProbeHooks& hooks);
// Of all ranks, on every rank. Collective.
[[nodiscard]] std::vector<ProbeResult> exchange_results(Communicator& ranks,
                                                        const std::vector<ProbeResult>& mine);

void step(const ProbeHooks& hooks, const std::string& what);
// Where nobody can go on without all the others.
void common_step(const ProbeHooks& hooks, const std::string& what);
// Options of which each point is a step, too.
[[nodiscard]] GpuProbeOptions with_steps(GpuProbeOptions options, const ProbeHooks& hooks);

// How long a rank may say nothing, and how long until all meet, where each measures so many GPUs.
[[nodiscard]] LivenessBarrier::Limits gpu_limits(const GpuClusterOptions& options, int gpus);

// To the hook that it is for: of a device and copies, or of NCCL between two.
void hand_over(const std::vector<ProbeResult>& points, const ProbeHooks& hooks);

// With other numbers: `number` of a rank, and of a peer where there is one.
[[nodiscard]] std::vector<ProbeResult> renumbered(std::vector<ProbeResult> results,
                                                  const std::function<int(int)>& number);
// Those of the ranks from `first` on, so many, numbered from 0; between two only where both are of them.
[[nodiscard]] std::vector<ProbeResult> numbered_from(const std::vector<ProbeResult>& results, int first,
                                                     int count);

// NCCL's options, of which each point is a step, too.
[[nodiscard]] CollectiveOptions with_common_steps(CollectiveOptions options, const ProbeHooks& hooks);

// To the reports of the GPUs that led them.
void add_results(std::vector<RankReport>& reports, const std::vector<ProbeResult>& results);

// What is left at rank 0 where a rank is lost within NCCL: the devices, and what NCCL had finished.
class NcclRemains {
 public:
  NcclRemains(const GpuRanks& found, const GpuClusterOptions& options);
  void add(const std::vector<ProbeResult>& results);

 private:
  struct State {
    std::mutex mutex;
    GpuRanks found;
  };
  std::shared_ptr<State> state_;
};

// What each of several threads hands over in turn, together once all have.
class OfAllThreads {
 public:
  OfAllThreads(std::size_t threads, std::function<void(const std::vector<ProbeResult>&)> on_all)
      : threads_(threads), on_all_(std::move(on_all)) {}
  void add(const std::vector<ProbeResult>& mine);

 private:
  std::size_t threads_;
  std::function<void(const std::vector<ProbeResult>&)> on_all_;
  std::mutex mutex_;
  std::size_t have_added_ = 0;
  std::vector<ProbeResult> all_;
};

}  // namespace sextant
