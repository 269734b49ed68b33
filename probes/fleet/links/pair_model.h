// Latency or bandwidth of pairs of hosts that were never measured, from those that were, and how far off it is.
//
// A pair passes parts: the network between two places (a class: two zones, within them two regions, within them
// the level), the uplinks of both zones where it leaves them, and both hosts. Two rules are tried: the slowest
// part decides, as the narrowest adapter does for bandwidth, and parts add up, as the ways to and from the
// network do for latency; beside them that places alone decide. The one with the least error on held-out pairs
// stays, a simpler one unless another is better by 2 %.
//
// The error comes from pairs that were held out, too (five folds): the bound that 90 % of them keep, by level,
// each weighted by how many pairs it stands for. It is of what measuring the pair would give, noise of the
// measurement included; with n held-out pairs the quantile is that of n + 1, as in conformal prediction (Vovk
// et al., Algorithmic Learning in a Random World, 2005), and below nine pairs there is none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "probes/fleet/links/pair_parts.h"
#include "probes/report/host_place.h"

namespace sextant {

enum class PairQuantity { latency_s, bytes_per_s };

struct PairSample {
  RankPair pair;
  double value = 0;            // > 0, in the quantity's unit
  double spread_fraction = 0;  // of the measurement; one that is noisier than most counts for less
};

enum class PairRule { places, slowest_part, sum_of_parts };

class PairModel {
 public:
  // Same samples and seed, same model. Throws Error(bad_input) when there is no sample, or one has no positive
  // value or hosts that are not in `places`.
  [[nodiscard]] static PairModel fit(std::span<const HostPlace> places, std::span<const PairSample> samples,
                                     PairQuantity quantity, std::uint64_t seed = 1);

  [[nodiscard]] PairRule rule() const { return rule_; }
  [[nodiscard]] const HostGroups& groups() const { return table_.groups(); }
  // At a level without a measured pair it is that of the next outer level that has one, else the next inner
  // one.
  [[nodiscard]] double predict(const RankPair& pair) const;
  // The same if both hosts were usual ones.
  [[nodiscard]] double predict_without_hosts(const RankPair& pair) const;
  // Of a pair of this host with a usual one of its zone, and of two usual ones there (of the nearest level that
  // has a measured pair, where the zone has no other host).
  [[nodiscard]] double with_usual_neighbour(int host) const;
  [[nodiscard]] double between_usual_neighbours(int host) const;
  // What leaves the zone is slower or faster than what leaves others.
  [[nodiscard]] bool has_uplink_of_its_own(int zone) const;
  // 90 % of the pairs of a level that were never measured are within predict() times exp(+-this); nothing where
  // too few pairs were measured to say.
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

}  // namespace sextant
