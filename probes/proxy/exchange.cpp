#include "probes/proxy/exchange.h"

namespace sextant::proxy {

// Exactly one rank wrote each element and the others hold 0, so that a sum is the union.
void exchange_tokens(Communicator& everyone, const Workload& workload, Rollout& rollout) {
  everyone.wait_quietly();
  everyone.all_reduce_sum(std::span(rollout.sampled));
  for (int i = 0; i < workload.sequences(); ++i) {
    const std::size_t first = workload.offset(i) + static_cast<std::size_t>(workload.prompt(i));
    for (std::size_t t = first; t < workload.offset(i + 1); ++t) {
      rollout.tokens[t] = static_cast<int>(rollout.sampled[t]);
    }
  }
}

void exchange_scores(Communicator& everyone, const Workflow& workflow, const Workload& workload,
                     Rollout& rollout) {
  everyone.wait_quietly();
  everyone.all_reduce_sum(std::span(rollout.log_probabilities));
  everyone.all_reduce_sum(std::span(rollout.values));
  everyone.all_reduce_sum(std::span(rollout.rewards));
  compute_advantages(workflow, workload, rollout);
}

}  // namespace sextant::proxy
