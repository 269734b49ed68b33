#include "planner/search/exchange.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sextant::inline planner {

IslandExchange::IslandExchange(std::size_t islands, IslandRanks* ranks) : ranks_(ranks), told_(islands) {
  for (std::size_t island = 0; island < islands; ++island) ends_.emplace_back(*this, island);
}

void IslandExchange::offer(std::size_t from, const std::string& packed) {
  if (from == 0 && ranks_ != nullptr) ranks_->tell_next(packed);
  const std::size_t others = std::min(kNeighbours, told_.size() - 1);
  const std::scoped_lock lock(one_at_a_time_);
  for (std::size_t n = 1; n <= others; ++n) told_[(from + n) % told_.size()].push_back(packed);
}

std::vector<std::string> IslandExchange::taken(std::size_t to) {
  std::vector<std::string> taken;
  {
    const std::scoped_lock lock(one_at_a_time_);
    taken = std::exchange(told_[to], {});
  }
  if (to == 0 && ranks_ != nullptr) {
    std::vector<std::string> by_ranks = ranks_->told();
    std::move(by_ranks.begin(), by_ranks.end(), std::back_inserter(taken));
  }
  return taken;
}

}  // namespace sextant::inline planner
