// Looking at one of many that are alike changes nothing: a plan costs the same on a cluster without exceptional
// links and on that cluster with one exception, which states the rate that is there already and turns merging
// off.
#include "costmodel/problem/symmetry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <random>

#include "costmodel/iteration.h"
#include "costmodel/terms/memory.h"
#include "tests/costmodel/random.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

// The difference between two nodes of the cluster.
enum class Nodes { alike, of_two_kinds };

DeviceType random_type(Random& random) {
  DeviceType type = device_type(random.real(50, 500), random.real(10, 100));
  type.host_bytes_per_s = assumed(random.real(5, 50));
  for (const Precision narrow : {Precision::fp8, Precision::fp4}) {
    type.flop_per_s[narrow] = assumed(random.real(100, 900));
  }
  return type;
}

Cluster random_cluster(Random& random, Nodes kind) {
  const int devices = random.integer(1, 4), nodes = random.integer(2, 6);
  const bool monotone = random.chance(0.7), has_network = random.chance(0.5), has_link = random.chance(0.3);
  const double network[] = {random.real(10, 400), random.real(10, 400)};
  const LinkRate link[] = {link_rate(random.real(0.01, 0.02), random.real(8000, 9000)),
                           link_rate(random.real(0.01, 0.02), random.real(8000, 9000))};
  std::vector<Node> all;
  for (int i = 0; i < nodes; ++i) {
    const int which = kind == Nodes::alike ? 0 : random.integer(0, 1);
    all.push_back(node("n" + std::to_string(i), which == 0 ? "fast" : "slow", devices));
    const std::string region = std::to_string(random.integer(0, 1));
    all.back().region = "r" + region;
    all.back().zone = "z" + region + std::to_string(random.integer(0, 1));
    if (has_network) all.back().network_bytes_per_s = network[which];
    if (has_link) all.back().link = link[which];
  }
  // Links inside a node stay the fastest even where all its members leave it side by side over twice their
  // rate: up to there the slowest edge of a ring can be known without a search.
  std::map<LinkLevel, LinkRate> levels;
  double latency = random.real(0.01, 0.1), rate = random.real(4000, 8000);
  for (int level = 0; level < kLinkLevelCount; ++level) {
    levels[static_cast<LinkLevel>(level)] = link_rate(latency, rate);
    if (level == 0 && monotone) rate /= 20;
    latency = monotone ? latency * random.real(1, 3) : random.real(0.1, 9);
    rate = monotone ? rate / random.real(1, 3) : random.real(10, 200);
  }
  return Cluster("uniform", {{"fast", random_type(random)}, {"slow", random_type(random)}}, all, levels);
}

// The same, with what is known already about the link between two nodes said again.
Cluster said_again(const Cluster& cluster, Random& random) {
  LinkException again;
  again.scope = LinkScope::node;
  const int last = static_cast<int>(cluster.nodes().size()) - 1;
  const int from = random.integer(0, last - 1), to = random.integer(from + 1, last);
  const auto first_of = [&](int which) {
    int first = 0;
    for (int i = 0; i < which; ++i) first += cluster.nodes()[static_cast<std::size_t>(i)].devices;
    return DeviceId{first};
  };
  again.from = cluster.nodes()[static_cast<std::size_t>(from)].name;
  again.to = cluster.nodes()[static_cast<std::size_t>(to)].name;
  again.rate = cluster.link(first_of(from), first_of(to));
  return Cluster(cluster.name(), cluster.device_types(), cluster.nodes(), cluster.levels(), {again});
}

void add_kernels(Execution& execution, Random& random) {
  execution.portable_attention = random.chance(0.3);
  execution.fused_experts = random.chance(0.3);
  execution.fused_dispatch = random.chance(0.3);
  execution.overlap_dispatch = random.chance(0.5);
  execution.unfused = random.chance(0.2);
  execution.eager_layers = random.chance(0.2);
  execution.training_graphs = static_cast<TrainingGraphs>(random.integer(0, 3));
  if (random.chance(0.3)) execution.precision = random.chance(0.5) ? Precision::fp8 : Precision::fp4;
  if (random.chance(0.2)) execution.expert_precision = Precision::fp8;
  if (random.chance(0.2)) execution.attention_precision = Precision::fp8;
}

