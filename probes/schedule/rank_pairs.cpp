#include "probes/schedule/rank_pairs.h"

#include <algorithm>
#include <map>
#include <set>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// The ranks of each host, hosts in the order of their first rank.
std::vector<std::vector<int>> ranks_by_host(const std::vector<std::string>& host_of_rank) {
  std::map<std::string, std::size_t> number_of;
  std::vector<std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    const auto [found, is_new] = number_of.try_emplace(host_of_rank[rank], ranks.size());
    if (is_new) ranks.emplace_back();
    ranks[found->second].push_back(static_cast<int>(rank));
  }
  return ranks;
}

// Rounds of all pairs of these ranks.
PairRounds rounds_among(const std::vector<int>& ranks) {
  PairRounds rounds = tournament_rounds(static_cast<int>(ranks.size()));
  for (auto& round : rounds) {
    for (RankPair& seats : round) {
      seats = {ranks[static_cast<std::size_t>(seats.low)], ranks[static_cast<std::size_t>(seats.high)]};
    }
  }
  return rounds;
}

std::vector<RankPair> pairs_among(const std::vector<int>& ranks) {
  std::vector<RankPair> pairs;
  for (const auto& round : rounds_among(ranks)) pairs.insert(pairs.end(), round.begin(), round.end());
  return pairs;
}

// Moves one pair of each kind to the front and returns how many those are.
std::size_t put_kinds_first(std::vector<RankPair>& pairs, const KindOfPair& kind_of_pair) {
  std::set<std::string> seen;
  const auto others = std::stable_partition(pairs.begin(), pairs.end(), [&](const RankPair& pair) {
    return seen.insert(kind_of_pair ? kind_of_pair(pair.low, pair.high) : "").second;
  });
  return static_cast<std::size_t>(others - pairs.begin());
}

}  // namespace

PairRounds rounds_of_ranks(const std::vector<std::string>& host_of_rank) {
  std::vector<int> firsts;
  PairRounds within_nodes;
  for (const std::vector<int>& ranks : ranks_by_host(host_of_rank)) {
    firsts.push_back(ranks.front());
    const PairRounds own = rounds_among(ranks);
    within_nodes.resize(std::max(within_nodes.size(), own.size()));
    for (std::size_t round = 0; round < own.size(); ++round) {
      within_nodes[round].insert(within_nodes[round].end(), own[round].begin(), own[round].end());
    }
  }
  PairRounds rounds = rounds_among(firsts);
  rounds.insert(rounds.end(), within_nodes.begin(), within_nodes.end());
  return rounds;
}

PairTurns::PairTurns(const std::vector<std::string>& host_of_rank, const KindOfPair& kind_of_pair)
    : ranks_(host_of_rank.size()), ranks_of_host_(ranks_by_host(host_of_rank)) {
  for (const auto& ranks : ranks_of_host_) {
    within_.push_back(pairs_among(ranks));
    kinds_ = std::max(kinds_, put_kinds_first(within_.back(), kind_of_pair));
    within_turns_ = std::max(within_turns_, within_.back().size());
  }
  find_between();
}

// Hosts with fewer ranks than others have no pair left in later sweeps.
void PairTurns::find_between() {
  const int hosts = static_cast<int>(ranks_of_host_.size());
  std::vector<std::size_t> sweeps_of_round;
  for (int round = 0; round < tournament_round_count(hosts); ++round) {
    std::size_t maximum = 0;
    for (const RankPair& pair : tournament_round(hosts, round))
      maximum = std::max(maximum, pairs_between(pair));
    sweeps_of_round.push_back(maximum);
  }
  host_rounds_ = sweeps_of_round.size();
  const std::size_t sweeps =
      host_rounds_ == 0 ? 0 : *std::max_element(sweeps_of_round.begin(), sweeps_of_round.end());
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t round = 0; round < host_rounds_; ++round) {
      if (sweep < sweeps_of_round[round]) between_.push_back({sweep, static_cast<int>(round)});
    }
  }
}

std::size_t PairTurns::pairs_between(const RankPair& of_hosts) const {
  return ranks_of_host_[static_cast<std::size_t>(of_hosts.low)].size() *
         ranks_of_host_[static_cast<std::size_t>(of_hosts.high)].size();
}

std::size_t PairTurns::count() const { return within_turns_ + between_.size(); }
std::size_t PairTurns::first_count() const { return kinds_ + host_rounds_; }
std::size_t PairTurns::min_count() const { return kinds_ + (host_rounds_ > 0 ? 1 : 0); }

std::vector<RankPair> PairTurns::turn(std::size_t index) const {
  SEXTANT_CHECK(index < count());
  if (index < kinds_) return within_hosts(index);
  if (index < first_count()) return between_hosts(between_[index - kinds_]);
  const std::size_t before_others = host_rounds_ + within_turns_;
  return index < before_others ? within_hosts(index - host_rounds_)
                               : between_hosts(between_[index - within_turns_]);
}

std::vector<RankPair> PairTurns::within_hosts(std::size_t nth) const {
  std::vector<RankPair> pairs;
  for (const auto& of_host : within_) {
    if (nth < of_host.size()) pairs.push_back(of_host[nth]);
  }
  return pairs;
}

std::vector<RankPair> PairTurns::between_hosts(const Between& between) const {
  std::vector<RankPair> pairs;
  for (const RankPair& hosts : tournament_round(static_cast<int>(ranks_of_host_.size()), between.round)) {
    const std::size_t all = pairs_between(hosts);
    if (between.sweep >= all) continue;
    const auto& low = ranks_of_host_[static_cast<std::size_t>(hosts.low)];
    const auto& high = ranks_of_host_[static_cast<std::size_t>(hosts.high)];
    // Another pair of places in each round, so that one sweep uses all of a host's ranks.
    const std::size_t nth = (between.sweep + static_cast<std::size_t>(between.round)) % all;
    const std::size_t seat = nth % low.size();
    const int a = low[seat];
    const int b = high[(seat + nth / low.size()) % high.size()];
    pairs.push_back({std::min(a, b), std::max(a, b)});
  }
  return pairs;
}

}  // namespace sextant::inline probes
