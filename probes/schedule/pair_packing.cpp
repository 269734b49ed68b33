#include "probes/schedule/pair_packing.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace sextant::inline probes {
namespace {

// The rounds in which a host is busy, one bit each.
class BusyRounds {
 public:
  [[nodiscard]] std::uint64_t word(std::size_t index) const {
    return index < words_.size() ? words_[index] : 0;
  }
  void add(std::size_t round) {
    if (words_.size() <= round / 64) words_.resize(round / 64 + 1);
    words_[round / 64] |= std::uint64_t{1} << (round % 64);
  }

 private:
  std::vector<std::uint64_t> words_;
};

std::size_t first_free(const BusyRounds& a, const BusyRounds& b, std::size_t from) {
  std::uint64_t passed = (std::uint64_t{1} << (from % 64)) - 1;
  for (std::size_t index = from / 64;; ++index, passed = 0) {
    const std::uint64_t busy = a.word(index) | b.word(index) | passed;
    if (~busy != 0) return index * 64 + static_cast<std::size_t>(__builtin_ctzll(~busy));
  }
}

// How many pairs of two regions a round has.
class Crossings {
 public:
  Crossings(const HostGroups& groups, int maximum) : groups_(groups), maximum_(maximum) {}

  [[nodiscard]] bool is_full(const RankPair& pair, std::size_t round) {
    if (maximum_ == 0 || groups_.level_of(pair) != LinkLevel::between_regions) return false;
    const auto& counts = counts_[regions(pair)];
    return round < counts.size() && counts[round] >= maximum_;
  }
  void add(const RankPair& pair, std::size_t round) {
    if (maximum_ == 0 || groups_.level_of(pair) != LinkLevel::between_regions) return;
    auto& counts = counts_[regions(pair)];
    counts.resize(std::max(counts.size(), round + 1));
    ++counts[round];
  }

 private:
  [[nodiscard]] RankPair regions(const RankPair& pair) const {
    return pair_of(groups_.region_of[static_cast<std::size_t>(pair.low)],
                   groups_.region_of[static_cast<std::size_t>(pair.high)]);
  }

  const HostGroups& groups_;
  int maximum_;
  std::map<RankPair, std::vector<int>> counts_;
};

}  // namespace

std::vector<std::vector<RankPair>> pack_rounds(const HostGroups& groups, std::vector<RankPair> pairs,
                                               int max_at_once_between_regions) {
  std::stable_sort(pairs.begin(), pairs.end(), [&](const RankPair& one, const RankPair& other) {
    return groups.level_of(one) > groups.level_of(other);
  });
  std::vector<std::vector<RankPair>> rounds;
  std::vector<BusyRounds> busy(static_cast<std::size_t>(groups.host_count()));
  Crossings crossings(groups, max_at_once_between_regions);
  for (const RankPair& pair : pairs) {
    BusyRounds& low = busy[static_cast<std::size_t>(pair.low)];
    BusyRounds& high = busy[static_cast<std::size_t>(pair.high)];
    std::size_t round = first_free(low, high, 0);
    while (crossings.is_full(pair, round)) round = first_free(low, high, round + 1);
    crossings.add(pair, round);
    low.add(round);
    high.add(round);
    if (rounds.size() <= round) rounds.resize(round + 1);
    rounds[round].push_back(pair);
  }
  for (auto& round : rounds) std::sort(round.begin(), round.end());
  return rounds;
}

}  // namespace sextant::inline probes
