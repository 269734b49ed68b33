// Medians of measured pairs by class, which is what a level and its exceptions have in a Cluster.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "probes/fleet/links/fleet_links.h"
#include "probes/fleet/links/pair_classes.h"

namespace sextant {

// Lives no longer than the pairs and models that it is made of.
class ClassRates {
 public:
  ClassRates(std::span<const MeasuredPair> pairs, const PairModel& latency, const PairModel& bandwidth);

  [[nodiscard]] const PairClasses& classes() const { return classes_; }
  [[nodiscard]] std::size_t pairs_of(int number) const {
    return members_[static_cast<std::size_t>(number)].size();
  }
  // Levels that have pairs, and those at which hosts meet and none was measured: see fleet_links.h.
  [[nodiscard]] std::map<LinkLevel, LinkRate> level_rates(std::vector<std::string>& warnings) const;
  // Medians of the class's pairs, without those that a host slows unless it slows all. At least one pair.
  [[nodiscard]] LinkRate rate(int number) const;

 private:
  [[nodiscard]] LinkRate borrowed_rate(int level, std::vector<std::string>& warnings) const;
  [[nodiscard]] Quantity median_of(int number, const std::vector<bool>& is_slowed,
                                   Quantity LinkRate::*quantity) const;

  std::span<const MeasuredPair> pairs_;
  const HostGroups& groups_;
  PairClasses classes_;
  std::vector<std::vector<std::size_t>> members_;  // pairs, by class
  std::vector<bool> latency_is_slowed_;            // by pair: by one of its hosts
  std::vector<bool> bandwidth_is_slowed_;
};

// More than kOddLinkFraction apart in latency or bandwidth.
[[nodiscard]] bool is_odd(const LinkRate& one, const LinkRate& usual);

// |log| of the larger ratio of the two.
[[nodiscard]] double distance(const LinkRate& one, const LinkRate& usual);

}  // namespace sextant
