#include "probes/cuda/gpu_nccl.h"

#include <exception>
#include <iterator>
#include <mutex>

#include "probes/comm/thread_communicator.h"

namespace sextant {
namespace {

void append(std::vector<ProbeResult>& all, std::vector<ProbeResult> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
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
  const CollectivesOrReason made = make(ranks, gpu);
  if (!made.collectives) return waived(made.reason);
  std::vector<ProbeResult> results = measure_pairs(ranks, *made.collectives, options, clock);
  if (part == NcclPart::pairs) return results;
  std::vector<ProbeResult> collectives = measure_collectives(ranks, *made.collectives, options, clock);
  std::vector<ProbeResult> bandwidths = derive_bandwidths(collectives, ranks.size());
  append(results, std::move(collectives));
  append(results, std::move(bandwidths));
  return results;
}

std::vector<ProbeResult> measure_nccl_in_threads(const std::vector<int>& gpus, const MakeCollectives& make,
                                                 const CollectiveOptions& options, const Clock& clock,
                                                 NcclPart part) {
  std::vector<ProbeResult> all;
  std::mutex mutex;
  try {
    run_on_threads(static_cast<int>(gpus.size()), [&](Communicator& ranks) {
      const int gpu = gpus[static_cast<std::size_t>(ranks.rank())];
      std::vector<ProbeResult> mine = measure_nccl(ranks, gpu, make, options, clock, part);
      const std::lock_guard lock(mutex);
      append(all, std::move(mine));
    });
  } catch (const std::exception& error) {
    all.push_back(failed_result(waived_result("nccl", "s", ""), error.what()));
  }
  return all;
}

}  // namespace sextant
