// Layers and sequences by speed, and options of sets of unlike devices or links.
#include "planner/space/balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "planner/search/search_run.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

TEST(Balance, IsInProportionAndWhole) {
  EXPECT_EQ(dealt_by({1, 1}, 8), (std::vector<int>{4, 4}));
  EXPECT_EQ(dealt_by({3, 1}, 8), (std::vector<int>{6, 2}));
  EXPECT_EQ(dealt_by({2, 1, 1}, 9), (std::vector<int>{5, 2, 2}));
  EXPECT_EQ(dealt_by({1, 1, 1}, 5), (std::vector<int>{2, 2, 1}));
}

TEST(Balance, LeavesNoPartEmpty) {
  EXPECT_EQ(dealt_by({1000, 1, 1}, 6), (std::vector<int>{4, 1, 1}));
  EXPECT_EQ(dealt_by({1, 1000}, 2), (std::vector<int>{1, 1}));
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> weights;
    for (std::size_t part = 0, count = 1 + random() % 9; part < count; ++part)
      weights.push_back(std::exp2(static_cast<double>(random() % 12)));
    const int total = static_cast<int>(weights.size() + random() % 50);
    const std::vector<int> parts = dealt_by(weights, total);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0), total);
    EXPECT_GE(*std::min_element(parts.begin(), parts.end()), 1);
    for (std::size_t a = 0; a < parts.size(); ++a) {
      for (std::size_t b = 0; b < parts.size(); ++b) {
        EXPECT_TRUE(weights[a] <= weights[b] || parts[a] >= parts[b]);
      }
    }
  }
}

// Devices 0 and 1 are twice as fast as 2 and 3.
TEST(Balance, DealsLayersToStagesAndSequencesToReplicas) {
  const LoadWeights speeds{{2, 2, 1, 1}};
  const std::vector<std::uint16_t> devices = {0, 1, 2, 3};
  const auto shape = [](std::vector<int> layers, std::vector<int> sequences) {
    Shape made;
    made.layers = std::move(layers);
    made.sequences = std::move(sequences);
    return made;
  };
  const Shape stages = shape({9, 9}, {6, 6});
  // Order by stage: fast devices are first stages, so replicas are equal.
  EXPECT_EQ(balanced(stages, DeviceOrder::by_stage, devices, speeds, LoadSplit::by_speed),
            shape({12, 6}, {6, 6}));
  // Order by replica: one is fast, the other is not.
  EXPECT_EQ(balanced(stages, DeviceOrder::by_replica, devices, speeds, LoadSplit::by_speed),
            shape({9, 9}, {8, 4}));
  EXPECT_EQ(balanced(shape({18}, {3, 3, 3, 3}), DeviceOrder::by_replica, devices, speeds, LoadSplit::by_speed),
            shape({18}, {4, 4, 2, 2}));
  EXPECT_EQ(balanced(stages, DeviceOrder::by_stage, {0, 1, 0, 1}, speeds, LoadSplit::by_speed), stages);
  // A stage of both kinds is as slow as the slower.
  Shape wide = shape({9, 9}, {12});
  wide.tensor_parallel = 2;
  EXPECT_EQ(balanced(wide, DeviceOrder::by_replica, {0, 2, 1, 3}, speeds, LoadSplit::by_speed), wide);
}

// Two replicas of one stage, the second without any work, as if its prompts had no tokens.
TEST(Balance, LeavesReplicasThatTakeNoTime) {
  Shape even;
  even.layers = {4};
  even.sequences = {6, 6};
  EXPECT_EQ(balanced(even, {{{3, 1}}, {{0, 0}}}), even);
  EXPECT_EQ(balanced(even, {{{0, 0}}, {{0, 0}}}), even);
  EXPECT_EQ(balanced(even, {{{3, 1}}, {{1, 0.2}}}).sequences, (std::vector<int>{3, 9}));
}

// Work of the last stage in addition to its layers counts as layers.
TEST(Balance, LeavesTheStageWithTheHeadFewerLayers) {
  EXPECT_EQ(dealt_by({1, 1}, 32, 2.4), (std::vector<int>{17, 15}));  // 17.2 and 14.8
  EXPECT_EQ(dealt_by({1, 1, 1, 1}, 32, 4), (std::vector<int>{9, 9, 9, 5}));
  EXPECT_EQ(dealt_by({3, 1}, 8, 4), (std::vector<int>{7, 1}));  // 9 and -1
  EXPECT_EQ(dealt_by({1, 1, 1}, 3, 10), (std::vector<int>{1, 1, 1}));
  Shape stages;
  stages.layers = {9, 9};
  stages.sequences = {6, 6};
  const std::vector<std::uint16_t> devices = {0, 1, 2, 3};
  const Shape dealt =
      balanced(stages, DeviceOrder::by_replica, devices, {{1, 1, 1, 1}, 2}, LoadSplit::by_speed_and_head);
  EXPECT_EQ(dealt.layers, (std::vector<int>{10, 8}));
  EXPECT_EQ(dealt.sequences, stages.sequences);
  // No stage is the last of several.
  stages.layers = {18};
  stages.sequences = {3, 3, 3, 3};
  EXPECT_EQ(balanced(stages, DeviceOrder::by_replica, devices, {{1, 1, 1, 1}, 2}, LoadSplit::by_speed_and_head),
            stages);
}

