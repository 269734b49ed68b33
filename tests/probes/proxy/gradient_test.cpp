// Gradients of the whole training step against central differences of its loss.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "probes/proxy/model/random.h"
#include "probes/proxy/training.h"
#include "tests/probes/proxy/fixture.h"

namespace sextant::proxy {
namespace {

// A loss of order 1 in single precision has an error of about 1e-7, over a step of 2e-2 1e-5; the third
// derivative adds as much again.
constexpr double kStep = 1e-2;
constexpr double kAbsoluteTolerance = 1e-4;
constexpr double kRelativeTolerance = 0.02;

struct Case {
  std::string name;
  std::string task;
  bool recompute;
};

class Gradient : public testing::TestWithParam<Case> {};

Rollout random_rollout(const test::SerialTask& task) {
  Rollout rollout(task.workload);
  start_rollout(task.workflow, task.workload, 3, rollout);
  for (std::size_t i = 0; i < rollout.tokens.size(); ++i) rollout.tokens[i] = static_cast<int>(mix(i) % 32);
  for (std::size_t i = 0; i < rollout.advantages.size(); ++i) {
    rollout.advantages[i] = uniform(100 + i) - 0.5F;
    rollout.returns[i] = uniform(200 + i);
  }
  return rollout;
}

test::SerialTask make_task(const Case& c, const Workflow& workflow) {
  TaskPlan plan = test::uniform(1, 1, 1);
  plan.recompute = c.recompute ? Recompute::full : Recompute::none;
  plan.micro_batch_sequences = 3;  // the last micro-batch is smaller
  return test::SerialTask(workflow, c.task, 1, plan);
}

Workflow uneven_ppo() {
  Workflow workflow = test::small_ppo();
  workflow.response_tokens = {LengthKind::empirical, {2, 6}, {1, 1}, 0, 0, 0};
  return workflow;
}

double loss_of(Training& training, const Rollout& rollout) {
  const double before = training.last_loss();
  training.accumulate_gradients(rollout, 0);
  return training.last_loss() - before;
}

// Along `direction` in the range [first, first + direction.size()) of the weights.
double difference_quotient(Training& training, const Rollout& rollout, std::size_t first,
                           const std::vector<float>& direction) {
  const auto weights = training.parameters().values().subspan(first, direction.size());
  const std::vector<float> original(weights.begin(), weights.end());
  const auto at = [&](double step) {
    for (std::size_t i = 0; i < direction.size(); ++i) {
      weights[i] = original[i] + static_cast<float>(step) * direction[i];
    }
    return loss_of(training, rollout);
  };
  const double quotient = (at(kStep) - at(-kStep)) / (2 * kStep);
  std::copy(original.begin(), original.end(), weights.begin());
  return quotient;
}

std::vector<float> unit(std::vector<float> direction) {
  double squares = 0;
  for (const float d : direction) squares += static_cast<double>(d) * d;
  for (float& d : direction) d /= static_cast<float>(std::sqrt(squares));
  return direction;
}

double dot(const std::vector<float>& a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST_P(Gradient, EqualsCentralDifferencesForEveryMatrix) {
  test::SerialTask task = make_task(GetParam(), uneven_ppo());
  const Rollout rollout = random_rollout(task);
  Training training(task.setup());
  loss_of(training, rollout);
  const auto span = training.parameters().gradients();
  const std::vector<float> gradients(span.begin(), span.end());
  const Model& model = task.workflow.model_of(task.workflow.task(task.name));

  std::size_t first = 0;
  for (int block = 0; block < block_count(model); ++block) {
    for (const RowRange& matrix : block_shard(model, block, {}).ranges) {
      const std::size_t count = matrix.count * static_cast<std::size_t>(model.hidden);
      const std::span<const float> part = std::span(gradients).subspan(first, count);
      std::vector<float> noise(count);
      for (std::size_t i = 0; i < count; ++i) noise[i] = uniform(first + i) - 0.5F;
      // Along the gradient the signal is largest; along noise errors at right angles to it show as well.
      const std::vector<float> directions[] = {unit({part.begin(), part.end()}), unit(noise)};
      for (const auto& direction : directions) {
        const double expected = dot(direction, part);
        EXPECT_NEAR(difference_quotient(training, rollout, first, direction), expected,
                    kAbsoluteTolerance + kRelativeTolerance * std::abs(expected))
            << "block " << block << " from element " << first;
      }
      EXPECT_GT(dot(directions[0], part), 10 * kAbsoluteTolerance) << "no signal in block " << block;
      first += count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Gradient,
                         testing::Values(Case{"actor", task_names::kActorTraining, false},
                                         Case{"actor_recompute", task_names::kActorTraining, true},
                                         Case{"critic", task_names::kCriticTraining, false}),
                         [](const auto& tested) { return tested.param.name; });

// Recomputation repeats the same arithmetic, so not even rounding differs.
TEST(Recompute, GivesTheSameGradients) {
  const Workflow workflow = uneven_ppo();
  test::SerialTask stored = make_task({"", task_names::kActorTraining, false}, workflow);
  test::SerialTask recomputed = make_task({"", task_names::kActorTraining, true}, workflow);
  const Rollout rollout = random_rollout(stored);
  Training first(stored.setup());
  Training second(recomputed.setup());
  EXPECT_EQ(loss_of(first, rollout), loss_of(second, rollout));
  const auto a = first.parameters().gradients();
  const auto b = second.parameters().gradients();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
}

TEST(Training, LowersTheLossItTrainsOn) {
  Workflow workflow = test::small_ppo();
  workflow.mini_batches = 2;
  test::SerialTask task(workflow, task_names::kCriticTraining);
  Rollout rollout = random_rollout(task);
  Training training(task.setup());
  training.run(rollout);
  const double before = training.last_loss();
  for (int i = 0; i < 20; ++i) training.run(rollout);
  EXPECT_LT(training.last_loss(), 0.9 * before);
}

}  // namespace
}  // namespace sextant::proxy
