#include "probes/gpu/gpu_hosts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "probes/gpu/gpu_rank_steps.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// Callbacks with the results for a host's GPUs, with their numbers in the job: measurements of devices on the
// thread that measures; NCCL on any thread.
struct HostSteps {
  int first_gpu = 0;
  std::function<void(const std::vector<ProbeResult>&)> on_points;
  std::function<void(const std::vector<ProbeResult>&)> on_turn;
  std::function<void(const std::string& level, const std::vector<ProbeResult>&)> on_level = {};
};

struct HostOfGpus {
  GpuProbe gpus;  // ranks and peers are numbers in the job
  std::vector<GpuPlace> places;
};

class HostProbe {
 public:
  HostProbe(std::string host, const GpuTools& tools, const GpuClusterOptions& options, HostSteps steps)
      : host_(std::move(host)), tools_(tools), options_(options), steps_(std::move(steps)) {}

  [[nodiscard]] HostOfGpus measure(NcclPart part) {
    measure_gpus();
    if (found_.gpus.devices.empty())
      throw_machine_failed("there is no GPU to measure: " + found_.gpus.sentence);
    indices_.clear();
    for (const GpuFacts& gpu : found_.gpus.devices) {
      indices_.push_back(gpu.index);
      found_.places.push_back(place_of(tools_, gpu, host_, bus_ids(found_.gpus.devices)));
    }
    measure_nccl(part);
    for (GpuFacts& gpu : found_.gpus.devices) gpu.index += steps_.first_gpu;
    found_.gpus.results = in_the_job(std::move(found_.gpus.results));
    return std::move(found_);
  }
  [[nodiscard]] int first_index() const { return indices_.front(); }

 private:
  [[nodiscard]] std::vector<ProbeResult> in_the_job(std::vector<ProbeResult> results) const {
    return renumbered(std::move(results), [this](int gpu) { return gpu + steps_.first_gpu; });
  }
  // The finished results of this host.
  [[nodiscard]] std::vector<ProbeResult> done(const std::vector<ProbeResult>& results) const {
    return numbered_from(results, steps_.first_gpu, static_cast<int>(tools_.devices.list().size()));
  }

  void measure_gpus() {
    GpuProbeOptions own = with_steps(options_.gpus, options_.hooks);
    own.done = done(options_.done.device_points);
    own.on_result = [this](const ProbeResult& result) { steps_.on_points(in_the_job({result})); };
    found_.gpus = probe_gpus(tools_.devices, tools_.sensors, own, tools_.clock);
  }

  void measure_nccl(NcclPart part) {
    const std::size_t threads = indices_.size();
    OfAllThreads turns(threads, [this](const auto& turn) { steps_.on_turn(in_the_job(turn)); });
    std::string level;
    OfAllThreads levels(threads, [&](const auto& results) { steps_.on_level(level, in_the_job(results)); });
    std::mutex mutex;
    CollectiveOptions nccl = options_.nccl;
    nccl.kind_of_pair = kinds_of(found_.places);
    RankJournal before;
    before.points = done(options_.done.points);
    nccl.steps.done_pairs = before.measured_pairs();
    nccl.steps.on_turn = [&](const std::vector<ProbeResult>& mine) { turns.add(mine); };
    if (steps_.on_level) {
      nccl.steps.done_levels = options_.done.levels;
      nccl.steps.on_level = [&](const std::string& name, const std::vector<ProbeResult>& mine) {
        {
          const std::lock_guard lock(mutex);
          level = name;  // all threads are in the same one
        }
        levels.add(mine);
      };
    }
    step(options_.hooks, "NCCL within hosts");
    append(found_.gpus.results,
           measure_nccl_in_threads(indices_, tools_.make_collectives, nccl, tools_.clock, part));
    append(found_.gpus.results, before.points_of_measured_pairs());
    if (steps_.on_level) append(found_.gpus.results, done(options_.done.collectives));
  }

  std::string host_;
  const GpuTools& tools_;
  const GpuClusterOptions& options_;
  HostSteps steps_;
  HostOfGpus found_;
  std::vector<int> indices_;  // of the GPUs on the host
};

std::vector<RankReport> reports_of(const HostOfGpus& host, const GpuTools& tools) {
  std::vector<RankReport> reports;
  for (std::size_t gpu = 0; gpu < host.places.size(); ++gpu) {
    reports.push_back(report_of(host.gpus, host.gpus.devices[gpu], host.places[gpu], tools));
  }
  return reports;
}

// One rank a host, which measures all its GPUs.
class OwnHost {
 public:
  OwnHost(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options,
          const GpusOfRanks& shared)
      : ranks_(ranks), tools_(tools), options_(options), shared_(shared), first_gpu_(shared.visible.size(), 0) {
    for (std::size_t rank = 1; rank < first_gpu_.size(); ++rank) {
      first_gpu_[rank] = first_gpu_[rank - 1] + shared.visible[rank - 1];
    }
  }

