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

// Micro-batches whose different padding evens out until replicas meet.
double micro_batches_until_meeting(const TaskWork& task, const ReplicaWork& replica) {
  if (task.execution().padding != Padding::micro_batch) return 1;
  return std::max(1.0, sequences_until_meeting(task, replica) / replica.micro_batch_sequences);
}

double padded_share(const TaskWork& task, const ReplicaWork& replica) {
  return (replica.slowest_tokens / replica.sequence_tokens - 1) /
         std::sqrt(micro_batches_until_meeting(task, replica));
}

}  // namespace

double uneven_share(const TaskWork& task, const ReplicaWork& replica) {
  const bool is_padded = task.kind() != TaskKind::generation && task.execution().pads_to_longest();
  if (is_padded && task.replicas.size() > 1 && replica.sequence_tokens > 0) return padded_share(task, replica);
  if (task.kind() == TaskKind::generation || !task.execution().packed || task.replicas.size() < 2) return 0;
  const double mean = replica.sequence_tokens, square = replica.attention_tokens * replica.attention_tokens;
  const double variance = std::max(0.0, square - mean * mean);
  const double until = sequences_until_meeting(task, replica);
  const double left = std::max(0.0, 1.0 - until / replica.sequences);
  return std::sqrt(variance * left / until) / mean * expected_largest(static_cast<int>(task.replicas.size()));
}

}  // namespace sextant::terms
