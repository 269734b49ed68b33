// The report that one rank sends to the others after measuring.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/harness/network_settings.h"
#include "probes/harness/probe_result.h"
#include "probes/topology/gpu_place.h"
#include "sextant/json.h"

namespace sextant::inline probes {

struct RankReport {
  int rank = 0;
  std::string host;
  std::string cpu_model;
  std::optional<int> cpu;            // to which the rank is pinned
  std::string gpu_model;             // the measured GPU; empty for cores
  std::string gemm_library;          // the library of the matrix products
  double memory_bytes = 0;           // this rank's part of the host's memory, or the GPU's; 0: unknown
  double host_memory_bytes = 0;      // of the whole host, if the device has its own memory; 0: unknown
  std::vector<ProbeResult> results;  // for its device and for the links that it led
  std::vector<std::string> warnings;
  NetworkSettings settings;
  std::optional<GpuPlace> place;  // for a GPU

  [[nodiscard]] bool is_gpu() const { return !gpu_model.empty(); }

  friend bool operator==(const RankReport&, const RankReport&) = default;
  static RankReport parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Collective: every rank's text, by rank.
[[nodiscard]] std::vector<std::string> exchange_texts(Communicator& world, const std::string& mine);

// Collective: the results of all ranks, by rank.
[[nodiscard]] std::vector<ProbeResult> exchange_results(Communicator& world,
                                                        const std::vector<ProbeResult>& mine);

}  // namespace sextant::inline probes
