#include "probes/gpu/gpu_ranks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "probes/gpu/gpu_hosts.h"
#include "probes/gpu/gpu_of_rank.h"
#include "probes/gpu/gpu_rank_steps.h"
#include "probes/gpu/nccl_of_job.h"
#include "probes/topology/gpu_place.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// This host's GPUs that ranks have, if this rank sees them all.
std::vector<GpuFacts> all_of_host(const std::vector<GpuFacts>& visible,
                                  const std::vector<std::string>& wanted) {
  std::vector<GpuFacts> found;
  for (const std::string& bus_id : wanted) {
    const auto gpu =
        std::find_if(visible.begin(), visible.end(), [&](const auto& one) { return one.bus_id == bus_id; });
    if (gpu == visible.end()) return {};
    found.push_back(*gpu);
  }
  return found;
}

// One GPU of a job with a rank for each.
class OwnGpu {
 public:
  OwnGpu(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options,
         const GpusOfRanks& shared)
      : ranks_(ranks),
        tools_(tools),
        options_(options),
        shared_(shared),
        mine_(shared.mine),
        gathering_(ranks, gpu_limits(options, static_cast<int>(shared.ranks_of_host(ranks.rank()).size())),
                   [this](const auto& points) { hand_over(points, options_.hooks); }) {
    mine_.index = ranks.rank();
    // A rank that is shown one GPU can still ask the driver about those of its neighbours.
    place_ = place_of(tools, mine_, shared.hosts[static_cast<std::size_t>(ranks.rank())],
                      shared.bus_ids_of_host(ranks.rank()));
  }

  [[nodiscard]] GpuRanks measure() {
    measure_device();
    job_.found.warnings = shared_.warnings_of_idle_gpus();
    if (!job_.found.lost.empty()) return std::move(job_);
    NcclMembers members{shared_.mine.index, {}, shared_.hosts, kinds_of(job_.found.reports)};
    for (int rank = 0; rank < ranks_.size(); ++rank) members.numbers.push_back(rank);
    options_.hooks.common_step("NCCL");
    measure_nccl_of_job(ranks_, tools_, options_, options_.hooks, members, job_);
    return std::move(job_);
  }

 private:
  [[nodiscard]] const std::map<int, std::string>& lost() { return gathering_.muster().lost(); }
  [[nodiscard]] GpuProbeOptions options_of_device() { return with_steps(options_.gpus, options_.hooks); }

  // The GPU, and of the first rank of a host the copies to its neighbours.
  void measure_device() {
    GpuProbeOptions own = options_of_device();
    own.only_gpu = shared_.mine.index;
    const auto here = [index = shared_.mine.index](int) { return index; };
    const auto in_the_job = [this](int) { return ranks_.rank(); };
    own.done = renumbered(numbered_from(options_.done.device_points, ranks_.rank(), 1), here);
    own.on_result = [&](const ProbeResult& result) { gathering_.tell(renumbered({result}, in_the_job)); };
    job_.gpus = probe_gpus(tools_.devices, tools_.sensors, own, tools_.clock);
    for (GpuFacts& gpu : job_.gpus.devices) gpu.index = ranks_.rank();
    job_.gpus.results = renumbered(std::move(job_.gpus.results), in_the_job);
    gathering_.muster().meet("GPUs were measured");
    options_.hooks.step("copies between GPUs");
    std::vector<ProbeResult> copies = measure_peer_copies();
    RankReport report = report_of(job_.gpus, mine_, place_, tools_);
    append(report.results, copies);  // those of neighbours, too
    append(job_.gpus.results, std::move(copies));
    job_.found.reports = gathering_.gather({report}, "GPUs copied to each other");
    job_.found.lost = lost();
  }

  // If the first rank of a host sees all its GPUs, it measures the copies between them while the others wait.
  [[nodiscard]] std::vector<ProbeResult> measure_peer_copies() {
    const std::vector<int> of_host = shared_.ranks_of_host(ranks_.rank());
    const bool is_whole =
        std::none_of(of_host.begin(), of_host.end(), [this](int rank) { return lost().contains(rank); });
    if (of_host.size() < 2 || of_host.front() != ranks_.rank() || !is_whole) return {};
    const auto gpus = all_of_host(tools_.devices.list(), shared_.bus_ids_of_host(ranks_.rank()));
    std::map<int, int> rank_of, gpu_of;
    for (std::size_t nth = 0; nth < gpus.size(); ++nth) {
      rank_of[gpus[nth].index] = of_host[nth];
      gpu_of[of_host[nth]] = gpus[nth].index;
    }
    const auto in_the_job = [&](int gpu) { return rank_of.at(gpu); };
    GpuProbeOptions own = options_of_device();
    for (const ProbeResult& result : options_.done.device_points) {
      if (result.peer < 0 || !gpu_of.contains(result.rank) || !gpu_of.contains(result.peer)) continue;
      own.done.push_back(renumbered({result}, [&](int rank) { return gpu_of.at(rank); }).front());
    }
    own.on_result = [&](const ProbeResult& result) { gathering_.tell(renumbered({result}, in_the_job)); };
    return renumbered(probe_gpu_links(tools_.devices, gpus, tools_.sensors, own, tools_.clock), in_the_job);
  }

  Communicator& ranks_;
  const GpuTools& tools_;
  const GpuClusterOptions& options_;
  const GpusOfRanks& shared_;
  GpuFacts mine_;
  DeviceGathering gathering_;
  GpuPlace place_;
  GpuRanks job_;
};

}  // namespace

GpuRanks measure_gpu_ranks(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options) {
  if (ranks.size() == 1) return measure_this_host(ranks, tools, options);
  const GpusOfRanks shared = share_out_gpus(ranks, tools.devices);
  if (const std::string why = shared.why_not_whole(); !why.empty()) {
    const bool is_absent = std::any_of(shared.absences.begin(), shared.absences.end(),
                                       [](const std::string& absence) { return !absence.empty(); });
    if (is_absent) throw_machine_failed(why);
    throw_bad_input(why + ": start one rank per GPU");
  }
  return shared.is_rank_a_host() ? measure_own_host(ranks, tools, options, shared)
                                 : OwnGpu(ranks, tools, options, shared).measure();
}

}  // namespace sextant::inline probes