Execution random_execution(Random& random, bool training) {
  Execution execution;
  execution.zero_stage = training && random.chance(0.5) ? random.integer(1, 3) : 0;
  execution.sequence_parallel = random.chance(0.3);
  execution.packed = random.chance(0.5);
  execution.continuous_batching = random.chance(0.3);
  execution.micro_batch_tokens = random.chance(0.3) ? random.integer(9, 64) : 0;
  execution.shared_prompts = random.chance(0.3);
  execution.fused_attention = random.chance(0.5);
  execution.cuda_graphs = random.chance(0.5);
  execution.kv_cache_bytes = random.chance(0.3) ? random.real(500, 5000) : 0;
  execution.offload_optimizer = training && random.chance(0.3);
  execution.offload_weights = random.chance(0.3);
  execution.offload_gradients = random.chance(0.3);
  execution.offload_activations = training && random.chance(0.3);
  execution.lora_rank = training && random.chance(0.2) ? 2 : 0;
  add_kernels(execution, random);
  return execution;
}

void add_options(TaskPlan& plan, Random& random, bool training, bool experts) {
  const int contexts = plan.execution.context_parallel;
  plan.execution = random_execution(random, training);
  plan.execution.context_parallel = contexts;
  int fewest_layers = 8, narrowest = 8;
  for (const Replica& replica : plan.replicas) {
    for (const Stage& stage : replica.stages) {
      fewest_layers = std::min(fewest_layers, stage.layers);
      narrowest = std::min(narrowest, stage.width());
    }
  }
  if (random.chance(0.3)) plan.execution.virtual_stages = random.integer(1, std::min(2, fewest_layers));
  // Ranks inside a stage only: where they reach into the next replicas, replicas that are alike otherwise
  // differ.
  if (experts && narrowest >= 2 && random.chance(0.5)) {
    plan.execution.expert_parallel = 2;
    plan.execution.expert_tensor_parallel = 1;
  }
  plan.micro_batch_sequences = random.integer(1, 4);
  plan.decode_batch_sequences = random.integer(0, 5);
  plan.recompute = static_cast<Recompute>(random.integer(0, 2));
}

// Every replica, stage and degree alike, on devices in order.
TaskPlan uniform_plan(Random& random, int devices, const Model& model, bool training) {
  UniformLayout layout;
  layout.pipeline_parallel = random.integer(1, std::min(3, devices));
  const int contexts = random.chance(0.3) && devices / layout.pipeline_parallel >= 2 ? 2 : 1;
  layout.tensor_parallel =
      contexts * (devices / layout.pipeline_parallel / contexts >= 2 && random.chance(0.5) ? 2 : 1);
  layout.data_parallel =
      random.integer(1, std::min(8, devices / (layout.pipeline_parallel * layout.tensor_parallel)));
  TaskPlan plan;
  plan.replicas = expand_layout(layout, model.layers);
  plan.execution.context_parallel = contexts;
  add_options(plan, random, training, model.experts.has_value());
  return plan;
}

// Replicas of their own depths, widths and shares, on devices anywhere.
TaskPlan uneven_plan(Random& random, int devices, const Model& model, bool training) {
  std::vector<int> order(static_cast<std::size_t>(devices));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  TaskPlan plan;
  std::size_t next = 0;
  while (next < order.size() && plan.data_parallel() < 4) {
    Replica replica;
    const int stages = random.integer(1, std::min(3, static_cast<int>(order.size() - next)));
    int left = model.layers;
    for (int j = 0; j < stages; ++j) {
      const int rest = stages - j - 1;
      const int of_stage = rest == 0 ? left : random.integer(1, left - rest);
      left -= of_stage;
      const bool pair = random.chance(0.5) && order.size() - next >= static_cast<std::size_t>(rest) + 2;
      Stage stage{of_stage, {}};
      for (int k = 0; k < (pair ? 2 : 1); ++k) stage.devices.push_back(DeviceId{order[next++]});
      replica.stages.push_back(std::move(stage));
    }
    plan.replicas.push_back(std::move(replica));
    if (random.chance(0.3)) break;
  }
  double sum = 0;
  for (Replica& replica : plan.replicas) sum += replica.batch_share = random.real(1, 2);
  for (Replica& replica : plan.replicas) replica.batch_share /= sum;
  add_options(plan, random, training, model.experts.has_value());
  return plan;
}

// Somewhere inside the bounds of the fit, spread over decades where it moves by factors.
double random_value(const CoefficientSpec& spec, Random& random) {
  if (spec.scale == CoefficientScale::linear) return random.real(spec.lower, spec.upper);
  const double low = std::max(spec.lower, spec.prior / 30), high = std::min(spec.upper, spec.prior * 30);
  return low * std::pow(high / low, random.real(0, 1));
}

