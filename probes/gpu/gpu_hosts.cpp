#include "probes/gpu/gpu_hosts.h"

#include <exception>
#include <utility>

#include "probes/comm/thread_communicator.h"
#include "probes/gpu/gpu_rank_steps.h"
#include "probes/gpu/nccl_of_job.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// Callbacks with the results for a host's GPUs, with their numbers in the job: measurements of devices on the
// thread that measures; NCCL on another thread.
struct HostSteps {
  int first_gpu = 0;
  std::function<void(const std::vector<ProbeResult>&)> on_points;
  std::function<void(const std::vector<ProbeResult>&)> on_turn;
  std::function<void(const std::string& level, const std::vector<ProbeResult>&)> on_level = {};
};

struct HostOfGpus {
  GpuProbe gpus;  // ranks and peers are numbers in the job
  std::vector<GpuPlace> places;
  int first_index = 0;  // of its first GPU, CUDA's number in this process
};

class HostProbe {
 public:
  HostProbe(std::string host, const GpuTools& tools, const GpuClusterOptions& options, HostSteps steps)
      : host_(std::move(host)), tools_(tools), options_(options), steps_(std::move(steps)) {}

  [[nodiscard]] HostOfGpus measure(NcclPart part) {
    measure_gpus();
    if (found_.gpus.devices.empty())
      throw_machine_failed("there is no GPU to measure: " + found_.gpus.sentence);
    found_.first_index = found_.gpus.devices.front().index;
    for (const GpuFacts& gpu : found_.gpus.devices) {
      found_.places.push_back(place_of(tools_, gpu, host_, bus_ids(found_.gpus.devices)));
    }
    std::vector<ProbeResult> nccl = measure_nccl(part);
    for (GpuFacts& gpu : found_.gpus.devices) gpu.index += steps_.first_gpu;
    found_.gpus.results = in_the_job(std::move(found_.gpus.results));
    append(found_.gpus.results, std::move(nccl));
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::vector<ProbeResult> in_the_job(std::vector<ProbeResult> results) const {
    return renumbered(std::move(results), [this](int gpu) { return gpu + steps_.first_gpu; });
  }

  void measure_gpus() {
    GpuProbeOptions own = with_steps(options_.gpus, options_.hooks);
    const int gpus = static_cast<int>(tools_.devices.list().size());
    own.done = numbered_from(options_.done.device_points, steps_.first_gpu, gpus);
    own.on_result = [this](const ProbeResult& result) { steps_.on_points(in_the_job({result})); };
    found_.gpus = probe_gpus(tools_.devices, tools_.sensors, own, tools_.clock);
  }

  // A thread for each GPU is its rank.
  [[nodiscard]] std::vector<ProbeResult> measure_nccl(NcclPart part) {
    NcclMembers members;
    GpuRanks job;
    for (const GpuFacts& gpu : found_.gpus.devices) {
      members.numbers.push_back(gpu.index + steps_.first_gpu);
      members.hosts.push_back(host_);
      job.found.reports.emplace_back().rank = members.numbers.back();
    }
    members.kind_of_pair = kinds_of(found_.places);
    members.part = part;
    ProbeHooks hooks;
    hooks.on_links = steps_.on_turn;
    hooks.on_collectives = steps_.on_level;
    std::vector<ProbeResult> results;
    options_.hooks.step("NCCL within hosts");
    try {
      run_on_threads(static_cast<int>(members.numbers.size()), [&](Communicator& ranks) {
        NcclMembers own = members;
        own.gpu = found_.gpus.devices[static_cast<std::size_t>(ranks.rank())].index;
        own.shows_points = ranks.rank() == 0;
        GpuRanks of_thread = job;
        measure_nccl_of_job(ranks, tools_, options_, hooks, own, of_thread);
        if (ranks.rank() == 0) results = of_thread.found.results();
      });
    } catch (const std::exception& error) {
      results = {failed_result(waived_result("nccl", "s", ""), error.what())};
      results.front().rank = members.numbers.front();
    }
    return results;
  }

  std::string host_;
  const GpuTools& tools_;
  const GpuClusterOptions& options_;
  HostSteps steps_;
  HostOfGpus found_;
};

std::vector<RankReport> reports_of(const HostOfGpus& host, const GpuTools& tools) {
  std::vector<RankReport> reports;
  for (std::size_t gpu = 0; gpu < host.places.size(); ++gpu) {
    reports.push_back(report_of(host.gpus, host.gpus.devices[gpu], host.places[gpu], tools));
  }
  return reports;
}

// Only the calling thread may speak to other ranks: it tells what the threads of NCCL have found after them.
HostOfGpus measure_host_of_job(const std::string& host, const GpuTools& tools, const GpuClusterOptions& options,
                               int first_gpu, DeviceGathering& gathering) {
  std::vector<ProbeResult> pairs;
  HostSteps steps;
  steps.first_gpu = first_gpu;
  steps.on_points = [&](const std::vector<ProbeResult>& points) { gathering.tell(points); };
  steps.on_turn = [&](const std::vector<ProbeResult>& turn) { append(pairs, turn); };
  HostOfGpus found = HostProbe(host, tools, options, std::move(steps)).measure(NcclPart::pairs);
  gathering.tell(pairs);
  return found;
}

}  // namespace

GpuRanks measure_this_host(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options) {
  const ProbeHooks& hooks = options.hooks;
  HostSteps steps;
  steps.on_points = [&](const std::vector<ProbeResult>& points) { hand_over(points, hooks); };
  steps.on_turn = steps.on_points;
  steps.on_level = [&](const std::string& level, const std::vector<ProbeResult>& results) {
    if (hooks.on_collectives) hooks.on_collectives(level, results);
  };
  HostOfGpus host = HostProbe(ranks.hosts().front(), tools, options, std::move(steps)).measure(NcclPart::all);
  if (hooks.on_points) hooks.on_points({});  // a disk that refused is said here, not by NCCL's threads
  GpuRanks job;
  job.found.reports = reports_of(host, tools);
  job.gpus = std::move(host.gpus);
  return job;
}

GpuRanks measure_own_host(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options,
                          const GpusOfRanks& shared) {
  const auto me = static_cast<std::size_t>(ranks.rank());
  NcclMembers members{0, {0}, shared.hosts};  // a host's number is its first GPU's
  for (std::size_t rank = 1; rank < shared.visible.size(); ++rank) {
    members.numbers.push_back(members.numbers.back() + shared.visible[rank - 1]);
  }
  DeviceGathering gathering(ranks, gpu_limits(options, shared.visible[me]),
                            [&](const auto& points) { hand_over(points, options.hooks); });
  HostOfGpus host = measure_host_of_job(shared.hosts[me], tools, options, members.numbers[me], gathering);
  members.gpu = host.first_index;
  GpuRanks job;
  job.found.reports = gathering.gather(reports_of(host, tools), "GPUs were measured");
  job.found.lost = gathering.muster().lost();
  job.gpus = std::move(host.gpus);
  job.found.warnings.push_back(
      "each rank measured all GPUs of its host, but NCCL collectives and NCCL between hosts used only the "
      "first GPU of each host: start one rank per GPU (srun --ntasks-per-node, mpirun --map-by ppr:8:node) "
      "to use all of them.");
  if (!job.found.lost.empty()) return job;
  options.hooks.common_step("NCCL between hosts");
  measure_nccl_of_job(ranks, tools, options, options.hooks, members, job);
  return job;
}

}  // namespace sextant::inline probes
