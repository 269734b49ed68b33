#include "planner/verify/batch_rules.h"

#include <algorithm>
#include <cmath>

#include "core/units.h"
#include "planner/verify/batch.h"

namespace sextant::inline planner {
namespace {

class BatchRules {
 public:
  explicit BatchRules(const PlannedTask& task) : task_(task) {}

  std::vector<Violation> run() {
    look_at_sum();
    look_at_budget();
    const std::vector<int>& sequences = task_.batch.sequences;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      if (sequences[i] < 1) {
        add(place_of(task_.name(), i), rules::kBatchShares,
            "its share of " + std::to_string(task_.workflow.sequences()) + " sequences is none");
        continue;
      }
      look_at_micro_batches(i, sequences[i]);
      look_at_cache(i);
    }
    return std::move(found_);
  }

 private:
  void add(const std::string& where, const char* rule, const std::string& message) {
    found_.push_back({where, rule, message});
  }

  void look_at_sum() {
    constexpr double kTolerance = 1e-5;  // thirds written with six digits
    double sum = 0;
    for (const Replica& replica : task_.plan.replicas) sum += replica.batch_share;
    if (std::abs(sum - 1) <= kTolerance) return;
    add(task_.name(), rules::kBatchShares, "the batch shares sum to " + format_number(sum) + ", not to 1");
  }

  void look_at_micro_batches(std::size_t i, int sequences) {
    const int steps = task_.is_training() ? task_.workflow.mini_batches : 1;
    const double in_step = std::ceil(static_cast<double>(sequences) / steps);
    if (task_.execution().micro_batches <= in_step) return;
    add(place_of(task_.name(), i), rules::kMicroBatches,
        std::to_string(task_.execution().micro_batches) + " micro-batches of " + format_number(in_step) +
            " sequences");
  }

  void look_at_budget() {
    if (task_.execution().micro_batch_tokens == 0 || task_.execution().micro_batches > 0) return;
    double tokens = 0;
    for (const Replica& replica : task_.plan.replicas) tokens = std::max(tokens, own_tokens(task_, replica));
    const double budget = token_budget(task_);
    if (budget >= tokens) return;
    add(task_.name(), rules::kMicroBatches,
        "micro-batches of " + format_number(budget) + " tokens hold no sequence of " + format_number(tokens));
  }

  void look_at_cache(std::size_t i) {
    const double room = task_.execution().kv_cache_bytes;
    if (!task_.is_generation() || room == 0) return;
    const std::vector<Stage>& stages = task_.plan.replicas[i].stages;
    for (std::size_t j = 0; j < stages.size(); ++j) {
      const double needed = cache_bytes(task_, stages[j], sequence_tokens(task_).all(), 1);
      if (needed <= room) continue;
      add(place_of(task_.name(), i, j), rules::kKvCache,
          "the KV cache of one sequence takes " + format_bytes(needed) + " of a device, and it may have " +
              format_bytes(room));
    }
  }

  const PlannedTask& task_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> batch_violations(const PlannedTask& task) { return BatchRules(task).run(); }

}  // namespace sextant::inline planner