TEST(Balance, HeadIsOfVocabulariesAlone) {
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b();
  for (const Task& task : workflow.tasks) {
    const double layers = load_weights_of(task, {}, workflow, cluster, SortedLengths(workflow)).head_layers;
    const Model& model = workflow.model_of(task);
    if (task.kind == TaskKind::generation) {
      EXPECT_EQ(layers, 0) << task.name;
    } else if (model.value_head) {
      EXPECT_LT(layers, 0.01) << task.name;
    } else {
      EXPECT_NEAR(layers * model.layer_active_parameters(), model.head_parameters(), 1) << task.name;
      EXPECT_GT(layers, 1) << task.name;
    }
  }
}

// 12 sequences with 5 and 9 tokens, as many of each.
Workflow short_and_long() {
  Workflow workflow;
  workflow.prompts = 12;
  workflow.prompt_tokens = fixed_length(3);
  workflow.response_tokens = {LengthKind::empirical, {2, 6}, {1, 1}, 0, 0, 0};
  return workflow;
}

TEST(DealtByLength, StrongReplicasGetTheLongSequences) {
  const SortedLengths lengths(short_and_long());
  // 84 tokens: the slow replica has done six of 5 when the other has done 54.
  const LengthSplit packed = dealt_by_length({54, 30}, lengths, true);
  EXPECT_EQ(packed.sequences, (std::vector<int>{6, 6}));
  EXPECT_EQ(packed.ranks, (std::vector<int>{1, 0}));
  // Replicas of one rate share theirs out, unless each would pad to its longest.
  const LengthSplit even = dealt_by_length({1, 1}, lengths, true);
  EXPECT_EQ(even.sequences, (std::vector<int>{6, 6}));
  EXPECT_EQ(even.ranks, (std::vector<int>{0, 0}));
  const LengthSplit padded = dealt_by_length({5, 4, 12}, lengths, false);
  EXPECT_EQ(padded.ranks, (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(padded.sequences, (std::vector<int>{3, 3, 6}));
}

// All are done at the same time, but for a sequence; no other order of the same rates is dealt otherwise.
TEST(DealtByLength, AllAreDoneTogether) {
  Workflow workflow;
  workflow.prompts = 600;
  workflow.prompt_tokens = {LengthKind::lognormal, {}, {}, 200, 0.5, 1000};
  workflow.response_tokens = {LengthKind::lognormal, {}, {}, 800, 0.9, 8000};
  const SortedLengths lengths(workflow);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> rate(1, 10);
  for (int trial = 0; trial < 200; ++trial) {
    const bool is_packed = trial % 2 == 0;
    std::vector<double> rates;
    for (std::size_t i = 0, count = 2 + random() % 8; i < count; ++i) rates.push_back(rate(random));
    const LengthSplit deal = dealt_by_length(rates, lengths, is_packed);
    ASSERT_EQ(std::accumulate(deal.sequences.begin(), deal.sequences.end(), 0), 600);
    Shape shape;
    shape.sequences = deal.sequences;
    shape.length_ranks = deal.ranks;
    const std::vector<SequenceRange> ranges = length_ranges(shape);
    double soonest = 1e300, latest = 0, step = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      ASSERT_GE(deal.sequences[i], 1);
      const double tokens = is_packed ? lengths.tokens(ranges[i].first, ranges[i].last)
                                      : deal.sequences[i] * lengths.longest(ranges[i].last);
      soonest = std::min(soonest, tokens / rates[i]);
      latest = std::max(latest, tokens / rates[i]);
      // The time with one more sequence: if lengths are padded, all its sequences grow with it.
      const double longer = lengths.longest(std::min(600, ranges[i].last + 1));
      step = std::max(step, (is_packed ? longer : (deal.sequences[i] + 1) * longer - tokens) / rates[i]);
      for (std::size_t j = 0; j < rates.size(); ++j)
        EXPECT_TRUE(rates[i] >= rates[j] || deal.ranks[i] < deal.ranks[j]);
    }
    EXPECT_LE(latest - soonest, (is_packed ? 2 : 3) * step) << trial;
  }
}

TEST(Balance, DealsByLengthWhereLengthsDiffer) {
  const Cluster cluster = cluster_of({{"a100", 1, 2}, {"l4", 1, 2}});
  Workflow workflow = ppo_8b();
  const std::vector<std::uint16_t> devices = {0, 1, 2, 3};
  Shape shape;
  shape.layers = {32};
  shape.sequences = {64, 64, 64, 64};
  const auto dealt = [&](const std::string& name, bool packed) {
    Execution execution;
    execution.packed = packed;
    const SortedLengths sorted(workflow);
    const LoadWeights weights = load_weights_of(workflow.task(name), execution, workflow, cluster, sorted);
    return balanced(shape, DeviceOrder::by_replica, devices, weights, LoadSplit::by_length);
  };
  EXPECT_TRUE(dealt("reference_inference", true).length_ranks.empty());
  workflow.response_tokens = {LengthKind::lognormal, {}, {}, 600, 0.8, 4096};
  EXPECT_TRUE(dealt("actor_generation", true).length_ranks.empty());  // decides its own lengths
  EXPECT_EQ(dealt("reference_inference", true).length_ranks, (std::vector<int>{1, 1, 0, 0}));
  EXPECT_EQ(dealt("actor_training", false).length_ranks, (std::vector<int>{2, 3, 0, 1}));
}

TEST(Balance, MakesOptionsOfUnlikeDevicesFaster) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l4", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanRequest request{cluster, workflow, coefficients};
  std::vector<std::uint16_t> all(static_cast<std::size_t>(cluster.device_count()));
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const std::vector<std::uint16_t> alike(all.begin(), all.begin() + 8);
  for (int task = 0; task < static_cast<int>(workflow.tasks.size()); ++task) {
    SearchRun even(request, 0), balanced(request, 0);
    balanced.options().balance_load();
    const std::vector<Option>& before = even.options().of(task, all);
    const std::vector<Option>& after = balanced.options().of(task, all);
    ASSERT_FALSE(before.empty() || after.empty());
    EXPECT_LT(after.front().value.time_s, before.front().value.time_s) << workflow.tasks[task].name;
    for (const Option& option : after) {
      const Shape& shape = balanced.evaluator().shapes(task).at(option.shape);
      const Shape& as_even = balanced.evaluator().shapes(task).at(option.even_shape);
      const auto sum = [](const std::vector<int>& parts) {
        return std::accumulate(parts.begin(), parts.end(), 0);
      };
      EXPECT_EQ(sum(shape.layers), sum(as_even.layers));
      EXPECT_EQ(sum(shape.sequences), sum(as_even.sequences));
      EXPECT_EQ(shape.tensor_parallel, as_even.tensor_parallel);
    }
    EXPECT_GE(even.options().of(task, alike).front().value.time_s,
              balanced.options().of(task, alike).front().value.time_s);
  }
}

