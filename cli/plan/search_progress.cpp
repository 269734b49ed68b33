#include "cli/plan/search_progress.h"

#include <unistd.h>

#include <chrono>
#include <cmath>

#include "core/progress.h"
#include "core/units.h"

namespace sextant::cli {

SearchProgress::SearchProgress(std::string planner, double budget_s) : planner_(std::move(planner)) {
  if (isatty(STDERR_FILENO) == 1) shower_ = std::jthread([this, budget_s] { show(budget_s); });
}

SearchProgress::~SearchProgress() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
}

void SearchProgress::improved(const Improvement& improvement) {
  const std::lock_guard lock(mutex_);
  if (!best_ || improvement.iteration_s < best_->iteration_s) best_ = improvement;
}

// A step a second: Progress counts them.
void SearchProgress::show(double budget_s) {
  Progress progress("second", static_cast<std::size_t>(std::ceil(budget_s)));
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; })) progress.step(line());
}

std::string SearchProgress::line() {
  if (!best_) return planner_;
  return planner_ + ": best so far " + format_seconds(best_->iteration_s) + ", after " +
         format_seconds(best_->seconds);
}

}  // namespace sextant::cli
