// The messages between the islands of a search: the options that they have costed, most of which another island
// will need soon.
//
// Each island sends to the next few in a ring; with many islands, processing the messages of all would cost
// more than it saves. The first island of a rank also sends to the first islands of the next few ranks in their
// ring. It alone communicates with other ranks, because a transport may be limited to one thread.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "planner/search/islands.h"
#include "planner/space/costed_options.h"

namespace sextant::inline planner {

class IslandExchange {
 public:
  // islands: number in this process. ranks: null, or must outlive the object.
  IslandExchange(std::size_t islands, IslandRanks* ranks);

  // The exchange of one island, for use by one thread at a time; that of the first island only by the thread
  // that created this object. Valid as long as this object.
  [[nodiscard]] OptionExchange& end_of(std::size_t island) { return ends_[island]; }

 private:
  static constexpr std::size_t kNeighbours = 3;  // number of receivers of an island

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
  std::vector<std::vector<std::string>> told_;  // by island: messages not taken yet
};

}  // namespace sextant::inline planner