  [[nodiscard]] GpuRanks measure() {
    GpuRanks found;
    DeviceGathering gathering(ranks_, gpu_limits(options_, shared_.visible[me()]),
                              [this](const auto& points) { hand_over(points, options_.hooks); });
    HostOfGpus host = measure_host(gathering);
    found.reports = gathering.gather(reports_of(host, tools_), "GPUs were measured");
    found.lost = gathering.muster().lost();
    found.gpus = std::move(host.gpus);
    found.warnings.push_back(
        "each rank measured all GPUs of its host, but NCCL collectives and NCCL between hosts used only the "
        "first GPU of each host: start one rank per GPU (srun --ntasks-per-node, mpirun --map-by ppr:8:node) "
        "to use all of them.");
    if (!found.lost.empty()) return found;
    std::vector<ProbeResult> nccl;
    found.is_interrupted = is_told_to_stop(ranks_, options_.hooks);
    if (!found.is_interrupted) {
      NcclRemains remains(found, options_);
      nccl = measure_between_hosts(remains);
    }
    append(nccl, measured_before());
    add_results(found.reports, exchange_results(ranks_, nccl));
    append(found.gpus.results, std::move(nccl));
    found.is_interrupted = found.is_interrupted || is_told_to_stop(ranks_, options_.hooks);
    return found;
  }

 private:
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(ranks_.rank()); }
  // A host's number is its first GPU's.
  [[nodiscard]] std::vector<ProbeResult> in_the_job(std::vector<ProbeResult> results) const {
    return renumbered(std::move(results),
                      [this](int rank) { return first_gpu_[static_cast<std::size_t>(rank)]; });
  }
  [[nodiscard]] int host_of(int gpu) const {
    return static_cast<int>(std::upper_bound(first_gpu_.begin(), first_gpu_.end(), gpu) - first_gpu_.begin()) -
           1;
  }
  [[nodiscard]] bool is_between_hosts(const ProbeResult& result) const {
    return result.peer >= 0 && host_of(result.rank) != host_of(result.peer);
  }

  // Only this thread may speak to other ranks: what the threads of NCCL have is told after them.
  [[nodiscard]] HostOfGpus measure_host(DeviceGathering& gathering) {
    std::vector<ProbeResult> pairs;
    HostSteps steps;
    steps.first_gpu = first_gpu_[me()];
    steps.on_points = [&](const std::vector<ProbeResult>& points) { gathering.tell(points); };
    steps.on_turn = [&](const std::vector<ProbeResult>& turn) { append(pairs, turn); };
    HostProbe probe(shared_.hosts[me()], tools_, options_, std::move(steps));
    HostOfGpus host = probe.measure(NcclPart::pairs);
    gpu_on_host_ = probe.first_index();
    gathering.tell(pairs);
    return host;
  }

  [[nodiscard]] std::vector<ProbeResult> measure_between_hosts(NcclRemains& remains) {
    const ProbeHooks& hooks = options_.hooks;
    CollectiveOptions nccl = with_common_steps(options_.nccl, hooks);
    nccl.places = options_.cluster.hosts.of(shared_.hosts);
    RankJournal before;
    before.points = done_between_hosts();
    for (const RankPair& pair : before.measured_pairs())
      nccl.steps.done_pairs.insert({host_of(pair.low), host_of(pair.high)});
    nccl.steps.done_levels = options_.done.levels;
    nccl.steps.on_turn = [&](const std::vector<ProbeResult>& mine) {
      const std::vector<ProbeResult> turn = in_the_job(exchange_results(ranks_, mine));
      remains.add(turn);
      if (ranks_.rank() == 0 && hooks.on_links) hooks.on_links(turn);
      common_step(hooks, "NCCL between pairs");
    };
    nccl.steps.on_level = [&](const std::string& level, const std::vector<ProbeResult>& mine) {
      const std::vector<ProbeResult> of_level = in_the_job(exchange_results(ranks_, mine));
      remains.add(of_level);
      if (ranks_.rank() == 0 && hooks.on_collectives) hooks.on_collectives(level, of_level);
      common_step(hooks, "NCCL collectives");
    };
    nccl.steps.is_told_to_stop = [this] { return is_told_to_stop(ranks_, options_.hooks); };
    common_step(hooks, "NCCL between hosts");
    return in_the_job(measure_nccl(ranks_, gpu_on_host_, tools_.make_collectives, nccl, tools_.clock));
  }

  [[nodiscard]] std::vector<ProbeResult> done_between_hosts() const {
    std::vector<ProbeResult> points;
    for (const ProbeResult& point : options_.done.points) {
      if (is_between_hosts(point)) points.push_back(point);
    }
    return points;
  }

  // The results of an earlier probe that this rank led.
  [[nodiscard]] std::vector<ProbeResult> measured_before() const {
    RankJournal before;
    before.points = done_between_hosts();
    std::vector<ProbeResult> results = before.points_of_measured_pairs();
    append(results, options_.done.collectives);
    std::erase_if(results, [&](const ProbeResult& result) { return result.rank != first_gpu_[me()]; });
    return results;
  }

  Communicator& ranks_;
  const GpuTools& tools_;
  const GpuClusterOptions& options_;
  const GpusOfRanks& shared_;
  std::vector<int> first_gpu_;  // by rank
  int gpu_on_host_ = 0;         // the one that stands for the host
};

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
  GpuRanks found;
  found.reports = reports_of(host, tools);
  found.gpus = std::move(host.gpus);
  return found;
}

GpuRanks measure_own_host(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options,
                          const GpusOfRanks& shared) {
  return OwnHost(ranks, tools, options, shared).measure();
}

}  // namespace sextant
