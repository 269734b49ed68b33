// Pairs of the ranks of a job, and when they are measured.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "probes/schedule/tournament.h"

namespace sextant::inline probes {

// The kind of link between two ranks of one host: "nvlink-18", "host_bridge".
using KindOfPair = std::function<std::string(int low, int high)>;

// Rounds in which ranks that are cores measure their links. First every pair of nodes, by the first rank of each,
// in rounds of disjoint pairs (N - 1 rounds for an even number N of nodes): if all ranks of a node were measured
// with all of another at once, each pair would get a share of the rate of their adapters. Then the ranks of each
// node among themselves, all nodes at the same time.
[[nodiscard]] PairRounds rounds_of_ranks(const std::vector<std::string>& host_of_rank);

// All pairs of ranks that are GPUs in turns of undisturbed measurements, the most informative pairs first. Every
// pair once; pairs of one turn share no host, because those of one host share its bridges and adapters.
// On one host that is one pair after another; on h hosts up to h / 2 pairs between hosts, or h within them, at
// a time. In this order:
//   1. on every host one pair of each kind,
//   2. all pairs of hosts in the rounds of a tournament, one pair of ranks each; the ranks take turns, those of
//      the same place on their hosts first,
//   3. the other pairs within hosts,
//   4. the other pairs between hosts, as often as in 2.
// If the measurement stops early, it has covered every kind of link first, then every pair of hosts.
class PairTurns {
 public:
  // Without a function all pairs of a host are of one kind.
  explicit PairTurns(const std::vector<std::string>& host_of_rank, const KindOfPair& kind_of_pair = {});

  [[nodiscard]] std::size_t count() const;
  // Number of turns of 1 and 2, the first of which show each level and kind at least once.
  [[nodiscard]] std::size_t first_count() const;
  [[nodiscard]] std::size_t min_count() const;
  // Number of pairs in all turns together.
  [[nodiscard]] std::size_t pair_count() const { return ranks_ * (ranks_ - 1) / 2; }
  // index < count(); never empty.
  [[nodiscard]] std::vector<RankPair> turn(std::size_t index) const;

 private:
  // A round of the tournament of hosts, and the pairs of ranks that are measured in it.
  struct Between {
    std::size_t sweep = 0;
    int round = 0;
  };

  void find_between();
  [[nodiscard]] std::size_t pairs_between(const RankPair& of_hosts) const;
  [[nodiscard]] std::vector<RankPair> within_hosts(std::size_t nth) const;
  [[nodiscard]] std::vector<RankPair> between_hosts(const Between& between) const;

  std::size_t ranks_ = 0;
  std::vector<std::vector<int>> ranks_of_host_;
  std::vector<std::vector<RankPair>> within_;  // by host, one of each kind first
  std::size_t kinds_ = 0;                      // maximum over the hosts
  std::size_t within_turns_ = 0;
  std::vector<Between> between_;
  std::size_t host_rounds_ = 0;
};

}  // namespace sextant::inline probes
