// The output of inference at each token, against the head's outputs computed plainly for one sequence.
#include "probes/proxy/inference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "probes/proxy/model/random.h"
#include "tests/probes/proxy/fixture.h"

namespace sextant::proxy {
namespace {

// Single precision, through three layers and a softmax over 32 tokens.
constexpr double kInferenceTolerance = 2e-5;

class InferenceResults : public testing::Test {
 protected:
  explicit InferenceResults(const std::string& task)
      : task_(test::small_ppo(), task),
        rollout_(task_.workload),
        worker_(task_.setup(), Purpose::forward_only) {
    for (std::size_t i = 0; i < rollout_.tokens.size(); ++i) rollout_.tokens[i] = static_cast<int>(mix(i) % 32);
    Inference(task_.setup()).run(rollout_);
  }

  // The head's outputs [tokens, outputs] for a whole sequence, after a norm done here.
  std::vector<std::vector<double>> outputs(int sequence) {
    PackedBatch batch;
    batch.append(tokens_of(task_.workload, rollout_, sequence));
    BatchLimits limits;
    limits.include(task_.workload.lengths({sequence, sequence + 1}));
    LayerStash stash(worker_.layer_shape(), limits, false);
    Buffer storage(static_cast<std::size_t>(limits.tokens) * worker_.hidden());
    const Matrix x = as_matrix(storage, limits.tokens, worker_.hidden());
    worker_.take_input(batch.tokens, x);
    for (int layer = 0; layer < worker_.shape().layers; ++layer) {
      forward_layer(worker_.context(), worker_.parameters().layer(layer), batch, stash, x);
    }
    std::vector<std::vector<double>> result;
    for (int row = 0; row < x.rows; ++row) result.push_back(head_of(x.row(row)));
    return result;
  }

  std::size_t at(int sequence, int position) const {
    return task_.workload.offset(sequence) + static_cast<std::size_t>(position);
  }

  test::SerialTask task_;
  Rollout rollout_;
  StageWorker worker_;

 private:
  std::vector<double> head_of(const float* x) {
    const Matrix weights = worker_.parameters().head();
    double squares = 0;
    for (int j = 0; j < weights.columns; ++j) squares += static_cast<double>(x[j]) * x[j];
    const double norm = std::sqrt(squares / weights.columns + kNormEpsilon);
    std::vector<double> result;
    for (int i = 0; i < weights.rows; ++i) {
      double sum = 0;
      for (int j = 0; j < weights.columns; ++j) sum += weights.row(i)[j] * x[j] / norm;
      result.push_back(sum);
    }
    return result;
  }
};

struct ReferenceInference : InferenceResults {
  ReferenceInference() : InferenceResults(task_names::kReferenceInference) {}
};
struct CriticInference : InferenceResults {
  CriticInference() : InferenceResults(task_names::kCriticInference) {}
};
struct RewardInference : InferenceResults {
  RewardInference() : InferenceResults(task_names::kRewardInference) {}
};

TEST_F(ReferenceInference, ScoresEachResponseTokenGivenThoseBefore) {
  for (const int sequence : {0, 3, 7}) {
    const auto logits = outputs(sequence);
    for (int position = 6; position < 11; ++position) {
      const auto& before = logits[static_cast<std::size_t>(position) - 1];
      double sum = 0;
      for (const double logit : before) sum += std::exp(logit);
      const auto token = static_cast<std::size_t>(rollout_.tokens[at(sequence, position)]);
      EXPECT_NEAR(rollout_.log_probabilities[at(sequence, position)], before[token] - std::log(sum),
                  kInferenceTolerance);
    }
    EXPECT_EQ(rollout_.log_probabilities[at(sequence, 5)], 0) << "a prompt token has none";
  }
}

TEST_F(CriticInference, ValuesTheStateBeforeEachResponseToken) {
  for (const int sequence : {0, 3, 7}) {
    const auto values = outputs(sequence);
    for (int position = 6; position < 11; ++position) {
      EXPECT_NEAR(rollout_.values[at(sequence, position)], values[static_cast<std::size_t>(position) - 1][0],
                  kInferenceTolerance);
    }
  }
}

TEST_F(RewardInference, RewardsTheLastToken) {
  for (const int sequence : {0, 3, 7}) {
    EXPECT_NEAR(rollout_.rewards[static_cast<std::size_t>(sequence)], outputs(sequence).back()[0],
                kInferenceTolerance);
  }
}

}  // namespace
}  // namespace sextant::proxy
