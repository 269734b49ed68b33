// The costs of options that searches for one request leave for later ones: planners of a portfolio, and searches
// that fill less of the memory. The latter take over which options are worth keeping, although that may depend
// on the share of the memory that a KV cache of stated size counts for.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "planner/space/costed_options.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

class KnownOptions {
 public:
  explicit KnownOptions(const PlanRequest& request);

  // An end for one more search, which hears all that others offered before. Null if the request has other
  // inputs or choices, or if loads are balanced, which not every planner does in the same way. If links
  // distinguish machines, options may depend on which sets were costed before, and so on what it heard.
  // Thread-safe; the end is for one thread.
  [[nodiscard]] std::unique_ptr<OptionExchange> join(const PlanRequest& request);

 private:
  class End;
  // The inputs on which options depend.
  struct Inputs {
    const Cluster* cluster;
    const Workflow* workflow;
    const Coefficients* coefficients;
    std::string framework;
    std::vector<TaskChoices> choices;
    std::vector<int> micro_batch_sequences;
    bool try_recompute;
    WeightSyncPlan weight_sync;

    friend bool operator==(const Inputs&, const Inputs&) = default;
  };
  static Inputs inputs_of(const PlanRequest& request);

  const Inputs inputs_;
  std::mutex mutex_;
  std::vector<std::string> packed_;
};

}  // namespace sextant::inline planner