void set_random(Problem<double>& problem, Random random) {
  for (const CoefficientSpec& spec : coefficient_table()) {
    const double of_all = random_value(spec, random);
    for (int type = 0; type < problem.hardware.type_count(); ++type) {
      problem.coefficients.set(spec.id, type, spec.by_device_type() ? random_value(spec, random) : of_all);
    }
  }
}

Workflow random_workflow(Random& random, int layers) {
  Workflow workflow =
      small_workflow(random.chance(0.5) ? Mode::synchronous : Mode::one_step_off, random.integer(0, 9));
  for (auto& [role, model] : workflow.models) {
    model.layers = layers;
    if (random.chance(0.3)) model.experts = Experts{4, 2, 6, 3, random.integer(0, 1)};
  }
  workflow.models["reward"] = workflow.models.at("reference") = workflow.models.at("actor");
  workflow.tasks = grpo_tasks(true);
  workflow.prompts = random.integer(3, 9);
  workflow.mini_batches = random.integer(1, 2);
  workflow.response_tokens.kind = LengthKind::empirical;
  workflow.response_tokens.tokens = {2, 6};
  workflow.response_tokens.weights = {1, 1};
  return workflow;
}

Plan random_plan(Random& random, const Cluster& cluster, const Model& model, bool uneven) {
  const auto task = [&](bool training) {
    return uneven ? uneven_plan(random, cluster.device_count(), model, training)
                  : uniform_plan(random, cluster.device_count(), model, training);
  };
  Plan plan = plan_with(task(false), task(false), task(true));
  plan.tasks["reward_inference"] = task(false);
  plan.weight_sync.method = static_cast<WeightSyncMethod>(random.integer(0, 4));
  return plan;
}

// Sums in another order may differ in the last digits.
constexpr double kSymmetryRounding = 1e-12;

void expect_near(double a, double b, const std::string& what) {
  EXPECT_NEAR(a, b, kSymmetryRounding * std::max(std::fabs(a), std::fabs(b))) << what;
}

struct Compared {
  int problems = 0;
  int merged = 0;  // tasks in which fewer replicas or gradient groups were looked at
};

void compare(unsigned seed, Nodes kind, bool uneven, Compared& compared) {
  Random random(seed);
  const int layers = random.integer(3, 7);
  const Cluster cluster = random_cluster(random, kind), again = said_again(cluster, random);
  ASSERT_TRUE(cluster.has_uniform_links());
  ASSERT_FALSE(again.has_uniform_links());
  const Workflow workflow = random_workflow(random, layers);
  const Plan plan = random_plan(random, cluster, workflow.models.at("actor"), uneven);
  ASSERT_NO_THROW(check_plan(plan, workflow, cluster)) << "seed " << seed;
  Case<> merged(cluster, workflow, plan), apart(again, workflow, plan);
  set_random(merged.problem, Random(seed));
  set_random(apart.problem, Random(seed));
  const std::string where = "seed " + std::to_string(seed) + ", " + describe(plan);
  for (const Task& task : workflow.tasks) {
    const TaskWork one = merged.work(task.name), all = apart.work(task.name);
    EXPECT_EQ(all.classes.size(), plan.tasks.at(task.name).replicas.size());
    compared.merged +=
        one.classes.size() < all.classes.size() || one.gradient_groups.size() < all.gradient_groups.size();
    const auto of_one = task_cost(merged.problem, one), of_all = task_cost(apart.problem, all);
    EXPECT_TRUE(std::isfinite(of_one.time_s)) << where;
    expect_near(of_one.time_s, of_all.time_s, task.name + ", " + where);
    if (::testing::Test::HasFailure()) {
      for (int t = 0; t < kTermCount; ++t) {
        std::cerr << "  " << name_of(static_cast<Term>(t)) << " " << of_one.term(static_cast<Term>(t)) << " "
                  << of_all.term(static_cast<Term>(t)) << "\n";
      }
      return;
    }
  }
  const auto of_one = iteration_cost(merged.problem), of_all = iteration_cost(apart.problem);
  expect_near(of_one.weight_sync_s, of_all.weight_sync_s, "weight sync, " + where);
  expect_near(of_one.iteration_s, of_all.iteration_s, "iteration, " + where);
  const auto memory = [](const Case<>& problem) {
    const auto works = works_of(problem.workflow, problem.plan, problem.cluster);
    return plan_memory(works, problem.cluster, problem.problem.coefficients, problem.problem.hardware);
  };
  EXPECT_EQ(memory(merged), memory(apart)) << where;
  ++compared.problems;
}

