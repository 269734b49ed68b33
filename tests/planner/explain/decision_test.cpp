// How surely a plan is the better one, and which number would make another the better.
#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/hardware_numbers.h"
#include "planner/explain/flips.h"
#include "planner/explain/number_values.h"
#include "tests/planner/explain/explain_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

TEST(Chances, OfEqualPlansAreEven) {
  const std::vector<double> losses{1, 2, 3, 4};
  const Chance chance = *chance_of(losses, losses, 0.1);
  EXPECT_EQ(chance.probability, 0.5);
  EXPECT_NEAR(*chance.probability_with_model_error, 0.5, 1e-12);
  EXPECT_EQ(chance.ratio_90, (Interval{1, 1}));
}

TEST(Chances, CountTheDrawsThatAreWon) {
  const Chance chance = *chance_of({1, 1, 1, 1}, {2, 2, 2, 0.5}, std::nullopt);
  EXPECT_EQ(chance.probability, 0.75);
  EXPECT_FALSE(chance.probability_with_model_error);
  EXPECT_EQ(chance.ratio_90.high, 2);
}

// A tenth faster is sure by the coefficients; two errors of a tenth each leave 75 %: Phi(log 1.1 / 0.1414).
TEST(Chances, ModelErrorsTakeSomeOfThem) {
  const Chance chance = *chance_of({1, 1}, {1.1, 1.1}, 0.1);
  EXPECT_EQ(chance.probability, 1);
  EXPECT_NEAR(*chance.probability_with_model_error, 0.7498, 1e-3);
}

TEST(Chances, AreNotKnownWithoutDraws) { EXPECT_FALSE(chance_of({}, {}, 0.1)); }

// With a spread of one coefficient that all plans share the slower plan stays slower.
TEST(Chances, OfAMuchSlowerPlanAreSmall) {
  ExplainedCase it;
  for (int i = 0; i < 20; ++i) {
    Coefficients draw;
    Coefficient entry;
    entry.id = training_efficiency;
    entry.value = 0.3 + 0.03 * i;
    draw.values = {entry};
    it.doubt.draws.push_back(draw);
  }
  const PlanResult slow = find_planner("verl-colocated")->plan(it.request);
  ASSERT_GT(slow.prediction->iteration_s, 1.5 * it.result.prediction->iteration_s);
  const auto mine = losses_under(it.request, it.cluster, *it.result.plan, it.doubt);
  const auto its = losses_under(it.request, it.cluster, *slow.plan, it.doubt);
  EXPECT_GT(mine.front(), mine.back());  // less efficient, slower: the draws are used
  EXPECT_EQ(chance_of(mine, its, std::nullopt)->probability, 1);
  EXPECT_EQ(chance_of(its, mine, std::nullopt)->probability, 0);
}

// Prepared values change nothing.
TEST(PreparedPlan, JudgesAsThePredictionDoes) {
  const ExplainedCase it;
  const PreparedPlan prepared(it.request, it.cluster, *it.result.plan);
  Coefficients slow;
  Coefficient entry;
  entry.id = training_efficiency;
  entry.value = 0.4;
  slow.values = {entry};
  EXPECT_EQ(prepared.judge({}).loss, it.result.prediction->iteration_s);
  EXPECT_EQ(prepared.judge(slow).loss, judge(it.request, it.cluster, *it.result.plan, slow).loss);
  entry.id = memory_context_bytes;
  entry.value = 1e12;
  slow.values = {entry};
  EXPECT_TRUE(prepared.judge({}).is_allowed);
  EXPECT_FALSE(prepared.judge(slow).is_allowed);
}

