// The head after the last layer: a norm, then the vocabulary-parallel head or a value head.
//
// Rows are tokens. The logits of a row are distributed over the tensor-parallel group, so that softmax and
// greedy sampling exchange a maximum and a sum per row, not the logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/proxy/model/parameters.h"

namespace sextant::proxy {

// The prediction target of a row: a token and its weight in the loss, or a value. Rows without a target carry
// no loss but are computed like the others, as training frameworks do.
struct Targets {
  static constexpr int kNone = -1;
  std::vector<int> tokens;     // kNone: no target
  std::vector<float> weights;  // vocabulary head: factor of -log p; value head: of (value - goal)^2 / 2
  std::vector<float> goals;    // value head
  void resize(int rows);
};

class Head {
 public:
  // `rows` is the maximum number of rows per call.
  Head(const StageShape& shape, Communicator& tensor, int rows, Purpose purpose);

  // Vocabulary head: result[i] is the log-probability of targets.tokens[i]; 0 without a target.
  void log_probabilities(ConstMatrix weights, ConstMatrix x, const Targets& targets, std::span<float> result);
  // Samples the next token of every row, the same on all ranks: the most likely one, or with a key for every
  // row a sample from the softmax (Gumbel noise on the logits).
  void sample(ConstMatrix weights, ConstMatrix x, std::span<const std::uint64_t> noise_keys,
              std::span<int> tokens);
  // Value head: one value per row.
  void values(ConstMatrix weights, ConstMatrix x, std::span<float> result);

  // Returns the loss of the rows (the same on all ranks); writes its gradient by x into dx, and adds the one by
  // the weights to `gradients`. Uses the head that the model has.
  double loss_and_gradients(ConstMatrix weights, Matrix gradients, ConstMatrix x, const Targets& targets,
                            Matrix dx);

  // Returns the logits of this rank's tokens for the rows of the last call.
  [[nodiscard]] Matrix logits(int rows) { return as_matrix(logits_, rows, shape_.vocabulary()); }

 private:
  enum class Keep { logits, exponentials };
  ConstMatrix norm(ConstMatrix x);
  void compute_logits(ConstMatrix weights, ConstMatrix x);
  void add_noise(std::span<const std::uint64_t> keys);
  void reduce_rows(const Targets& targets, int rows, Keep keep);
  double vocabulary_loss(ConstMatrix weights, ConstMatrix x, const Targets& targets);
  double value_loss(ConstMatrix weights, ConstMatrix x, const Targets& targets);
  [[nodiscard]] float log_probability(int row, int rows) const;

  StageShape shape_;
  Communicator* tensor_;
  Buffer normed_;
  Buffer d_normed_;
  Buffer reciprocal_;
  Buffer logits_;
  Buffer maxima_;  // by row
  Buffer sums_;    // by row: sum of exponentials; then the target's logit
  Buffer best_;    // greedy: value and token of every row
  Buffer best_by_rank_;
};

}  // namespace sextant::proxy
