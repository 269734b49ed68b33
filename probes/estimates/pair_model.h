// Predicts latency or bandwidth of unmeasured pairs of hosts from measured ones, with an error bound.
//
// The path of a pair has segments: the network between two places (a class: two zones, within them two regions,
// within them the level), the uplinks of both zones if it leaves them, and both hosts. Two rules are tried: the
// slowest segment decides, as the narrowest adapter does for bandwidth, and segments add up, as the paths to
// and from the network do for latency; in addition, a model in which places alone decide. The one with the
// smallest error on held-out pairs is kept, a simpler one unless another is better by 2 %.
//
// The error bound comes from held-out pairs, too (five folds): the bound that 90 % of them respect, by level,
// each weighted by the number of pairs that it represents. It is the error relative to a measurement of the
// pair, including its noise; with n held-out pairs the quantile is that of n + 1, as in conformal prediction
// (Vovk et al., Algorithmic Learning in a Random World, 2005), and below nine pairs there is none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "probes/estimates/pair_parts.h"
#include "probes/schedule/host_place.h"

namespace sextant::inline probes {

enum class PairQuantity { latency_s, bytes_per_s };

struct PairSample {
  RankPair pair;
  double value = 0;            // > 0, in the quantity's unit
  double spread_fraction = 0;  // of the measurement; noisier ones have less weight
};

enum class PairRule { places, slowest_part, sum_of_parts };

class PairModel {
 public:
  // The same samples and seed give the same model. Throws Error(bad_input) if there is no sample, or one has no
  // positive value or hosts that are not in `places`.
  [[nodiscard]] static PairModel fit(std::span<const HostPlace> places, std::span<const PairSample> samples,
                                     PairQuantity quantity, std::uint64_t seed = 1);

  [[nodiscard]] PairRule rule() const { return rule_; }
  [[nodiscard]] const HostGroups& groups() const { return table_.groups(); }
  // At a level without a measured pair it returns the value of the next outer level that has one, else the next
  // inner one.
  [[nodiscard]] double predict(const RankPair& pair) const;
  // Like predict, as if both hosts were usual ones.
  [[nodiscard]] double predict_without_hosts(const RankPair& pair) const;
  // Predicts a pair of this host with a usual one of its zone, and of two usual ones there (at the nearest
  // level with a measured pair, if the zone has no other host).
  [[nodiscard]] double with_usual_neighbour(int host) const;
  [[nodiscard]] double between_usual_neighbours(int host) const;
  // Whether the uplink of the zone is slower or faster than those of others.
  [[nodiscard]] bool has_uplink_of_its_own(int zone) const;
  // 90 % of the unmeasured pairs of a level are within predict() times exp(+-this); nullopt if too few pairs
  // were measured.
  [[nodiscard]] std::optional<double> log_error_90(LinkLevel level) const {
    return log_error_90_[static_cast<std::size_t>(level_class(level))];
  }
  // The median |log(predicted / measured)| of held-out pairs, all levels.
  [[nodiscard]] double held_out_error() const { return held_out_error_; }

 private:
  PairModel(PartTable table, PairQuantity quantity) : table_(std::move(table)), quantity_(quantity) {}
  [[nodiscard]] double value_of(double cost) const;
  [[nodiscard]] double cost_of(const PairParts& parts) const;
  [[nodiscard]] PairParts parts_of_host(int host) const;

  PartTable table_;
  PairQuantity quantity_;
  PairRule rule_ = PairRule::places;
  SegmentCosts costs_;
  double held_out_error_ = 0;
  std::array<std::optional<double>, kFleetLevels> log_error_90_;
};

}  // namespace sextant::inline probes
