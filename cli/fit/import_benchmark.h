// sextant import nccl-tests|nvbandwidth|iperf3|superbench: links of a cluster document.
#pragma once

#include <string>
#include <vector>

#include "ask/question.h"

namespace sextant::cli {

struct BenchmarkOptions {
  std::string format;
  std::vector<std::string> files;
  std::string cluster_document;  // the cluster that was measured; empty: that of `cluster`, or of the files
  ClusterOptions cluster;
  std::string level;  // of links between nodes: "within_zone", "within_region", "between_regions"
  std::string out;
  bool json = false;
};

// Returns the exit code.
[[nodiscard]] int import_benchmarks(const BenchmarkOptions& options);

}  // namespace sextant::cli
