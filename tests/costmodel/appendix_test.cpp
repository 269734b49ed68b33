// With neutral coefficients the model is HetRL's Appendix B: the terms are compared with costmodel/appendix.h,
// which shares no code with them, on random heterogeneous clusters and layouts, with a vocabulary of zero.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "costmodel/appendix.h"
#include "costmodel/iteration.h"
#include "tests/costmodel/random.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

// Summation order differs between the two; everything else is the same arithmetic.
constexpr double kAppendixRounding = 1e-13;

using appendix::Topology;

// Eight devices of four types with a random rate for every pair.
std::pair<Cluster, Topology> random_cluster(Random& random) {
  std::map<std::string, DeviceType> types;
  std::vector<Node> nodes;
  Topology g;
  for (int n = 0; n < 4; ++n) {
    const std::string name = "type" + std::to_string(n);
    const double comp = random.real(50, 500), hbm = random.real(10, 100);
    types[name] = device_type(comp, hbm);
    nodes.push_back(node("node" + std::to_string(n), name, 2));
    g.comp.insert(g.comp.end(), 2, comp);
    g.hbm.insert(g.hbm.end(), 2, hbm);
  }
  g.alpha.assign(8, std::vector<double>(8, 0));
  g.beta.assign(8, std::vector<double>(8, 1));
  std::vector<LinkException> exceptions;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      if (a == b) continue;
      const double alpha = random.real(0.1, 3), beta = random.real(10, 200);
      g.alpha[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = alpha;
      g.beta[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = beta;
      const auto name = [](int d) { return "node" + std::to_string(d / 2) + "/" + std::to_string(d % 2); };
      exceptions.push_back({LinkScope::device, name(a), name(b), link_rate(alpha, beta), false});
    }
  }
  return {Cluster("random", types, nodes,
                  {{LinkLevel::within_node, link_rate(1, 1)}, {LinkLevel::within_zone, link_rate(1, 1)}},
                  exceptions),
          g};
}

// Replicas alike in shape on shuffled devices; unequal layers; stages may differ in tensor parallelism.
TaskPlan random_layout(Random& random, int layers) {
  std::vector<int> order(8);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  static const std::vector<std::vector<int>> kShapes{{1}, {2}, {4}, {1, 1}, {2, 1}, {1, 2}, {2, 2}, {1, 1, 2}};
  const std::vector<int>& shape = kShapes[static_cast<std::size_t>(random.integer(0, 7))];
  const int needed = std::accumulate(shape.begin(), shape.end(), 0);
  const int dp = random.integer(1, 8 / needed);
  std::vector<int> split(shape.size(), 1);
  for (int extra = layers - static_cast<int>(shape.size()); extra > 0; --extra) {
    ++split[static_cast<std::size_t>(random.integer(0, static_cast<int>(shape.size()) - 1))];
  }
  TaskPlan plan;
  std::size_t next = 0;
  for (int i = 0; i < dp; ++i) {
    Replica replica{1.0 / dp, {}};
    for (std::size_t j = 0; j < shape.size(); ++j) {
      Stage stage{split[j], {}};
      for (int k = 0; k < shape[j]; ++k) stage.devices.push_back(DeviceId{order[next++]});
      replica.stages.push_back(stage);
    }
    plan.replicas.push_back(replica);
  }
  plan.micro_batch_sequences = random.integer(1, 5);
  plan.decode_batch_sequences = random.integer(0, 6);
  plan.recompute = random.integer(0, 1) == 1 ? Recompute::full : Recompute::none;
  return plan;
}

TEST(Appendix, NeutralTermsEqualTheAppendix) {
  Random random(2026);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto [cluster, g] = random_cluster(random);
    Workflow workflow = small_workflow();
    workflow.prompts = random.integer(2, 10);
    workflow.prompt_tokens = fixed_length(random.integer(1, 20));
    workflow.response_tokens = fixed_length(random.integer(1, 20));
    const int layers = random.integer(3, 9);
    workflow.models["actor"].layers = workflow.models["reference"].layers = layers;
    Plan laid_out =
        plan_with(random_layout(random, layers), random_layout(random, layers), random_layout(random, layers));
    laid_out.weight_sync.method = WeightSyncMethod::per_replica;
    Case<> c(cluster, workflow, laid_out);
    const appendix::Llm llm{4, 8, static_cast<double>(layers), workflow.prompt_tokens.max_tokens(),
                            workflow.response_tokens.max_tokens()};
    const IterationCost<double> cost = iteration_cost(c.problem);
    for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
      const TaskPlan& plan = c.plan.tasks.at(workflow.tasks[t].name);
      appendix::Batch batch;
      for (const int sequences : replica_sequences(plan, workflow.sequences())) {
        batch.nm.push_back(std::ceil(static_cast<double>(sequences) / plan.micro_batch_sequences));
        batch.mbs.push_back(sequences / batch.nm.back());
        batch.dbs.push_back(
            plan.decode_batch_sequences == 0 ? sequences : std::min(sequences, plan.decode_batch_sequences));
      }
      const double expected = appendix::TaskCosts(g, llm, workflow.tasks[t].kind, plan, batch).psi();
      EXPECT_NEAR(cost.tasks[t].time_s, expected, kAppendixRounding * expected)
          << workflow.tasks[t].name << " " << repeat;
    }
    const TaskPlan& training = c.plan.tasks.at("actor_training");
    EXPECT_NEAR(terms::reshard_s(c.problem, c.work("actor_training")), appendix::c_reshard(g, llm, training),
                1e-10);
    const double synchronized_s = appendix::c_sync(g, llm, training, c.plan.tasks.at("actor_generation"));
    EXPECT_NEAR(terms::synchronize_s(c.problem, c.work("actor_training"), c.work("actor_generation")),
                synchronized_s, 1e-12 * synchronized_s)
        << repeat;
  }
}

