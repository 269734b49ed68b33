#include "planner/search/island_scheduler.h"

#include <algorithm>

namespace sextant::inline planner {

void IslandScheduler::begin(std::uint64_t left) {
  std::unique_lock lock(one_at_a_time_);
  if (free_ > 0) {
    --free_;
  } else {
    wait(lock, left);
  }
}

// A third: whoever runs next most often waits for a core that is not the one which this leaves, and finds
// nothing of its own in the cache. So turns are long at first, and short when it matters who ends when.
void IslandScheduler::pass(std::uint64_t left) {
  if (left == 0) return;
  std::unique_lock lock(one_at_a_time_);
  const auto waiter = next();
  if (waiter == waiting_.end() || (*waiter)->left <= left + left / 3) return;
  let(waiter);
  wait(lock, left);
}

void IslandScheduler::end() {
  const std::scoped_lock lock(one_at_a_time_);
  if (const auto waiter = next(); waiter != waiting_.end()) {
    let(waiter);
  } else {
    ++free_;
  }
}

void IslandScheduler::wait(std::unique_lock<std::mutex>& lock, std::uint64_t left) {
  Waiter self{left};
  waiting_.push_back(&self);
  chosen_.wait(lock, [&] { return self.may_run; });
}

std::list<IslandScheduler::Waiter*>::iterator IslandScheduler::next() {
  return std::max_element(waiting_.begin(), waiting_.end(),
                          [](const Waiter* a, const Waiter* b) { return a->left < b->left; });
}

void IslandScheduler::let(std::list<Waiter*>::iterator waiter) {
  (*waiter)->may_run = true;
  waiting_.erase(waiter);
  chosen_.notify_all();
}

}  // namespace sextant::inline planner
