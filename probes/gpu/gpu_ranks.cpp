#include "probes/gpu/gpu_ranks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/json_value.h"
#include "probes/gpu/gpu_hosts.h"
#include "probes/gpu/gpu_of_rank.h"
#include "probes/gpu/gpu_rank_steps.h"
#include "probes/topology/gpu_place.h"
#include "sextant/error.h"

namespace sextant {
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

std::vector<GpuPlace> exchange_places(Communicator& ranks, const GpuPlace& mine) {
  std::vector<GpuPlace> places;
  for (const std::string& text : exchange_texts(ranks, mine.to_json().dump())) {
    const Json json = parse_json(text);
    places.push_back(GpuPlace::parse(JsonView(json)));
  }
  return places;
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
    place_ = place_of(tools, mine_, shared.hosts[me()], shared.bus_ids_of_host(ranks.rank()));
  }

  [[nodiscard]] GpuRanks measure() {
    measure_device();
    found_.warnings = shared_.warnings_of_idle_gpus();
    if (!found_.lost.empty()) return std::move(found_);
    found_.is_interrupted = told_to_stop();
    std::vector<ProbeResult> nccl = found_.is_interrupted ? std::vector<ProbeResult>{} : measure_nccl_links();
    append(nccl, measured_before());
    append(report_.results, nccl);
    append(found_.gpus.results, std::move(nccl));
    found_.reports = exchange_reports(ranks_, report_);
    found_.is_interrupted = found_.is_interrupted || told_to_stop();
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(ranks_.rank()); }
  [[nodiscard]] bool told_to_stop() { return is_told_to_stop(ranks_, options_.hooks); }

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
    found_.gpus = probe_gpus(tools_.devices, tools_.sensors, own, tools_.clock);
    for (GpuFacts& gpu : found_.gpus.devices) gpu.index = ranks_.rank();
    found_.gpus.results = renumbered(std::move(found_.gpus.results), in_the_job);
    gathering_.muster().meet("GPUs were measured");
    step(options_.hooks, "copies between GPUs");
    std::vector<ProbeResult> copies = measure_peer_copies();
    report_ = report_of(found_.gpus, mine_, place_, tools_);
    append(report_.results, copies);  // those of neighbours, too
    append(found_.gpus.results, std::move(copies));
    found_.reports = gathering_.gather({report_}, "GPUs copied to each other");
    found_.lost = lost();
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

  [[nodiscard]] std::vector<ProbeResult> measure_nccl_links() {
    NcclRemains remains(found_, options_);
    CollectiveOptions nccl = with_common_steps(options_.nccl, options_.hooks);
    nccl.kind_of_pair = kinds_of(exchange_places(ranks_, place_));
    nccl.places = options_.cluster.hosts.of(shared_.hosts);
    const ProbeHooks& hooks = options_.hooks;
    nccl.steps.done_pairs = options_.done.measured_pairs();
    nccl.steps.done_levels = options_.done.levels;
    nccl.steps.on_turn = [&](const std::vector<ProbeResult>& mine) {
      const std::vector<ProbeResult> turn = exchange_results(ranks_, mine);
      remains.add(turn);
      if (ranks_.rank() == 0 && hooks.on_links) hooks.on_links(turn);
      common_step(hooks, "NCCL between pairs");
    };
    nccl.steps.on_level = [&](const std::string& level, const std::vector<ProbeResult>& mine) {
      const std::vector<ProbeResult> of_level = exchange_results(ranks_, mine);
      remains.add(of_level);
      if (ranks_.rank() == 0 && hooks.on_collectives) hooks.on_collectives(level, of_level);
      common_step(hooks, "NCCL collectives");
    };
    nccl.steps.is_told_to_stop = [this] { return told_to_stop(); };
    common_step(hooks, "NCCL");
    return measure_nccl(ranks_, shared_.mine.index, tools_.make_collectives, nccl, tools_.clock);
  }

  // The results of an earlier probe that this rank led: of pairs that are not measured again, and of levels.
  [[nodiscard]] std::vector<ProbeResult> measured_before() const {
    std::vector<ProbeResult> results = options_.done.points_of_measured_pairs();
    append(results, options_.done.collectives);
    std::erase_if(results, [this](const ProbeResult& result) { return result.rank != ranks_.rank(); });
    return results;
  }

  Communicator& ranks_;
  const GpuTools& tools_;
  const GpuClusterOptions& options_;
  const GpusOfRanks& shared_;
  GpuFacts mine_;
  DeviceGathering gathering_;
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
    throw_bad_input(why + ": start one rank per GPU");
  }
  return shared.is_rank_a_host() ? measure_own_host(ranks, tools, options, shared)
                                 : OwnGpu(ranks, tools, options, shared).measure();
}

}  // namespace sextant
