// Reports of ranks with chosen numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "probes/report/rank_report.h"

namespace sextant {

inline ProbeResult value_result(std::string name, std::string unit, double value,
                                double spread_fraction = 0.01) {
  ProbeResult result;
  result.name = std::move(name);
  result.outcome = ProbeOutcome::measured;
  result.sentence = "converged";
  result.value = value;
  result.unit = std::move(unit);
  result.spread_fraction = spread_fraction;
  return result;
}

inline RankReport rank_report(int rank, const std::string& host, double flop_per_s = 100e9,
                              double bytes_per_s = 10e9) {
  RankReport report;
  report.rank = rank;
  report.host = host;
  report.cpu_model = "AMD EPYC 9654 96-Core Processor";
  report.gemm_library = "OpenBLAS";
  report.cpu = rank;
  report.memory_bytes = 4e9;
  report.results = {value_result("gemm/fp32/256", "flop/s", 0.9 * flop_per_s),
                    value_result("gemm/fp32/512", "flop/s", flop_per_s),
                    value_result("gemm/fp32/small/qkv", "flop/s", 2 * flop_per_s),
                    value_result("gemm/fp64/256", "flop/s", flop_per_s / 2),
                    waived_result("gemm/bf16/256", "flop/s", "none"),
                    value_result("memory/read", "bytes/s", bytes_per_s),
                    value_result("memory/read/l2", "bytes/s", 20 * bytes_per_s)};
  for (ProbeResult& result : report.results) result.rank = rank;
  return report;
}

// Adds the points of a perfect link to its leader's report.
inline void add_link(RankReport& leader, int peer, double latency_s, double bytes_per_s) {
  for (const double bytes : {8.0, 65536.0, 1048576.0}) {
    ProbeResult point =
        value_result("link/" + std::to_string(static_cast<int>(bytes)), "s", latency_s + bytes / bytes_per_s);
    point.work = bytes;
    point.rank = leader.rank;
    point.peer = peer;
    leader.results.push_back(point);
  }
}

}  // namespace sextant