// The slower of two layouts may be the one from which weights are gathered faster.
TEST(Options, OfTheActorAreKeptForTheirWeightSynchronization) {
  const Cluster cluster = cluster_of({{"a100", 4}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanRequest request{cluster, workflow, coefficients};
  SearchRun run(request, 0);
  std::vector<std::uint16_t> all(static_cast<std::size_t>(cluster.device_count()));
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  for (int task = 0; task < static_cast<int>(workflow.tasks.size()); ++task) {
    const Task& of = workflow.tasks[static_cast<std::size_t>(task)];
    const std::vector<Option>& options = run.options().of(task, all);
    double minimum = options.front().weights_apart_s, maximum = 0;
    for (const Option& option : options) {
      maximum = std::max(maximum, option.weights_apart_s);
      // It is slower than those before it, so that it must be better in something.
      for (const Option& before : options) {
        if (&before == &option) break;
        EXPECT_TRUE(option.syncs_faster_than(before) ||
                    option.value.max_resident_bytes < before.value.max_resident_bytes ||
                    option.value.max_working_bytes < before.value.max_working_bytes);
      }
      minimum = std::min(minimum, option.weights_apart_s);
    }
    if (of.name == workflow.actor_training().name) {
      EXPECT_GT(maximum, 2 * minimum);
    } else if (of.name != workflow.actor_generation().name && of.name != task_names::kCriticInference) {
      EXPECT_EQ(maximum, 0);  // these two fetch what others train
    }
  }
}

// Shapes that were dealt for one set of devices alone are kept where an option has them.
TEST(Options, ForgetWhatWasDealtInVain) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l4", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanRequest request{cluster, workflow, coefficients};
  SearchRun run(request, 0);
  run.options().balance_load();
  const int training = 4, devices = cluster.device_count();
  std::vector<std::uint16_t> all(static_cast<std::size_t>(devices));
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  int forgotten = 0;
  for (const Option& option : run.options().of(training, all)) {
    EXPECT_EQ(run.evaluator().shapes(training).at(option.shape).devices(), devices);
    EXPECT_EQ(run.evaluator().shapes(training).at(option.even_shape).devices(), devices);
  }
  const ShapeTable& shapes = run.evaluator().shapes(training);
  for (int position = 0; position < shapes.size(); ++position) {
    if (shapes.at(position).sequences.empty()) ++forgotten;
  }
  EXPECT_GT(forgotten, 0);
}

// The widest stages of what is kept of a task on all devices from `first` on.
int widest(const Cluster& cluster, int first) {
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanRequest request{cluster, workflow, coefficients};
  SearchRun run(request, 0);
  OptionTable every(run.evaluator(), cluster, workflow, shape_limits_of(request), Thoroughness::every);
  std::vector<std::uint16_t> devices;
  for (int d = first; d < cluster.device_count(); ++d) devices.push_back(static_cast<std::uint16_t>(d));
  int widest = 0;
  const int training = 4;
  every.for_each(training, devices, [&](const Option& option) {
    widest = std::max(widest, run.evaluator().shapes(training).at(option.shape).tensor_parallel);
  });
  for (const Option& option : run.options().of(training, devices))
    EXPECT_LE(run.evaluator().shapes(training).at(option.shape).tensor_parallel, widest);
  return widest;
}

// Stages are as wide as the largest machine of the cluster, but do not use the network to another.
TEST(Options, StagesDoNotCrossSlowLinks) {
  const Cluster small_ones = cluster_of({{"a100", 1, 8}, {"l40s", 2, 4}});
  EXPECT_EQ(widest(cluster_of({{"a100", 1, 8}}), 0), 8);
  EXPECT_EQ(widest(small_ones, 8), 4);
  const LinkException nvlink{LinkScope::node, "l40s-z1-0", "l40s-z1-1", {assumed(5e-6), assumed(100e9)}, true};
  EXPECT_EQ(widest(cluster_of({{"a100", 1, 8}, {"l40s", 2, 4}}, {nvlink}), 8), 8);
  // With machines of one GPU each, no stage is wider without a network.
  EXPECT_EQ(widest(cluster_of({{"a100", 1, 8}, {"l4", 4, 1}}), 8), 4);
}

TEST(Options, StagesAreNearByHand) {
  const Cluster cluster = cluster_of({{"a100", 2, 3}});
  EXPECT_TRUE(stages_are_near({0, 1, 2, 3, 4, 5}, 1, cluster));
  EXPECT_TRUE(stages_are_near({0, 1, 2, 3, 4, 5}, 3, cluster));
  EXPECT_FALSE(stages_are_near({0, 1, 2, 3, 4, 5}, 2, cluster));  // 2 and 3
  EXPECT_TRUE(stages_are_near({0, 1, 3, 4}, 2, cluster));
  EXPECT_FALSE(stages_are_near({0, 1, 3, 4}, 4, cluster));
}

// If every machine has its own links, sets with as many devices of each class as earlier ones are evaluated in
// fewer ways, of which the fastest is about as fast as that of all.
TEST(Options, OfKinAreThoseThatWereWorthKeeping) {
  std::vector<LinkException> links;
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < a; ++b) {
      links.push_back({LinkScope::node,
                       "a100-z1-" + std::to_string(a),
                       "a100-z1-" + std::to_string(b),
                       {assumed(1e-4 * (a + b)), assumed(1e9 * (1 + a * b))}});
    }
  }
  const Cluster cluster = cluster_of({{"a100", 5}}, links);
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanRequest request{cluster, workflow, coefficients};
  SearchRun run(request, 0);
  OptionTable all(run.evaluator(), cluster, workflow, shape_limits_of(request), Thoroughness::every);
  const int training = 4;
  ASSERT_EQ(workflow.tasks[training].kind, TaskKind::training);
  std::vector<std::uint64_t> asked;
  double worst = 1;
  for (int first = 0; first < 5; ++first) {
    for (int second = first + 1; second < 5; ++second) {
      std::vector<std::uint16_t> devices;
      for (const int node : {first, second}) {
        for (int d = 0; d < 8; ++d) devices.push_back(static_cast<std::uint16_t>(8 * node + d));
      }
      const std::uint64_t before = run.evaluator().asked();
      const std::vector<Option>& promising = run.options().of(training, devices);
      asked.push_back(run.evaluator().asked() - before);
      const std::vector<Option>& every = all.of(training, devices);
      ASSERT_FALSE(promising.empty());
      worst = std::max(worst, promising.front().value.time_s / every.front().value.time_s);
    }
  }
  EXPECT_LT(2 * *std::max_element(asked.begin() + 3, asked.end()), asked.front());
  EXPECT_LT(worst, 1.01);
}

}  // namespace
}  // namespace sextant::test
