// Transfers of weights as nodes of an iteration: what longer trainings on other devices hide of them.
#include "costmodel/weight_transfers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "costmodel/iteration.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

// PPO: generation on device 0, the actor's training on device 1, the critic's on device 2.
struct Ppo {
  explicit Ppo(Mode mode = Mode::synchronous) : workflow(small_workflow(mode)) {}

  [[nodiscard]] double hidden(double eta = 1) const {
    const std::span<const PlacedTask<double>> all(tasks);
    return hidden_s<double>(workflow, work_of_tasks<double>(workflow, all, eta), all, transfers, eta);
  }
  [[nodiscard]] double iteration(double eta = 1) const {
    return work_and_weights_s<double>(workflow, tasks, transfers, eta);
  }

  std::set<DeviceId> zero{DeviceId{0}}, one{DeviceId{1}}, two{DeviceId{2}};
  Workflow workflow;
  std::vector<PlacedTask<double>> tasks{{TaskKind::generation, 10, &zero, {}},
                                        {TaskKind::inference, 5, &two, {}},
                                        {TaskKind::training, 20, &one, {}},
                                        {TaskKind::training, 26, &two, {}}};
  std::vector<WeightTransfer<double>> transfers{{{2, 0}, true, 4}};
};

TEST(WeightTransfers, ALongerTrainingElsewhereHidesATransfer) {
  Ppo ppo;
  // The actor's weights travel from 35 to 39, the critic trains until 41.
  EXPECT_DOUBLE_EQ(ppo.iteration(), 10 + 5 + 26);
  EXPECT_DOUBLE_EQ(ppo.hidden(), 4);
  // From 35 to 45.
  ppo.transfers[0].time_s = 10;
  EXPECT_DOUBLE_EQ(ppo.iteration(), 10 + 5 + 20 + 10);
  EXPECT_DOUBLE_EQ(ppo.hidden(), 6);
  // The actor trains longest: its weights leave last.
  ppo.tasks[2].time_s = 30;
  EXPECT_DOUBLE_EQ(ppo.iteration(), 10 + 5 + 30 + 10);
  EXPECT_DOUBLE_EQ(ppo.hidden(), 0);
}

TEST(WeightTransfers, AreAddedWhereNothingOverlaps) {
  Ppo ppo;
  EXPECT_DOUBLE_EQ(ppo.iteration(0), 10 + 5 + 46 + 4);
  EXPECT_DOUBLE_EQ(ppo.hidden(0), 0);
  EXPECT_DOUBLE_EQ(ppo.iteration(0.5), 10 + 5 + (26 + 0.5 * 20) + 0.5 * 4);
}

TEST(WeightTransfers, WaitForEveryTrainingOnTheirDevices) {
  Ppo ppo;
  ppo.tasks[0].devices = &ppo.two;  // generation where the critic trains
  EXPECT_DOUBLE_EQ(ppo.iteration(), 10 + 5 + 26 + 4);
  EXPECT_DOUBLE_EQ(ppo.hidden(), 0);
}

TEST(WeightTransfers, MoveAtTheSameTime) {
  Ppo ppo;
  // The critic's weights to its inference on the actor's device: after both trainings, 3 s, while the actor's
  // are on their way from 35 to 47.
  ppo.tasks[1].devices = &ppo.one;
  ppo.transfers[0].time_s = 12;
  ppo.transfers.push_back({{3, 1}, false, 3});
  EXPECT_DOUBLE_EQ(ppo.iteration(), 10 + 5 + 20 + 12);
  EXPECT_DOUBLE_EQ(ppo.hidden(), 6);
  ppo.transfers[1].time_s = 8;  // until 41 + 8
  EXPECT_DOUBLE_EQ(ppo.iteration(), 10 + 5 + 26 + 8);
}

TEST(WeightTransfers, TheActorsAlsoWaitForGenerationBeside) {
  Ppo ppo(Mode::asynchronous);
  // Training until 5 + 20 and 5 + 26; generation until 28.
  ppo.tasks[0].time_s = 28;
  EXPECT_DOUBLE_EQ(ppo.iteration(), 28 + 4);
  ppo.tasks[0].time_s = 40;
  EXPECT_DOUBLE_EQ(ppo.iteration(), 40 + 4);
  ppo.tasks[0].time_s = 10;
  EXPECT_DOUBLE_EQ(ppo.iteration(), 31);
  // The critic's do not: from 31 to 37, while generation runs until 40.
  ppo.tasks[0].time_s = 40;
  ppo.transfers = {{{3, 1}, false, 6}};
  EXPECT_DOUBLE_EQ(ppo.iteration(), 40);
  // In a stream they follow all.
  ppo.workflow.staleness = 0.5;
  EXPECT_DOUBLE_EQ(ppo.hidden(), 0);
}

TEST(WeightTransfers, FollowTheTasksOfACustomGraph) {
  Ppo ppo;
  ppo.workflow.algorithm = Algorithm::custom;
  ppo.tasks[1].after = {0};
  ppo.tasks[2].after = {1};
  ppo.tasks[3].after = {1};
  EXPECT_DOUBLE_EQ(ppo.iteration(), 10 + 5 + 26);
  ppo.transfers[0].time_s = 10;
  EXPECT_DOUBLE_EQ(ppo.iteration(), 10 + 5 + 20 + 10);
}

// Two trainings and two transfers on random devices.
TEST(WeightTransfers, NothingGetsFasterWithMoreToDo) {
  std::mt19937_64 random(1);
  const auto number = [&](double largest) {
    return std::uniform_real_distribution<double>(0, largest)(random);
  };
  int hidden = 0;
  for (int round = 0; round < 20000; ++round) {
    Ppo ppo(round % 3 == 0 ? Mode::asynchronous : Mode::synchronous);
    if (round % 5 == 0) {
      ppo.workflow.algorithm = Algorithm::custom;
      ppo.tasks[1].after = {0};
      ppo.tasks[2].after = ppo.tasks[3].after = {1};
    }
    std::vector<std::set<DeviceId>> devices(ppo.tasks.size());
    ppo.transfers.push_back({{3, 1}, false, 0});
    for (std::size_t t = 0; t < ppo.tasks.size(); ++t) {
      for (int d = 0; d < 4; ++d) {
        if (number(1) < 0.3) devices[t].insert(DeviceId{d});
      }
      if (devices[t].empty()) devices[t].insert(DeviceId{4 + static_cast<int>(t)});
      ppo.tasks[t].devices = &devices[t];
      ppo.tasks[t].time_s = number(30);
    }
    for (WeightTransfer<double>& transfer : ppo.transfers) transfer.time_s = number(15);
    const double eta = number(1), before_s = ppo.iteration(eta), hidden_s = ppo.hidden(eta);
    const double work_s = work_of_tasks<double>(ppo.workflow, ppo.tasks, eta).total_s;
    EXPECT_GE(hidden_s, 0);  // documents refuse less
    EXPECT_LE(hidden_s, eta * longest_s(ppo.transfers));
    EXPECT_GE(before_s, work_s - 1e-12);
    hidden += hidden_s > 1 ? 1 : 0;
    const std::size_t changed = static_cast<std::size_t>(number(static_cast<double>(ppo.tasks.size() + 2)));
    if (changed < ppo.tasks.size()) {
      ppo.tasks[changed].time_s += number(10);
    } else {
      ppo.transfers[changed - ppo.tasks.size()].time_s += number(10);
    }
    EXPECT_GE(ppo.iteration(eta), before_s - 1e-12) << round << ", changed " << changed;
  }
  EXPECT_GT(hidden, 1000);
}

}  // namespace
}  // namespace sextant::test
