// Shows the incumbent's time of a search on a terminal.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "sextant/planner.h"

namespace sextant::cli {

// While it lives, it shows the elapsed and total seconds, and the incumbent's time if the planner reports it.
// Shows nothing if stderr is not a terminal.
class SearchProgress {
 public:
  SearchProgress(std::string planner, double budget_s);
  ~SearchProgress();
  SearchProgress(const SearchProgress&) = delete;
  SearchProgress& operator=(const SearchProgress&) = delete;

  // May be called from any thread.
  void improved(const Improvement& improvement);

 private:
  void show(double budget_s);
  [[nodiscard]] std::string line();

  std::string planner_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::optional<Improvement> best_;
  std::jthread shower_;  // last member: it uses the others
};

}  // namespace sextant::cli
