#include "probes/cuda/gpu_ranks.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/json_value.h"
#include "probes/cuda/gpu_of_rank.h"
#include "probes/harness/environment.h"
#include "probes/harness/network_settings.h"
#include "probes/topology/gpu_place.h"

namespace sextant {
namespace {

std::vector<std::string> bus_ids(const std::vector<GpuFacts>& gpus) {
  std::vector<std::string> ids;
  ids.reserve(gpus.size());
  for (const GpuFacts& gpu : gpus) ids.push_back(gpu.bus_id);
  return ids;
}

void append(std::vector<ProbeResult>& all, std::vector<ProbeResult> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

GpuPlace place_of(const GpuTools& tools, const GpuFacts& gpu, const std::string& host,
                  const std::vector<std::string>& of_host) {
  return read_gpu_place(tools.files, tools.fabric, host, gpu.bus_id, gpu.compute_capability, of_host);
}

KindOfPair kinds_of(std::vector<GpuPlace> places) {
  return [places = std::move(places)](int low, int high) {
    return link_class(places[static_cast<std::size_t>(low)], places[static_cast<std::size_t>(high)]).name();
  };
}

RankReport report_of(const GpuProbe& probe, const GpuFacts& gpu, const GpuPlace& place, const GpuTools& tools) {
  RankReport report;
  report.rank = gpu.index;
  report.host = place.host;
  report.cpu_model = std::string("-");  // GCC 12 warns of the plain literal
  report.gpu_model = gpu.name;
  report.gemm_library = probe.versions;
  report.memory_bytes = gpu.memory_bytes;
  report.host_memory_bytes = read_environment(tools.files).memory_available_bytes;
  report.settings = network_settings();
  report.place = place;
  for (const ProbeResult& result : probe.results) {
    if (result.rank == gpu.index) report.results.push_back(result);
  }
  return report;
}

// All GPUs of this host through one process; ranks and peers are numbers on the host.
struct HostOfGpus {
  GpuProbe gpus;
  std::vector<GpuPlace> places;
};

HostOfGpus measure_host(const std::string& host, const GpuTools& tools, const GpuClusterOptions& options,
                        NcclPart part) {
  HostOfGpus found{probe_gpus(tools.devices, tools.sensors, options.gpus, tools.clock), {}};
  GpuProbe& gpus = found.gpus;
  if (gpus.devices.empty()) throw_machine_failed("there is no GPU: " + gpus.sentence);
  std::vector<int> indices;
  for (const GpuFacts& gpu : gpus.devices) {
    indices.push_back(gpu.index);
    found.places.push_back(place_of(tools, gpu, host, bus_ids(gpus.devices)));
  }
  CollectiveOptions nccl = options.nccl;
  nccl.kind_of_pair = kinds_of(found.places);
  append(gpus.results, measure_nccl_in_threads(indices, tools.make_collectives, nccl, tools.clock, part));
  return found;
}

GpuRanks measure_this_host(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options) {
  HostOfGpus host = measure_host(ranks.hosts().front(), tools, options, NcclPart::all);
  GpuRanks found;
  for (std::size_t gpu = 0; gpu < host.places.size(); ++gpu) {
    found.reports.push_back(report_of(host.gpus, host.gpus.devices[gpu], host.places[gpu], tools));
  }
  found.gpus = std::move(host.gpus);
  return found;
}

std::vector<RankReport> exchange_all(Communicator& ranks, const std::vector<RankReport>& mine) {
  Json json = Json::array();
  for (const RankReport& report : mine) json.push_back(report.to_json());
  std::vector<RankReport> all;
  for (const std::string& text : exchange_texts(ranks, json.dump())) {
    const Json of_rank = parse_json(text);
    for (const JsonView& report : JsonView(of_rank).items()) all.push_back(RankReport::parse(report));
  }
  return all;
}

// One rank a host, which measures all its GPUs.
GpuRanks measure_own_host(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options,
                          const GpusOfRanks& shared) {
  const auto me = static_cast<std::size_t>(ranks.rank());
  std::vector<int> first_gpu(shared.visible.size(), 0);  // by rank
  for (std::size_t rank = 1; rank < first_gpu.size(); ++rank) {
    first_gpu[rank] = first_gpu[rank - 1] + shared.visible[rank - 1];
  }
  HostOfGpus host = measure_host(shared.hosts[me], tools, options, NcclPart::pairs);
  const int gpu_on_host = host.gpus.devices.front().index;
  for (GpuFacts& gpu : host.gpus.devices) gpu.index += first_gpu[me];
  for (ProbeResult& result : host.gpus.results) {
    result.rank += first_gpu[me];
    if (result.peer >= 0) result.peer += first_gpu[me];
  }
  ranks.wait_quietly();
  CollectiveOptions between_hosts = options.nccl;
  between_hosts.places = options.cluster.hosts.of(shared.hosts);
  std::vector<ProbeResult> nccl =
      measure_nccl(ranks, gpu_on_host, tools.make_collectives, between_hosts, tools.clock, NcclPart::all);
  for (ProbeResult& result : nccl) {
    result.rank = first_gpu[static_cast<std::size_t>(result.rank)];
    if (result.peer >= 0) result.peer = first_gpu[static_cast<std::size_t>(result.peer)];
  }
  append(host.gpus.results, std::move(nccl));
  std::vector<RankReport> mine;
  for (std::size_t gpu = 0; gpu < host.places.size(); ++gpu) {
    mine.push_back(report_of(host.gpus, host.gpus.devices[gpu], host.places[gpu], tools));
  }
  GpuRanks found;
  found.reports = exchange_all(ranks, mine);
  found.gpus = std::move(host.gpus);
  found.warnings.push_back(
      "each rank measured all GPUs of its host, but NCCL between hosts and its collectives only with the first "
      "GPU of each: start one rank for each GPU (srun --ntasks-per-node, mpirun --map-by ppr:8:node) for all "
      "of "
      "them.");
  return found;
}

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

// Of a host whose first rank sees all GPUs this one copies between them, while the others wait.
std::vector<ProbeResult> measure_peer_copies(Communicator& ranks, const GpuTools& tools,
                                             const GpuClusterOptions& options, const GpusOfRanks& shared) {
  const std::vector<int> of_host = shared.ranks_of_host(ranks.rank());
  std::vector<ProbeResult> results;
  if (of_host.size() > 1 && of_host.front() == ranks.rank()) {
    const auto gpus = all_of_host(tools.devices.list(), shared.bus_ids_of_host(ranks.rank()));
    results = probe_gpu_links(tools.devices, gpus, tools.sensors, options.gpus, tools.clock);
    std::map<int, int> rank_of;
    for (std::size_t nth = 0; nth < gpus.size(); ++nth) rank_of[gpus[nth].index] = of_host[nth];
    for (ProbeResult& result : results) {
      result.rank = rank_of.at(result.rank);
      result.peer = rank_of.at(result.peer);
    }
  }
  ranks.wait_quietly();
  return results;
}

std::vector<GpuPlace> exchange_places(Communicator& ranks, const GpuPlace& mine) {
  std::vector<GpuPlace> places;
  for (const std::string& text : exchange_texts(ranks, mine.to_json().dump())) {
    const Json json = parse_json(text);
    places.push_back(GpuPlace::parse(JsonView(json)));
  }
  return places;
}

// Whether a rank was told to end it. Collective.
bool is_told_to_stop(Communicator& ranks, const ProbeHooks& hooks) {
  std::array<double, 1> told = {hooks.should_stop && hooks.should_stop() ? 1.0 : 0.0};
  ranks.all_reduce_max(std::span<double>(told));
  return told[0] != 0;
}

void step(const ProbeHooks& hooks, const std::string& what) {
  if (hooks.on_step) hooks.on_step(what);
}

// Of all ranks, on every rank. Collective.
std::vector<ProbeResult> exchange_results(Communicator& ranks, const std::vector<ProbeResult>& mine) {
  std::vector<ProbeResult> all;
  for (const std::string& text : exchange_texts(ranks, to_json(mine).dump())) {
    const Json of_rank = parse_json(text);
    for (const JsonView& result : JsonView(of_rank).items()) all.push_back(ProbeResult::parse(result));
  }
  return all;
}

// One GPU of a job with a rank for each.
class OwnGpu {
 public:
  OwnGpu(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options,
         const GpusOfRanks& shared)
      : ranks_(ranks), tools_(tools), options_(options), shared_(shared), mine_(shared.mine) {
    mine_.index = ranks.rank();
    // A rank that is shown one GPU can still ask the driver about those of its neighbours.
    place_ = place_of(tools, mine_, shared.hosts[me()], shared.bus_ids_of_host(ranks.rank()));
  }

  [[nodiscard]] GpuRanks measure() {
    const bool is_done = options_.done.devices.size() == static_cast<std::size_t>(ranks_.size());
    is_done ? take_device() : measure_device();
    found_.is_interrupted = told_to_stop();
    std::vector<ProbeResult> nccl = found_.is_interrupted ? std::vector<ProbeResult>{} : measure_nccl_links();
    append(nccl, measured_before());
    append(report_.results, nccl);
    append(found_.gpus.results, std::move(nccl));
    found_.reports = exchange_reports(ranks_, report_);
    found_.is_interrupted = found_.is_interrupted || told_to_stop();
    found_.warnings = shared_.warnings_of_idle_gpus();
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(ranks_.rank()); }
  [[nodiscard]] bool told_to_stop() const { return is_told_to_stop(ranks_, options_.hooks); }

  void take_device() {
    report_ = options_.done.devices[me()];
    found_.gpus.outcome = ProbeOutcome::measured;
    found_.gpus.sentence = "GPUs were measured before";
    found_.gpus.versions = report_.gemm_library;
    found_.gpus.devices = {mine_};
    found_.gpus.results = report_.results;
  }

  // The GPU, and of the first rank of a host the copies to its neighbours.
  void measure_device() {
    step(options_.hooks, "GPUs");
    GpuProbeOptions own = options_.gpus;
    own.only_gpu = shared_.mine.index;
    found_.gpus = probe_gpus(tools_.devices, tools_.sensors, own, tools_.clock);
    for (GpuFacts& gpu : found_.gpus.devices) gpu.index = ranks_.rank();
    for (ProbeResult& result : found_.gpus.results) result.rank = ranks_.rank();
    ranks_.wait_quietly();  // others may still be measuring
    step(options_.hooks, "copies between GPUs");
    std::vector<ProbeResult> copies = measure_peer_copies(ranks_, tools_, options_, shared_);
    report_ = report_of(found_.gpus, mine_, place_, tools_);
    append(report_.results, copies);  // those of neighbours, too
    append(found_.gpus.results, std::move(copies));
    const std::vector<RankReport> all = exchange_reports(ranks_, report_);
    if (ranks_.rank() == 0 && options_.hooks.on_devices) options_.hooks.on_devices(all);
  }

  [[nodiscard]] std::vector<ProbeResult> measure_nccl_links() {
    CollectiveOptions nccl = options_.nccl;
    nccl.kind_of_pair = kinds_of(exchange_places(ranks_, place_));
    nccl.places = options_.cluster.hosts.of(shared_.hosts);
    const ProbeHooks& hooks = options_.hooks;
    nccl.steps.done_pairs = options_.done.measured_pairs();
    nccl.steps.done_levels = options_.done.levels;
    nccl.steps.on_turn = [&](const std::vector<ProbeResult>& mine) {
      const std::vector<ProbeResult> turn = exchange_results(ranks_, mine);
      if (ranks_.rank() == 0 && hooks.on_links) hooks.on_links(turn);
      step(hooks, "NCCL between pairs");
    };
    nccl.steps.on_level = [&](const std::string& level, const std::vector<ProbeResult>& mine) {
      const std::vector<ProbeResult> of_level = exchange_results(ranks_, mine);
      if (ranks_.rank() == 0 && hooks.on_collectives) hooks.on_collectives(level, of_level);
      step(hooks, "NCCL collectives");
    };
    nccl.steps.is_told_to_stop = [this] { return told_to_stop(); };
    step(hooks, "NCCL");
    return measure_nccl(ranks_, shared_.mine.index, tools_.make_collectives, nccl, tools_.clock);
  }

  // What this rank led then, of pairs that are not measured again, and of levels.
  [[nodiscard]] std::vector<ProbeResult> measured_before() const {
    const std::set<RankPair> pairs = options_.done.measured_pairs();
    std::vector<ProbeResult> results;
    for (const ProbeResult& point : options_.done.points) {
      if (point.rank == ranks_.rank() && pairs.contains({point.rank, point.peer})) results.push_back(point);
    }
    for (const ProbeResult& result : options_.done.collectives) {
      if (result.rank == ranks_.rank()) results.push_back(result);
    }
    return results;
  }

  Communicator& ranks_;
  const GpuTools& tools_;
  const GpuClusterOptions& options_;
  const GpusOfRanks& shared_;
  GpuFacts mine_;
  GpuPlace place_;
  RankReport report_;
  GpuRanks found_;
};

}  // namespace

GpuRanks measure_gpu_ranks(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options) {
  if (ranks.size() == 1) return measure_this_host(ranks, tools, options);
  const GpusOfRanks shared = share_out_gpus(ranks, tools.devices);
  if (const std::string why = shared.why_not_whole(); !why.empty()) {
    const bool is_absent = std::any_of(shared.absences.begin(), shared.absences.end(),
                                       [](const std::string& absence) { return !absence.empty(); });
    if (is_absent) throw_machine_failed(why);
    throw_bad_input(why + ": start one rank for each GPU");
  }
  return shared.is_rank_a_host() ? measure_own_host(ranks, tools, options, shared)
                                 : OwnGpu(ranks, tools, options, shared).measure();
}

}  // namespace sextant
