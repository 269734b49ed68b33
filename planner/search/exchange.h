// What the islands of a search tell each other while they search: the options that they have costed, most of
// which another will soon ask about too.
//
// Each island tells the next few in a ring: with many of them, taking in what all find would cost more than
// it saves. The first island of a rank tells the first of the next few ranks too, in their ring, and it alone
// talks to ranks, since a transport may be for one thread.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "planner/search/islands.h"
#include "planner/space/costed_options.h"

namespace sextant {

class IslandExchange {
 public:
  // islands: of this process. ranks: null, or must outlive it.
  IslandExchange(std::size_t islands, IslandRanks* ranks);

  // An island's end of it, for one thread at a time; the first one's for that which made this. Valid as long as
  // this.
  [[nodiscard]] OptionExchange& end_of(std::size_t island) { return ends_[island]; }

 private:
  static constexpr std::size_t kNeighbours = 3;  // whom an island tells

  class End final : public OptionExchange {
   public:
    End(IslandExchange& whole, std::size_t island) : whole_(whole), island_(island) {}
    void offer(const std::string& packed) override { whole_.offer(island_, packed); }
    [[nodiscard]] std::vector<std::string> taken() override { return whole_.taken(island_); }

   private:
    IslandExchange& whole_;
    std::size_t island_;
  };

  void offer(std::size_t from, const std::string& packed);
  [[nodiscard]] std::vector<std::string> taken(std::size_t to);

  IslandRanks* ranks_;
  std::deque<End> ends_;
  std::mutex one_at_a_time_;
  std::vector<std::vector<std::string>> told_;  // by island, what it has not taken yet
};

}  // namespace sextant