// Whatever rate or size of a device type changes.
TEST(PreparedPlan, JudgesOnOtherDevicesAsThePredictionDoes) {
  const ExplainedCase it;
  const PreparedPlan prepared(it.request, it.cluster, *it.result.plan);
  int slower = 0, too_small = 0;
  for (const char* type : {"a100", "l40s"}) {
    for (const char* name : {"flop_per_s", "memory_bytes_per_s", "memory_bytes"}) {
      for (const double factor : {0.01, 0.5, 3.0}) {
        const Cluster changed = with_scaled(it.cluster, {name, type}, factor);
        const Judgement mine = prepared.judge_on(changed, it.coefficients);
        const Judgement whole = judge(it.request, changed, *it.result.plan, it.coefficients);
        EXPECT_EQ(mine.loss, whole.loss) << name << " " << factor;
        EXPECT_EQ(mine.is_allowed, whole.is_allowed) << name << " " << factor;
        slower += mine.loss > it.result.prediction->iteration_s ? 1 : 0;
        too_small += mine.is_allowed ? 0 : 1;
      }
    }
  }
  EXPECT_GT(slower, 0);
  EXPECT_GT(too_small, 0);
}

TEST(Crossings, AreFoundOnTheNearerSide) {
  const auto between = [](double low, double high) {
    return [low, high](double factor) -> std::optional<std::string> {
      if (factor < low) return "low";
      if (factor > high) return "high";
      return std::nullopt;
    };
  };
  const Crossing down = *find_crossing(between(0.8, 2.0));
  EXPECT_EQ(down.to, "low");
  EXPECT_NEAR(down.factor, 0.8, 1e-4);
  const Crossing up = *find_crossing(between(0.3, 1.7));
  EXPECT_EQ(up.to, "high");
  EXPECT_NEAR(up.factor, 1.7, 1e-4);
  EXPECT_FALSE(find_crossing(between(0.05, 20)));
  EXPECT_FALSE(find_crossing(between(0.8, 2.0), {0.9, 1.5}));
  EXPECT_EQ(find_crossing(between(0.8, 2.0), {1.0, 10})->to, "high");  // one side only
}

// Predicted on either side of every flip: the chosen plan is the better one before, and the other after.
TEST(Flips, ReallyFlip) {
  const ExplainedCase it;
  const std::vector<FoundAlternative> found = find_alternatives(it.request, "sha-ea", *it.result.plan, kQuick);
  std::vector<Rival> rivals;
  for (const FoundAlternative& other : found) {
    if (other.result.plan) rivals.push_back({other.name, &*other.result.plan});
  }
  ASSERT_GE(rivals.size(), 3U);
  const std::vector<Flip> flips = find_flips(it.request, *it.result.plan, rivals, it.doubt);
  int of_time = 0, of_room = 0;
  for (const Flip& flip : flips) {
    if (!flip.is_hardware) continue;
    const double step = flip.factor > 1 ? 1e-4 : -1e-4;  // outwards, more than the bisection's accuracy
    const auto judged = [&](const Plan& plan, double factor) {
      return judge(it.request, with_scaled(it.cluster, {flip.name, flip.of}, factor), plan, it.coefficients);
    };
    const Judgement before = judged(*it.result.plan, flip.factor * (1 - step));
    const Judgement after = judged(*it.result.plan, flip.factor * (1 + step));
    EXPECT_TRUE(before.is_allowed) << flip.name;
    if (flip.to.empty()) {
      ++of_room;
      EXPECT_FALSE(after.is_allowed) << flip.name;
      continue;
    }
    ++of_time;
    bool is_beaten = false;
    for (const Rival& rival : rivals) {
      EXPECT_FALSE(judged(*rival.plan, flip.factor * (1 - step)).is_better_than(before)) << flip.name;
      is_beaten = is_beaten || judged(*rival.plan, flip.factor * (1 + step)).is_better_than(after);
    }
    EXPECT_TRUE(is_beaten) << flip.name << " of " << flip.of;
  }
  EXPECT_GT(of_time, 0);
  EXPECT_GT(of_room, 0);
  for (std::size_t i = 1; i < flips.size(); ++i)
    EXPECT_LE(std::abs(std::log(flips[i - 1].factor)), std::abs(std::log(flips[i].factor)));
}

