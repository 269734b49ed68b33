// Schedules more islands than may run concurrently: those with the most remaining work run first, so that all
// end at about the same time. No island's result depends on when another one ran.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

namespace sextant::inline planner {

class IslandScheduler {
 public:
  explicit IslandScheduler(int at_once) : free_(at_once) {}

  // Permission to run, from construction, which may wait, to destruction.
  class Slot {
   public:
    // left: the caller's remaining work, which decides the order of the waiting islands.
    Slot(IslandScheduler& turns, std::uint64_t left) : turns_(turns) { turns_.begin(left); }
    ~Slot() { turns_.end(); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    // Lets another island run that has at least a third more work left, then waits for the next slot. Returns
    // at once if there is no such island, or if the caller has no work left.
    void pass(std::uint64_t left) { turns_.pass(left); }

   private:
    IslandScheduler& turns_;
  };

 private:
  struct Waiter {
    std::uint64_t left = 0;
    bool may_run = false;
  };

  void begin(std::uint64_t left);
  void pass(std::uint64_t left);
  void end();
  void wait(std::unique_lock<std::mutex>& lock, std::uint64_t left);
  // The waiting island with the most work left, on ties the one that waited longest; end() if none waits.
  [[nodiscard]] std::list<Waiter*>::iterator next();
  void let(std::list<Waiter*>::iterator waiter);

  std::mutex one_at_a_time_;
  std::condition_variable chosen_;
  int free_;
  std::list<Waiter*> waiting_;
};

}  // namespace sextant::inline planner
