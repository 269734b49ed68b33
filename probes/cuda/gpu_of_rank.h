// Which GPU each rank of a job measures: the ranks of a host take its GPUs in order.
#pragma once

#include <string>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/cuda/gpu_devices.h"

namespace sextant {

struct GpusOfRanks {
  GpuFacts mine;  // if this rank has one
  // By rank; both empty for one that has a GPU of its own.
  std::vector<std::string> absences;  // why it sees none at all
  std::vector<std::string>
      shortages;  // why none is left for it: more ranks than GPUs, or it is another rank's too
  std::vector<std::string> hosts;

  [[nodiscard]] bool is_whole() const { return why_not_whole().empty(); }
  // "ranks 1 and 3 of 4 have no GPU of their own (rank 1, on node7: the driver is asleep)", or the reason alone
  // where no rank sees one; empty when every rank has one.
  [[nodiscard]] std::string why_not_whole() const;
};

// Collective.
[[nodiscard]] GpusOfRanks share_out_gpus(Communicator& ranks, const GpuDevices& devices);

}  // namespace sextant
