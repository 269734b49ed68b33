// Every kind of document comes back as it was, and its text no longer changes after one pass.
#include <gtest/gtest.h>

#include <random>

#include "core/json_value.h"
#include "documents/experiments.h"
#include "documents/explanation.h"
#include "sextant/coefficients.h"
#include "sextant/prediction.h"
#include "sextant/search.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

template <typename T>
void expect_round_trip(const std::string& name) {
  const auto first = load_document<T>(data_file(name));
  const std::string text = format_document(first);
  const auto second = parse_document<T>(text);
  EXPECT_EQ(second.content, first.content) << name;
  EXPECT_EQ(second.provenance, first.provenance) << name;
  EXPECT_EQ(format_document(second), text) << name;
}

TEST(RoundTrip, Cluster) { expect_round_trip<Cluster>("cluster.json"); }
TEST(RoundTrip, Model) { expect_round_trip<Model>("model.json"); }
TEST(RoundTrip, Workflow) {
  expect_round_trip<Workflow>("workflow_ppo.json");
  expect_round_trip<Workflow>("workflow_grpo.json");
  expect_round_trip<Workflow>("workflow_rollout.json");
}
TEST(RoundTrip, Plan) {
  expect_round_trip<Plan>("plan.json");
  expect_round_trip<Plan>("plan_grpo.json");
}
TEST(RoundTrip, Runs) { expect_round_trip<Runs>("runs.json"); }
TEST(RoundTrip, Experiments) { expect_round_trip<Experiments>("experiments.json"); }
TEST(RoundTrip, Coefficients) { expect_round_trip<Coefficients>("coefficients.json"); }
TEST(RoundTrip, Prediction) { expect_round_trip<Prediction>("prediction.json"); }
TEST(RoundTrip, Search) {
  expect_round_trip<SearchRecord>("search.json");
  expect_round_trip<SearchRecord>("search_pinned.json");
}
TEST(RoundTrip, Explanation) { expect_round_trip<Explanation>("explanation.json"); }
TEST(RoundTrip, FittedCoefficients) { expect_round_trip<Coefficients>("coefficients_fitted.json"); }
TEST(RoundTrip, PredictionWithTrust) { expect_round_trip<Prediction>("prediction_trust.json"); }

// Amounts of bytes and operations over the whole range that a document may hold.
double random_positive(std::mt19937_64& random) {
  std::uniform_real_distribution<double> exponent(-1, 24);
  return std::pow(10.0, exponent(random));
}

// A rate that no machine has would make sums infinite or not a number: it is refused where it is read.
TEST(RoundTrip, AmountsThatNothingHasAreRefused) {
  for (const double value : {1e-100, 0.09, 1.1e24, 1e308}) {
    Json json = load_fixture<Cluster>("cluster.json").to_json();
    Json& type = json["device_types"].begin().value();
    type["flop_per_s"].begin().value()["value"] = value;
    EXPECT_THROW((void)Cluster::parse(JsonView(json)), Error) << value;
  }
}

TEST(RoundTrip, RandomClusters) {
  std::mt19937_64 random(1);
  auto cluster = load_fixture<Cluster>("cluster.json");
  for (int trial = 0; trial < 200; ++trial) {
    auto types = cluster.device_types();
    types.at("h100").memory_bytes.value = random_positive(random);
    types.at("h100").flop_per_s.at(Precision::bf16).spread_fraction = random_positive(random);
    auto nodes = cluster.nodes();
    nodes[0].devices = static_cast<int>(4 + random() % 1000);
    nodes[0].host_memory_bytes = random_positive(random);
    auto levels = cluster.levels();
    levels.at(LinkLevel::within_node).latency_s.value = random_positive(random);
    auto exceptions = cluster.exceptions();
    exceptions[0].both_ways = random() % 2 == 0;
    exceptions[0].rate.bytes_per_s.value = random_positive(random);
    const Cluster drawn("name \"" + std::to_string(trial) + "\" é/~", types, nodes, levels, exceptions);
    const Json json = parse_json(format_json(drawn.to_json()));
    ASSERT_EQ(parse_as<Cluster>(json), drawn);
  }
}

TEST(RoundTrip, RandomTimesAndShares) {
  std::mt19937_64 random(2);
  auto runs = load_fixture<Runs>("runs.json");
  for (int trial = 0; trial < 50; ++trial) {
    Timing& timing = runs.runs[0].tasks.at("actor_training");
    timing.samples_s.assign(1 + random() % 20, 0);
    for (double& sample : timing.samples_s) sample = random_positive(random);
    auto& replicas = runs.plans.at("grpo-split").tasks.at("actor_generation").replicas;
    replicas[0].batch_share = std::uniform_real_distribution<double>(0.1, 0.9)(random);
    replicas[1].batch_share = 1 - replicas[0].batch_share;
    const Json json = parse_json(format_json(runs.to_json()));
    ASSERT_EQ(parse_as<Runs>(json), runs);
  }
}

}  // namespace
}  // namespace sextant
