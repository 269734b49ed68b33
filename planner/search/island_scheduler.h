// Which islands run where there are more of them than may at the same time: those with the most left to do, so
// that all end at about the same time. None depends on when another ran.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

namespace sextant {

class IslandScheduler {
 public:
  explicit IslandScheduler(int at_once) : free_(at_once) {}

  // That the caller may run: from when one is made, for which it may wait, until it is destroyed.
  class Slot {
   public:
    // left: what the caller has to do, by which those who wait are chosen.
    Slot(IslandScheduler& turns, std::uint64_t left) : turns_(turns) { turns_.begin(left); }
    ~Slot() { turns_.end(); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    // Lets another run that has a third more left, and waits for the next turn; goes on where there is none, or
    // nothing left of its own.
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
  // With the most left, of equals the one that has waited longest; end where there is none.
  [[nodiscard]] std::list<Waiter*>::iterator next();
  void let(std::list<Waiter*>::iterator waiter);

  std::mutex one_at_a_time_;
  std::condition_variable chosen_;
  int free_;
  std::list<Waiter*> waiting_;
};

}  // namespace sextant
