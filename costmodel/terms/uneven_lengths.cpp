#include "costmodel/terms/uneven_lengths.h"

#include <algorithm>
#include <cmath>

#include "costmodel/terms/stragglers.h"

namespace sextant::terms {
namespace {

double sequences_until_meeting(const TaskWork& task, const ReplicaWork& replica) {
  const Execution& execution = task.execution();
  const bool meets_at_micro_batches = execution.zero_stage >= 3 && execution.micro_batch_tokens == 0;
  return meets_at_micro_batches ? replica.micro_batch_sequences : replica.sequences / task.mini_batches;
}

}  // namespace

double uneven_share(const TaskWork& task, const ReplicaWork& replica) {
  if (task.kind() == TaskKind::generation || !task.execution().packed || task.replicas.size() < 2) return 0;
  const double mean = replica.sequence_tokens, square = replica.attention_tokens * replica.attention_tokens;
  const double variance = std::max(0.0, square - mean * mean);
  const double until = sequences_until_meeting(task, replica);
  const double left = std::max(0.0, 1.0 - until / replica.sequences);
  return std::sqrt(variance * left / until) / mean * expected_largest(static_cast<int>(task.replicas.size()));
}

}  // namespace sextant::terms
