#include "probes/gpu/nccl_of_job.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "probes/gpu/gpu_cluster.h"
#include "probes/gpu/gpu_rank_steps.h"

namespace sextant::inline probes {
namespace {

class JobNccl {
 public:
  JobNccl(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options, const ProbeHooks& hooks,
          const NcclMembers& members)
      : ranks_(ranks), tools_(tools), options_(options), hooks_(hooks), members_(members) {
    std::vector<ProbeResult> between = options.done.points;
    std::erase_if(between,
                  [this](const ProbeResult& point) { return !rank_of(point.rank) || !rank_of(point.peer); });
    measured_before_ = points_of_measured_pairs(between);
  }

  void measure(GpuRanks& job) {
    std::vector<ProbeResult> mine;
    job.found.is_interrupted = is_told_to_stop(ranks_, hooks_);
    if (!job.found.is_interrupted) mine = measure_the_rest(job);
    append(mine, led_before());
    job.found.add(exchange_results(ranks_, mine));
    append(job.gpus.results, std::move(mine));
    job.found.is_interrupted = job.found.is_interrupted || is_told_to_stop(ranks_, hooks_);
  }

 private:
  [[nodiscard]] std::optional<int> rank_of(int number) const {
    const auto found = std::find(members_.numbers.begin(), members_.numbers.end(), number);
    if (found == members_.numbers.end()) return std::nullopt;
    return static_cast<int>(found - members_.numbers.begin());
  }
  [[nodiscard]] std::vector<ProbeResult> in_the_job(std::vector<ProbeResult> results) const {
    return renumbered(std::move(results),
                      [this](int rank) { return members_.numbers[static_cast<std::size_t>(rank)]; });
  }

  [[nodiscard]] std::vector<ProbeResult> measure_the_rest(const GpuRanks& job) {
    Remains remains(job.found, hooks_, [&options = options_, gpus = job.gpus](const Findings& left) {
      return assemble_gpu_cluster({gpus, left}, options).probe;
    });
    remains.add(measured_before_);
    remains.add(options_.done.collectives);
    CollectiveOptions nccl = with_common_steps(options_.nccl, hooks_);
    if (!members_.shows_points) nccl.on_point = {};
    nccl.kind_of_pair = members_.kind_of_pair;
    nccl.places = options_.cluster.hosts.of(members_.hosts);
    for (const RankPair& pair : measured_pairs(measured_before_))
      nccl.steps.done_pairs.insert({*rank_of(pair.low), *rank_of(pair.high)});
    nccl.steps.done_levels = options_.done.levels;
    nccl.steps.on_turn = [&](const std::vector<ProbeResult>& mine) {
      const std::vector<ProbeResult> turn = in_the_job(exchange_results(ranks_, mine));
      remains.add(turn);
      if (ranks_.rank() == 0 && hooks_.on_links) hooks_.on_links(turn);
      hooks_.common_step("NCCL between pairs");
    };
    nccl.steps.on_level = [&](const std::string& level, const std::vector<ProbeResult>& mine) {
      const std::vector<ProbeResult> of_level = in_the_job(exchange_results(ranks_, mine));
      remains.add(of_level);
      if (ranks_.rank() == 0 && hooks_.on_collectives) hooks_.on_collectives(level, of_level);
      hooks_.common_step("NCCL collectives");
    };
    nccl.steps.is_told_to_stop = [this] { return is_told_to_stop(ranks_, hooks_); };
    return in_the_job(
        measure_nccl(ranks_, members_.gpu, tools_.make_collectives, nccl, tools_.clock, members_.part));
  }

  // The results of an earlier probe that this rank led: of pairs that are not measured again, and of levels.
  [[nodiscard]] std::vector<ProbeResult> led_before() const {
    std::vector<ProbeResult> results = measured_before_;
    if (members_.part == NcclPart::all) append(results, options_.done.collectives);
    const int own = members_.numbers[static_cast<std::size_t>(ranks_.rank())];
    std::erase_if(results, [own](const ProbeResult& result) { return result.rank != own; });
    return results;
  }

  Communicator& ranks_;
  const GpuTools& tools_;
  const GpuClusterOptions& options_;
  const ProbeHooks& hooks_;
  const NcclMembers& members_;
  std::vector<ProbeResult> measured_before_;
};

}  // namespace

void measure_nccl_of_job(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options,
                         const ProbeHooks& hooks, const NcclMembers& members, GpuRanks& job) {
  JobNccl(ranks, tools, options, hooks, members).measure(job);
}

}  // namespace sextant::inline probes
