#include "tests/probes/proxy/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "probes/proxy/training.h"
#include "tests/probes/comm/ranks.h"
#include "tests/probes/proxy/fixture.h"

namespace sextant::test {
namespace {

using namespace proxy;

// Sums of a few hundred terms of order 1 taken in another order, in single precision, relative to the
// largest element of a matrix.
constexpr float kGradientTolerance = 2e-4F;
constexpr double kLossTolerance = 1e-4;

// Null when the rank has no part of the task.
HostTask* host_work(ProxySession& session, const std::string& task) {
  return dynamic_cast<HostTask*>(session.work(task));
}

float largest(std::span<const float> values) {
  float result = 0;
  for (const float value : values) result = std::max(result, std::abs(value));
  return result;
}

// Loss over all replicas: each replica's last stage holds its part, on every shard.
double total_loss(ProxySession& session, const std::string& task) {
  std::vector<double> loss{0};
  if (HostTask* work = host_work(session, task);
      work != nullptr && work->parameters().shape().shard.rank == 0) {
    loss[0] = dynamic_cast<Training&>(*work).last_loss();
  }
  world().all_reduce_sum(std::span<double>(loss));
  return loss[0];
}

std::span<const float> gradient_block(StageParameters& parameters, int block) {
  const auto offset = parameters.block(block).data() - parameters.values().data();
  return parameters.gradients().subspan(static_cast<std::size_t>(offset), parameters.block(block).size());
}

void expect_close_gradients(StageParameters& parallel, StageParameters& serial) {
  const StageShape& shape = parallel.shape();
  for (int block = shape.first_block(); block < shape.end_block(); ++block) {
    const auto full = gradient_block(serial, block);
    const auto mine = gradient_block(parallel, block);
    std::vector<float> expected(mine.size());
    slice_block(block_shard(shape.model, block, shape.shard), static_cast<std::size_t>(shape.model.hidden),
                full, expected);
    const float tolerance = kGradientTolerance * largest(full);
    EXPECT_GT(largest(full), 0) << "block " << block;
    float worst = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) worst = std::max(worst, std::abs(mine[i] - expected[i]));
    EXPECT_LE(worst, tolerance) << "block " << block << " of " << shape.model.name;
  }
}

// Every rank learns the trained block from whoever holds it.
std::vector<float> trained_block(ProxySession& session, const Workflow& workflow, int block) {
  const Task& task = workflow.actor_training();
  const Model& model = workflow.model_of(task);
  const auto hidden = static_cast<std::size_t>(model.hidden);
  std::vector<float> full(block_shard(model, block, {}).full_rows * hidden,
                          std::numeric_limits<float>::lowest());
  if (HostTask* work = host_work(session, task.name); work != nullptr) {
    const StageShape& shape = work->parameters().shape();
    if (block >= shape.first_block() && block < shape.end_block()) {
      insert_block(block_shard(model, block, shape.shard), hidden, work->parameters().block(block), full);
    }
  }
  world().all_reduce_max(std::span<float>(full));
  return full;
}

void expect_synced_weights(ProxySession& session, const Workflow& workflow) {
  const Model& model = workflow.model_of(workflow.actor_training());
  const auto hidden = static_cast<std::size_t>(model.hidden);
  for (int block = 0; block < block_count(model); ++block) {
    const std::vector<float> full = trained_block(session, workflow, block);
    HostTask* work = host_work(session, workflow.actor_generation().name);
    if (work == nullptr) continue;
    const StageShape& shape = work->parameters().shape();
    if (block < shape.first_block() || block >= shape.end_block()) continue;
    const auto mine = work->parameters().block(block);
    std::vector<float> expected(mine.size());
    slice_block(block_shard(model, block, shape.shard), hidden, full, expected);
    EXPECT_TRUE(std::equal(mine.begin(), mine.end(), expected.begin(), expected.end()))
        << "block " << block << " on rank " << world().rank();
  }
}

void expect_changed_weights(ProxySession& session, const Workflow& workflow) {
  HostTask* work = host_work(session, workflow.actor_training().name);
  if (work == nullptr) return;
  StageParameters initial(work->parameters().shape(), 1, Purpose::forward_only);
  EXPECT_FALSE(
      std::equal(initial.values().begin(), initial.values().end(), work->parameters().values().begin()));
}

}  // namespace

Plan plan_of(const Workflow& workflow, const Layout& layout) {
  Plan plan;
  plan.name = layout.name;
  for (const Task& task : workflow.tasks) {
    plan.tasks[task.name] = task.kind == TaskKind::generation  ? layout.generation
                            : task.kind == TaskKind::inference ? layout.inference
                                                               : layout.training;
  }
  return plan;
}

void expect_equals_serial(const Workflow& workflow, const Plan& plan) {
  SCOPED_TRACE(plan.name);
  const auto alone = make_serial_communicator();
  ProxySession parallel(world(), make_cluster(world().size()), workflow, plan, 1);
  ProxySession serial(*alone, make_cluster(1), workflow, plan_all(workflow, uniform(1, 1, 1)), 1);
  parallel.iterate();
  serial.iterate();
  EXPECT_EQ(parallel.generated_token_sum(), serial.generated_token_sum());
  for (const Task& task : workflow.tasks) {
    if (task.kind != TaskKind::training) continue;
    const double loss = total_loss(parallel, task.name);
    EXPECT_NEAR(loss, dynamic_cast<Training&>(*serial.work(task.name)).last_loss(), kLossTolerance);
    if (parallel.work(task.name) != nullptr) {
      expect_close_gradients(host_work(parallel, task.name)->parameters(),
                             host_work(serial, task.name)->parameters());
    }
  }
  expect_changed_weights(parallel, workflow);
  expect_synced_weights(parallel, workflow);
}

void expect_runs(const Workflow& workflow, const Plan& plan) {
  SCOPED_TRACE(plan.name);
  ProxySession session(world(), make_cluster(world().size()), workflow, plan, 1);
  session.iterate();
  const ProxySession::Sample sample = session.iterate();
  EXPECT_EQ(sample.tasks_s.size(), workflow.tasks.size() + 1);
  for (const auto& [task, time_s] : sample.tasks_s) {
    EXPECT_GT(time_s, 0) << task;
    EXPECT_GE(sample.iteration_s, time_s) << task;
  }
  expect_synced_weights(session, workflow);
}

}  // namespace sextant::test
