// Links between GPUs: what was measured beside what their class should reach, and why one falls short.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/link/alpha_beta.h"
#include "probes/link/tournament.h"
#include "probes/report/rank_report.h"
#include "probes/topology/gpu_place.h"
#include "probes/topology/link_facts.h"
#include "sextant/cluster.h"

namespace sextant {

// How a link was measured, and the beginning of the names of its points.
struct LinkWay {
  std::string name;    // "copy engine", "NCCL"
  std::string prefix;  // "link/", "nccl/pair/"
};
[[nodiscard]] const std::vector<LinkWay>& link_ways();

struct PairReport {
  RankPair pair;
  std::string way;
  LinkClass link;
  AlphaBeta fit;  // intervals of 90 %
  std::optional<ExpectedRate> expected;
  std::string reason;  // of a gap; empty without one

  [[nodiscard]] Json to_json() const;
};

// Links of one class measured one way: one line through the points of all pairs, so that its interval has the
// differences between pairs in it too.
struct LinkClassReport {
  std::string way;
  LinkClass link;
  int pairs = 0;
  AlphaBeta fit;                         // intervals of 90 %
  std::optional<ExpectedRate> expected;  // the least of its pairs

  [[nodiscard]] Json to_json() const;
};

struct LinkReport {
  std::vector<GpuPlace> places;  // by rank
  std::vector<PairReport> pairs;
  std::vector<LinkClassReport> classes;

  [[nodiscard]] Json to_json() const;
};

// Reports by rank; only those with a place take part. The settings are rank 0's.
[[nodiscard]] LinkReport report_links(const std::vector<RankReport>& reports, const LinkFacts& facts);

// One warning for each reason: how many pairs, the worst of them, expected and measured.
[[nodiscard]] std::vector<std::string> warnings_of(const LinkReport& report);

// For the cluster's measurements: "links/<way>/<class>/latency", "/bandwidth", and "links/<class>/expected"
// from the datasheet.
[[nodiscard]] std::map<std::string, DeviceMeasurement> measurements_of(const LinkReport& report);

}  // namespace sextant
