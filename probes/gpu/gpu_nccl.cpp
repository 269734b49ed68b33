#include "probes/gpu/gpu_nccl.h"

#include <iterator>
#include <memory>
#include <utility>

#include "probes/collective/growing_groups.h"

namespace sextant::inline probes {
namespace {

// Inner groups are there to be compared with each other and with all: a few sizes tell.
const std::vector<double>& inner_sizes_bytes() {
  static const std::vector<double> sizes = {8, 65536, 1 << 20, 16 << 20, 256 << 20};
  return sizes;
}

// `of_all`: the library of all ranks, which is the outermost group's.
std::vector<ProbeResult> measure_nccl_groups(Communicator& ranks, int gpu, const MakeCollectives& make,
                                             std::unique_ptr<Collectives> of_all,
                                             const CollectiveOptions& options, const Clock& clock) {
  const CollectiveSteps& steps = options.steps;
  std::vector<GroupLevel> inner = growing_groups(
      options.places.empty() ? std::vector<HostPlace>(static_cast<std::size_t>(ranks.size())) : options.places);
  std::vector<GroupLevel> all = {inner.back()};
  inner.pop_back();
  for (std::vector<GroupLevel>* levels : {&inner, &all})
    std::erase_if(*levels, [&](const GroupLevel& level) { return steps.done_levels.contains(level.name); });
  bool goes_on = true;
  const auto after = [&](const GroupLevel& level, const std::vector<ProbeResult>& mine) {
    if (steps.on_level) steps.on_level(level.name, mine);
    goes_on = !steps.is_told_to_stop || !steps.is_told_to_stop();
    return goes_on;
  };
  CollectiveOptions few = options;
  few.sizes_bytes = inner_sizes_bytes();
  const auto make_inner = [&](Communicator& group) { return make(group, gpu); };
  std::vector<ProbeResult> results = measure_growing_groups(ranks, inner, make_inner, few, clock, after);
  if (!goes_on) return results;
  const auto take_all = [&](Communicator&) { return CollectivesOrReason{std::move(of_all), ""}; };
  append(results, measure_growing_groups(ranks, all, take_all, options, clock, after));
  return results;
}

}  // namespace

std::vector<ProbeResult> measure_nccl(Communicator& ranks, int gpu, const MakeCollectives& make,
                                      const CollectiveOptions& options, const Clock& clock, NcclPart part) {
  const auto waived = [&](const std::string& reason) {
    std::vector<ProbeResult> results;
    if (ranks.rank() == 0) results.push_back(waived_result("nccl", "s", reason));
    return results;
  };
  if (ranks.size() == 1 && part == NcclPart::pairs) return {};
  if (ranks.size() == 1) return waived("there is only one GPU, so there is no other to exchange anything with");
  CollectivesOrReason made = make(ranks, gpu);
  if (!made.collectives) return waived(made.reason);
  std::vector<ProbeResult> results = measure_pairs(ranks, *made.collectives, options, clock);
  if (part == NcclPart::pairs) return results;
  if (options.steps.is_told_to_stop && options.steps.is_told_to_stop()) return results;
  append(results, measure_nccl_groups(ranks, gpu, make, std::move(made.collectives), options, clock));
  return results;
}

}  // namespace sextant::inline probes