void compare_all(Nodes kind, bool uneven) {
  Compared compared;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    compare(seed, kind, uneven, compared);
    if (::testing::Test::HasFailure()) return;  // one problem is enough to look at
  }
  EXPECT_EQ(compared.problems, 300);
  EXPECT_GT(compared.merged, 30);
}

TEST(Symmetry, UniformPlansOnNodesAlike) { compare_all(Nodes::alike, false); }
TEST(Symmetry, UniformPlansOnNodesOfTwoKinds) { compare_all(Nodes::of_two_kinds, false); }
TEST(Symmetry, UnevenPlansOnNodesAlike) { compare_all(Nodes::alike, true); }
TEST(Symmetry, UnevenPlansOnNodesOfTwoKinds) { compare_all(Nodes::of_two_kinds, true); }

// All that the model says about a problem: seconds of the iteration, of weight sync and of the tasks, and bytes
// of the devices.
std::vector<double> numbers_of(const Case<>& c) {
  const std::vector<TaskWork> works = works_of(c.workflow, c.plan, c.cluster);
  const auto cost = iteration_cost(c.problem, std::span<const TaskWork>(works));
  std::vector<double> numbers{cost.iteration_s, cost.weight_sync_s};
  for (const TaskCost<double>& task : cost.tasks) numbers.push_back(task.time_s);
  for (const DeviceMemory& memory : plan_memory(works, c.cluster, c.problem.coefficients, c.problem.hardware)) {
    numbers.push_back(memory.resident_bytes + memory.working_bytes);
  }
  return numbers;
}

// Whether another value of the coefficient, for all device types, changes any of the problem's numbers.
bool does_something(Case<>& c, const CoefficientSpec& spec, double value) {
  constexpr double kNoticed = 1e-9;  // relative: more than rounding does
  const std::vector<double> before = numbers_of(c);
  const CoefficientValues<double> kept = c.problem.coefficients;
  c.set(spec.id, value);
  const std::vector<double> after = numbers_of(c);
  c.problem.coefficients = kept;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (std::fabs(after[i] - before[i]) > kNoticed * std::fabs(before[i])) return true;
  }
  return false;
}

// A coefficient that no problem feels would be one that a formula has lost.
TEST(Symmetry, NoCoefficientIsWithoutEffect) {
  std::vector<CoefficientSpec> idle(coefficient_table().begin(), coefficient_table().end());
  for (unsigned seed = 1; seed <= 200 && !idle.empty(); ++seed) {
    Random random(seed);
    const int layers = random.integer(3, 7);
    const Cluster cluster = random_cluster(random, Nodes::of_two_kinds);
    const Workflow workflow = random_workflow(random, layers);
    const bool uneven = seed % 2 == 0;
    Plan plan = random_plan(random, cluster, workflow.models.at("actor"), uneven);
    if (seed % 3 == 0) plan.weight_sync.bucket_bytes = 100;
    Case<> c(cluster, workflow, plan);
    set_random(c.problem, Random(seed));
    std::erase_if(
        idle, [&](const CoefficientSpec& spec) { return does_something(c, spec, random_value(spec, random)); });
  }
  for (const CoefficientSpec& spec : idle) ADD_FAILURE() << spec.name << " changes nothing";
}

// Eight replicas on eight nodes alike, in one zone: one class, and one gradient group of every shard.
TEST(Symmetry, AlikeReplicasAreLookedAtOnce) {
  std::vector<Node> nodes;
  nodes.reserve(8);
  for (int i = 0; i < 8; ++i) nodes.push_back(node("n" + std::to_string(i), "fast", 2));
  const Cluster cluster(
      "row", {{"fast", device_type(100, 50)}}, nodes,
      {{LinkLevel::within_node, link_rate(1, 100)}, {LinkLevel::within_zone, link_rate(5, 10)}});
  TaskPlan plan;
  plan.replicas = expand_layout({8, 1, 2, DeviceId{0}}, 3);
  const Case<> alike(cluster, small_workflow(), same_everywhere(plan));
  const TaskWork training = alike.work("actor_training");
  // 12 sequences over 8 replicas: four have two, four one.
  ASSERT_EQ(training.classes.size(), 2u);
  EXPECT_EQ(training.classes[0].count, 4);
  EXPECT_EQ(training.classes[1].replica, 4);
  ASSERT_EQ(training.gradient_groups.size(), 1u);
  EXPECT_EQ(training.gradient_groups[0].members.size(), 8u);
  EXPECT_EQ(training.gradient_groups[0].leaving.node, 2);
}

}  // namespace
}  // namespace sextant::test
