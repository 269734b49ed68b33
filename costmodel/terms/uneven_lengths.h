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
//
// Only what grows with the tokens is longer on the slowest replica. If micro-batches are filled up to so many tokens,
// that is all of a stage: more tokens are more micro-batches. If they have a number of sequences, it is the device's
// work without gathered weights and without latency of collectives: the host takes the same time for every
// micro-batch. It joins the longer time as it joins the mean one (overhead.h), so a device that waits for its host
// does not wait for longer sequences as well.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/overhead.h"
#include "costmodel/terms/tensor_parallel.h"

namespace sextant::terms {

// sigma * m(r); 0 for generation, whose last response counts (work.h), and for one replica.
[[nodiscard]] double uneven_share(const TaskWork& task, const ReplicaWork& replica);

// Returns the time that waiting adds to one stage, whose device takes `device_s`, gathered weights included.
template <typename T>
[[nodiscard]] T uneven_lengths_s(const StageOfTask<T>& s, const T& device_s, const T& weight_gather_s) {
  const double share = uneven_share(s.task, s.work());
  if (share == 0) return T(0.0);
  const T paid = share * s.problem.coefficient(CoefficientId::uneven_lengths_weight);
  const T stage_s = device_s + host_overhead_s(s, device_s);
  if (s.execution().micro_batch_tokens > 0) return paid * stage_s;
  const T longer_s = device_s + paid * (device_s - weight_gather_s - tensor_parallel_latency_s(s));
  return longer_s + host_overhead_s(s, longer_s) - stage_s;
}

}  // namespace sextant::terms
