// Medians of measured pairs by class, for the levels and exceptions of a Cluster.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "probes/assembly/fleet_links.h"
#include "probes/estimates/pair_classes.h"

namespace sextant::inline probes {

// Must not outlive the pairs and models from which it is made.
class ClassRates {
 public:
  ClassRates(std::span<const MeasuredPair> pairs, const PairModel& latency, const PairModel& bandwidth);

  [[nodiscard]] const PairClasses& classes() const { return classes_; }
  [[nodiscard]] std::size_t pairs_of(int number) const {
    return members_[static_cast<std::size_t>(number)].size();
  }
  // Returns levels that have pairs, and those at which hosts meet but no pair was measured: see fleet_links.h.
  [[nodiscard]] std::map<LinkLevel, LinkRate> level_rates(std::vector<std::string>& warnings) const;
  // Medians of the class's pairs, without those limited by a slow host, unless all are. At least one pair.
  [[nodiscard]] LinkRate rate(int number) const;

 private:
  [[nodiscard]] LinkRate borrowed_rate(int level, std::vector<std::string>& warnings) const;
  [[nodiscard]] Quantity median_of(int number, const std::vector<bool>& is_slowed,
                                   Quantity LinkRate::*quantity) const;

  std::span<const MeasuredPair> pairs_;
  const HostGroups& groups_;
  PairClasses classes_;
  std::vector<std::vector<std::size_t>> members_;  // pairs, by class
  std::vector<bool> latency_is_slowed_;            // by pair: one of its hosts limits it
  std::vector<bool> bandwidth_is_slowed_;
};

// |log| of the larger ratio of the two.
[[nodiscard]] double distance(const LinkRate& one, const LinkRate& usual);

}  // namespace sextant::inline probes
