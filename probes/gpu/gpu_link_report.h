// Links between GPUs: measured and expected rates by class, and reasons for gaps.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/link/alpha_beta.h"
#include "probes/report/rank_report.h"
#include "probes/schedule/tournament.h"
#include "probes/topology/gpu_place.h"
#include "probes/topology/link_facts.h"
#include "sextant/cluster.h"

namespace sextant::inline probes {

// A method of measuring a link, and the prefix of its points' names.
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
  std::string reason;  // reason of a gap; empty without one

  [[nodiscard]] Json to_json() const;
};

// The links of one class measured with one method: one line through the points of all pairs, so that its
// interval includes the differences between pairs.
struct LinkClassReport {
  std::string way;
  LinkClass link;
  int pairs = 0;
  AlphaBeta fit;                         // intervals of 90 %
  std::optional<ExpectedRate> expected;  // the minimum over its pairs

  [[nodiscard]] Json to_json() const;
};

struct LinkReport {
  std::vector<GpuPlace> places;  // by rank
  std::vector<PairReport> pairs;
  std::vector<LinkClassReport> classes;

  [[nodiscard]] Json to_json() const;
};

// Reports are by rank; reports without a place are ignored. The settings are rank 0's.
[[nodiscard]] LinkReport report_links(const std::vector<RankReport>& reports, const LinkFacts& facts);

// Returns one warning per reason: how many pairs, the worst of them, expected and measured.
[[nodiscard]] std::vector<std::string> warnings_of(const LinkReport& report);

// Returns measurements for the cluster: "links/<way>/<class>/latency", "/bandwidth", and
// "links/<class>/expected" from the datasheet.
[[nodiscard]] std::map<std::string, DeviceMeasurement> measurements_of(const LinkReport& report);

}  // namespace sextant::inline probes
