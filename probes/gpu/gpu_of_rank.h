// Assigns a GPU to each rank of a job: the ranks of a host take its GPUs in order.
#pragma once

#include <string>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/gpu/gpu_devices.h"

namespace sextant::inline probes {

struct GpusOfRanks {
  GpuFacts mine;  // empty if this rank has none
  // Both are by rank, and empty for a rank with a GPU of its own.
  std::vector<std::string> absences;  // why it sees none at all
  std::vector<std::string>
      shortages;  // why none is left for it: more ranks than GPUs, or another rank uses it too
  std::vector<std::string> hosts;
  std::vector<std::string> bus_ids;  // empty for a rank without a GPU
  std::vector<int> visible;          // how many GPUs each rank sees

  [[nodiscard]] bool is_whole() const { return why_not_whole().empty(); }
  // "ranks 1 and 3 of 4 have no GPU of their own (rank 1, on node7: the driver is asleep)", or the reason alone
  // if no rank sees one; empty if every rank has one.
  [[nodiscard]] std::string why_not_whole() const;
  // Whether every rank is alone on its host, and one of them sees several GPUs.
  [[nodiscard]] bool is_rank_a_host() const;
  // Returns the ranks of the same host as this one, and their GPUs, in order.
  [[nodiscard]] std::vector<int> ranks_of_host(int rank) const;
  [[nodiscard]] std::vector<std::string> bus_ids_of_host(int rank) const;
  // "node1 has 8 GPUs and 2 ranks: 6 of its GPUs are not measured; ...", one per such host.
  [[nodiscard]] std::vector<std::string> warnings_of_idle_gpus() const;
};

// Collective. visible: the GPUs of this rank, unless `absence` says why it has none; index and bus id suffice.
[[nodiscard]] GpusOfRanks share_out_gpus(Communicator& ranks, const std::string& absence,
                                         const std::vector<GpuFacts>& visible);
[[nodiscard]] GpusOfRanks share_out_gpus(Communicator& ranks, const GpuDevices& devices);

}  // namespace sextant::inline probes
