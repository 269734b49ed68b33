// A cluster whose links have the rates that benchmarks measured.
#pragma once

#include <string>
#include <vector>

#include "calibrate/import/benchmarks/link_benchmark.h"
#include "calibrate/import/records/facts.h"
#include "sextant/cluster.h"

namespace sextant::inline ask {

struct BenchmarkedCluster {
  Cluster cluster;
  std::vector<std::string> verdicts;  // a sentence for each link: measured, expected, and what that means
};

// The level of links outside nodes with this name: "within_zone", "within_region" or "between_regions". Throws
// Error(bad_input) for another.
[[nodiscard]] LinkLevel outer_level(const std::string& name);

// "2x8xNVIDIA H100 80GB HBM3" of a benchmark that states nodes and GPUs, in words that cluster_from_text reads. Throws
// Error(bad_input) if it does not.
[[nodiscard]] std::string cluster_words_of(const LinkBenchmark& link, const Facts& facts);

// The links of `base`, all of whose nodes have the same GPUs, with those of the benchmark as measured. `source`: where it
// is from, for the notes of the quantities. `level`: of links between nodes. Throws Error(bad_input) for a cluster
// with several types of GPUs or without such a level.
[[nodiscard]] BenchmarkedCluster with_benchmark(const Cluster& base, const LinkBenchmark& link, LinkLevel level,
                                                const std::string& source);

}  // namespace sextant::inline ask