// The request's coefficients with one of them multiplied: of one device type, or of all at once.
Coefficients with_scaled_coefficient(const ExplainedCase& it, const Flip& flip, double factor) {
  Coefficients changed = it.coefficients;
  for (const CoefficientSpec& spec : coefficient_table()) {
    if (spec.name != flip.name) continue;
    for (const auto& [type, rates] : it.cluster.device_types()) {
      if (flip.of != "*" && flip.of != type) continue;
      Coefficient entry;
      entry.id = spec.id;
      entry.device_type = type;
      entry.framework = it.request.framework;
      entry.value = it.coefficients.value(spec.id, type, it.request.framework) * factor;
      changed.values.push_back(entry);
    }
  }
  return changed;
}

// Predicted from scratch just inside and just outside of every flip of a coefficient: inside the chosen plan
// can be had and no rival is better; outside it cannot, or the rival that is named is better and none is better
// still.
TEST(Flips, OfCoefficientsStayInsideAndChangeOutside) {
  const ExplainedCase it;
  const std::vector<FoundAlternative> found = find_alternatives(it.request, "sha-ea", *it.result.plan, kQuick);
  std::vector<Rival> rivals;
  for (const FoundAlternative& other : found) {
    if (other.result.plan) rivals.push_back({other.name, &*other.result.plan});
  }
  int to_rivals = 0, to_none = 0;
  for (const Flip& flip : find_flips(it.request, *it.result.plan, rivals, it.doubt)) {
    if (flip.is_hardware) continue;
    const auto judged = [&](const Plan& plan, double factor) {
      return judge(it.request, it.cluster, plan, with_scaled_coefficient(it, flip, factor));
    };
    const double step = flip.factor > 1 ? 1e-4 : -1e-4;  // outwards, more than the bisection's accuracy
    const double inside = flip.factor * (1 - step), outside = flip.factor * (1 + step);
    EXPECT_TRUE(judged(*it.result.plan, inside).is_allowed) << flip.name;
    for (const Rival& rival : rivals)
      EXPECT_FALSE(judged(*rival.plan, inside).is_better_than(judged(*it.result.plan, inside)))
          << flip.name << " of " << flip.of << ": " << rival.name;
    if (flip.to.empty()) {
      ++to_none;
      EXPECT_FALSE(judged(*it.result.plan, outside).is_allowed) << flip.name;
      continue;
    }
    ++to_rivals;
    const auto named =
        std::find_if(rivals.begin(), rivals.end(), [&](const Rival& rival) { return rival.name == flip.to; });
    ASSERT_NE(named, rivals.end()) << flip.to;
    const Judgement best = judged(*named->plan, outside);
    EXPECT_TRUE(best.is_better_than(judged(*it.result.plan, outside))) << flip.name << " of " << flip.of;
    for (const Rival& rival : rivals)
      EXPECT_FALSE(judged(*rival.plan, outside).is_better_than(best)) << rival.name;
  }
  EXPECT_GT(to_rivals, 0);
  EXPECT_GT(to_none, 0);
}

TEST(Flips, AreNotLookedForWhereARivalIsBetterAlready) {
  const ExplainedCase it;
  const PlanResult slow = find_planner("verl-colocated")->plan(it.request);
  EXPECT_TRUE(find_flips(it.request, *slow.plan, {{"sha-ea", &*it.result.plan}}, it.doubt).empty());
}

// Half of a 95 % interval is 1.96 standard errors.
TEST(NumberValues, HaveTheSpreadThatWasMeasured) {
  const Cluster plain = explained_cluster();
  auto types = plain.device_types();
  types.at("a100").flop_per_s.at(Precision::bf16) = measured(2e14, 0.0392);
  const Cluster cluster("measured", types, plain.nodes(), plain.levels());
  const KnownNumber rate = value_of(cluster, {"flop_per_s", "a100"}, Precision::bf16);
  EXPECT_EQ(rate.value, 2e14);
  EXPECT_NEAR(*rate.standard_error, 0.02, 1e-9);
  EXPECT_FALSE(value_of(cluster, {"memory_bytes", "a100"}, Precision::bf16).standard_error);
  EXPECT_EQ(value_of(cluster, {"link_latency_s", "within_zone"}, Precision::bf16).value, 15e-6);
}

}  // namespace
}  // namespace sextant::test
