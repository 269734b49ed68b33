#include "probes/proxy/model/head.h"

#include <algorithm>
#include <cmath>

#include "probes/proxy/model/blas.h"
#include "probes/proxy/model/kernels.h"
#include "probes/proxy/model/random.h"

namespace sextant::proxy {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void Targets::resize(int rows) {
  tokens.assign(at(rows), kNone);
  weights.assign(at(rows), 0.0F);
  goals.assign(at(rows), 0.0F);
}

Head::Head(const StageShape& shape, Communicator& tensor, int rows, Purpose purpose)
    : shape_(shape),
      tensor_(&tensor),
      normed_(at(rows) * at(shape.model.hidden)),
      d_normed_(purpose == Purpose::training ? normed_.size() : 0),
      reciprocal_(at(rows)),
      logits_(at(rows) * (shape.model.value_head ? 1 : at(shape.vocabulary()))),
      maxima_(at(rows)),
      sums_(2 * at(rows)),
      best_(2 * at(rows)),
      best_by_rank_(2 * at(rows) * at(tensor.size())) {}

ConstMatrix Head::norm(ConstMatrix x) {
  const Matrix normed = as_matrix(normed_, x.rows, x.columns);
  rms_norm(x, normed, reciprocal_.data());
  return normed;
}

void Head::compute_logits(ConstMatrix weights, ConstMatrix x) {
  multiply(norm(x), Op::plain, weights, Op::transposed, logits(x.rows));
}

// Leaves in maxima_ and sums_ what the softmax of each row with a target needs.
void Head::reduce_rows(const Targets& targets, int rows, Keep keep) {
  const Matrix all = logits(rows);
  const auto count = at(rows);
  for (int i = 0; i < rows; ++i) {
    maxima_[at(i)] = targets.tokens[at(i)] == Targets::kNone ? 0.0F : row_max(all.row(i), all.columns);
  }
  if (tensor_->size() > 1) tensor_->all_reduce_max(std::span(maxima_).first(count));
  for (int i = 0; i < rows; ++i) {
    const int target = targets.tokens[at(i)] - shape_.first_token();
    const bool is_mine = targets.tokens[at(i)] != Targets::kNone && target >= 0 && target < all.columns;
    sums_[count + at(i)] = is_mine ? all.row(i)[target] : 0.0F;
    sums_[at(i)] = 0;
    if (targets.tokens[at(i)] == Targets::kNone) continue;
    sums_[at(i)] = keep == Keep::logits ? sum_of_exponentials(all.row(i), all.columns, maxima_[at(i)])
                                        : exponentiate(all.row(i), all.columns, maxima_[at(i)]);
  }
  if (tensor_->size() > 1) tensor_->all_reduce_sum(std::span(sums_).first(2 * count));
}

// After reduce_rows, for a row with a target.
float Head::log_probability(int row, int rows) const {
  return sums_[at(rows + row)] - maxima_[at(row)] - std::log(sums_[at(row)]);
}

void Head::log_probabilities(ConstMatrix weights, ConstMatrix x, const Targets& targets,
                             std::span<float> result) {
  compute_logits(weights, x);
  reduce_rows(targets, x.rows, Keep::logits);
  for (int i = 0; i < x.rows; ++i) {
    const bool has_target = targets.tokens[at(i)] != Targets::kNone;
    result[at(i)] = has_target ? log_probability(i, x.rows) : 0.0F;
  }
}

void Head::add_noise(std::span<const std::uint64_t> keys) {
  const Matrix all = logits(static_cast<int>(keys.size()));
  for (int i = 0; i < all.rows; ++i) {
    for (int j = 0; j < all.columns; ++j) {
      all.row(i)[j] += gumbel(keys[at(i)] + static_cast<std::uint64_t>(shape_.first_token() + j));
    }
  }
}

void Head::sample(ConstMatrix weights, ConstMatrix x, std::span<const std::uint64_t> noise_keys,
                  std::span<int> tokens) {
  compute_logits(weights, x);
  add_noise(noise_keys);
  const Matrix all = logits(x.rows);
  for (int i = 0; i < x.rows; ++i) {
    const int best = position_of_max(all.row(i), all.columns);
    best_[at(2 * i)] = all.row(i)[best];
    // Exact: vocabularies are far below 2^24.
    best_[at(2 * i + 1)] = static_cast<float>(shape_.first_token() + best);
  }
  const auto mine = std::span<const float>(best_).first(at(2 * x.rows));
  const auto by_rank = std::span(best_by_rank_).first(mine.size() * at(tensor_->size()));
  tensor_->all_gather(mine, by_rank);
  for (int i = 0; i < x.rows; ++i) {
    // Ranks are in the order of their tokens, so the first of equals wins on any number of ranks.
    std::size_t best = at(2 * i);
    for (std::size_t other = best; other < by_rank.size(); other += mine.size()) {
      if (by_rank[other] > by_rank[best]) best = other;
    }
    tokens[at(i)] = static_cast<int>(by_rank[best + 1]);
  }
}

void Head::values(ConstMatrix weights, ConstMatrix x, std::span<float> result) {
  multiply_vector(norm(x), weights.row(0), result.data());
}

double Head::loss_and_gradients(ConstMatrix weights, Matrix gradients, ConstMatrix x, const Targets& targets,
                                Matrix dx) {
  const bool has_value_head = shape_.model.value_head;
  const double loss = has_value_head ? value_loss(weights, x, targets) : vocabulary_loss(weights, x, targets);
  // Now logits_ holds the gradient of the outputs.
  const ConstMatrix normed = as_matrix(normed_, x.rows, x.columns);
  const ConstMatrix d_outputs = as_matrix(logits_, x.rows, weights.rows);
  multiply(d_outputs, Op::transposed, normed, Op::plain, gradients, kAccumulate);
  const Matrix d_normed = as_matrix(d_normed_, x.rows, x.columns);
  multiply(d_outputs, Op::plain, weights, Op::plain, d_normed);
  if (tensor_->size() > 1 && !has_value_head) tensor_->all_reduce_sum(d_normed.flat());
  std::fill_n(dx.data, dx.size(), 0.0F);
  rms_norm_backward(d_normed, normed, reciprocal_.data(), dx);
  return loss;
}

double Head::vocabulary_loss(ConstMatrix weights, ConstMatrix x, const Targets& targets) {
  compute_logits(weights, x);
  reduce_rows(targets, x.rows, Keep::exponentials);
  const Matrix all = logits(x.rows);
  double loss = 0;
  for (int i = 0; i < x.rows; ++i) {
    const int token = targets.tokens[at(i)];
    const float weight = targets.weights[at(i)];
    if (token == Targets::kNone) {
      std::fill_n(all.row(i), all.columns, 0.0F);
      continue;
    }
    loss -= weight * log_probability(i, x.rows);
    scale_row(all.row(i), all.columns, weight / sums_[at(i)]);
    const int target = token - shape_.first_token();
    if (target >= 0 && target < all.columns) all.row(i)[target] -= weight;
  }
  return loss;
}

double Head::value_loss(ConstMatrix weights, ConstMatrix x, const Targets& targets) {
  values(weights, x, logits_);
  double loss = 0;
  for (int i = 0; i < x.rows; ++i) {
    const float error = logits_[at(i)] - targets.goals[at(i)];
    loss += 0.5 * targets.weights[at(i)] * error * error;
    logits_[at(i)] = targets.weights[at(i)] * error;
  }
  return loss;
}

}  // namespace sextant::proxy