// B.4 with the tasks' own times: eta between one after the other and all at the same time.
TEST(Appendix, PhiIsBetweenTheSumAndTheLongest) {
  EXPECT_EQ(appendix::phi({3, 1, 2}, 0), 6);
  EXPECT_EQ(appendix::phi({3, 1, 2}, 1), 3);
  EXPECT_EQ(appendix::phi({3, 1, 2}, 0.5), 4.5);
}

// Properties over random problems.
class Properties : public ::testing::TestWithParam<unsigned> {
 protected:
  Random random{GetParam()};
  Cluster cluster = random_cluster(random).first;
  Plan plan = plan_with(random_layout(random, 6), random_layout(random, 6), random_layout(random, 6));

  [[nodiscard]] static Workflow six_layers(double scale_tokens = 1, int prompts = 6) {
    Workflow workflow = small_workflow();
    workflow.models["actor"].layers = workflow.models["reference"].layers = 6;
    workflow.prompts = prompts;
    workflow.prompt_tokens = fixed_length(4 * scale_tokens);
    workflow.response_tokens = fixed_length(4 * scale_tokens);
    return workflow;
  }
  [[nodiscard]] static double time_s(const Cluster& on, const Workflow& workflow, const Plan& plan) {
    Case<> c(on, workflow, plan);
    return iteration_cost(c.problem).iteration_s;
  }
  // Every rate multiplied, every latency divided.
  [[nodiscard]] Cluster faster(double compute, double memory, double links) const {
    std::map<std::string, DeviceType> types = cluster.device_types();
    for (auto& [name, type] : types) {
      for (auto& [precision, rate] : type.flop_per_s) rate.value *= compute;
      type.memory_bytes_per_s.value *= memory;
    }
    std::vector<LinkException> exceptions = cluster.exceptions();
    for (LinkException& exception : exceptions) {
      exception.rate.latency_s.value /= links;
      exception.rate.bytes_per_s.value *= links;
    }
    return Cluster("faster", types, cluster.nodes(), cluster.levels(), exceptions);
  }
};

TEST_P(Properties, EverythingTwiceAsFastHalvesTheTime) {
  const double time = time_s(cluster, six_layers(), plan);
  EXPECT_NEAR(time_s(faster(2, 2, 2), six_layers(), plan), time / 2, 1e-12 * time);
}

TEST_P(Properties, NoFasterPartSlowsAPlanDown) {
  const double time = time_s(cluster, six_layers(), plan);
  EXPECT_LE(time_s(faster(3, 1, 1), six_layers(), plan), time);
  EXPECT_LE(time_s(faster(1, 3, 1), six_layers(), plan), time);
  EXPECT_LE(time_s(faster(1, 1, 3), six_layers(), plan), time);
}

TEST_P(Properties, MoreWorkTakesLonger) {
  EXPECT_GT(time_s(cluster, six_layers(2), plan), time_s(cluster, six_layers(1), plan));
  EXPECT_GT(time_s(cluster, six_layers(1, 12), plan), time_s(cluster, six_layers(1, 6), plan));
}

TEST_P(Properties, InstantLinksLeaveComputeAndMemory) {
  const Cluster instant = faster(1, 1, 1e12);
  Case<> c(instant, six_layers(), plan);
  for (const TaskCost<double>& cost : iteration_cost(c.problem).tasks) {
    const double links =
        cost.term(Term::tensor_parallel) + cost.term(Term::pipeline_parallel) + cost.term(Term::data_parallel);
    EXPECT_LT(links, 1e-8);
    EXPECT_GT(cost.term(Term::compute), 0);
  }
}

TEST_P(Properties, WorseCoefficientsNeverHelp) {
  const double neutral = time_s(cluster, six_layers(), plan);
  for (const CoefficientSpec& spec : coefficient_table()) {
    // Chooses between two countings of the bubble, either of which can be the larger.
    if (spec.id == CoefficientId::bubble_slowest_weight) continue;
    // Overlap and more adapters help by their meaning.
    if (spec.name.ends_with("_overlap") && spec.neutral == 0) continue;
    if (spec.name.ends_with("_sharing") || spec.id == CoefficientId::rail_weight) continue;
    // Turns about 3e14 FLOP/s, above which it slows and below which it speeds up.
    if (spec.id == CoefficientId::peak_rate_exponent) continue;
    Case<> c(cluster, six_layers(), plan);
    const bool is_share = spec.unit == "1" && spec.neutral == 1 && !spec.name.ends_with("_weight") &&
                          spec.id != CoefficientId::link_latency_scale;
    c.set(spec.id, is_share ? 0.5 : spec.neutral + 1);
    EXPECT_GE(iteration_cost(c.problem).iteration_s, neutral * (1 - 1e-12)) << spec.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Properties, ::testing::Range(1U, 21U));

}  // namespace
}  // namespace sextant::test
