// Waiting for the replica with the longest sequences: not in the appendix, neutral at zero.
//
// If real lengths are computed (packed) replicas get equal numbers of sequences, not of tokens. RL frameworks
// assign a batch so that its tokens are even over replicas (verl's balance_batch, NeMo RL's packing), but
// replicas wait for each other more often: at every mini-batch of training, and at every micro-batch if weights
// are sharded and micro-batches have a fixed number of sequences, not of tokens. A replica processes k of its n
// sequences until it meets the others. Their tokens, drawn without replacement from an even share, spread
// around their mean by
//   sigma = cv(X) / sqrt(k) * sqrt(1 - k / n),   cv(X) = deviation of a sequence's tokens / their mean
// and all wait for the last of r replicas, expected at 1 + w * sigma * m(r) (stragglers.h). w is
// uneven_lengths_weight: 1 if work is proportional to tokens and nothing else balances it. Replicas that get
// sequences by length have their own X, which spreads less.
//
// Batches that are padded to their longest sequence (Padding) are unequal, too. A replica expects L(n) tokens a
// sequence, the longest of the n that it pads together, and the slowest of r replicas L(r n). If micro-batches
// are padded one by one and replicas meet after k of them, the sums of k spread less:
//   sigma * m(r) = (L(r n) / L(n) - 1) / sqrt(k)
// A batch that is padded as a whole has k = 1: a replica with a long sequence is slow in every micro-batch.
#pragma once

#include "costmodel/problem/problem.h"

namespace sextant::terms {

// sigma * m(r); 0 for generation, whose last response counts (work.h), and for one replica.
[[nodiscard]] double uneven_share(const TaskWork& task, const ReplicaWork& replica);

// Returns the time that waiting adds to `work_s`, the time of a replica with its mean.
template <typename T>
[[nodiscard]] T uneven_lengths_s(const Problem<T>& problem, const TaskWork& task, const ReplicaWork& replica,
                                 const T& work_s) {
  return uneven_share(task, replica) * problem.coefficient(CoefficientId::uneven_lengths_weight) * work_s;
}

}  // namespace sextant::terms
