// The accuracy figures that the repository states are those of its code, and hold.
#include "calibrate/claims/claims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "calibrate/claims/public_fit.h"
#include "calibrate/claims/ranking.h"
#include "costmodel/vocabulary/coefficients.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

const std::filesystem::path kSource = SEXTANT_SOURCE_DIR;

ClaimReport stated() { return load_document<ClaimReport>(kSource / "docs/accuracy.json").content; }

const Claim& find(const ClaimReport& report, const std::string& name) {
  const auto found = std::find_if(report.claims.begin(), report.claims.end(),
                                  [&](const Claim& claim) { return claim.name == name; });
  if (found == report.claims.end()) throw std::out_of_range(name);
  return *found;
}

class EveryFigure : public ::testing::TestWithParam<const char*> {};

// Past its threshold, or past what is held where the threshold is not reached yet, a figure fails here.
TEST_P(EveryFigure, IsStatedAndHolds) {
  const ClaimReport report = stated();
  const Claim& claim = find(report, GetParam());
  EXPECT_TRUE(claim.holds()) << claim.name << " is " << claim.value;
  EXPECT_GT(claim.records, 0);
  EXPECT_GT(claim.free_coefficients, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Asked, EveryFigure,
    ::testing::Values("real.tasks.in_sample", "real.tasks.leave_one_plan_out",
                      "real.iterations.leave_one_plan_out", "rl.iterations.leave_one_model_out",
                      "rl.iterations.coverage_90", "verl.tasks.leave_one_run_out", "vtrain.five_fold",
                      "vtrain.from_40_runs", "vtrain.leave_hidden_out", "vtrain.leave_tp8_out",
                      "vtrain.single_to_multi_node", "training.leave_one_model_out", "sailor.time",
                      "sailor.memory", "generation.leave_one_gpu_out", "proxy.tasks.held_out",
                      "proxy.kendall_tau", "proxy.kendall_tau_told_apart", "proxy.regret"));

TEST(Ranking, ASignTestTellsApart) {
  // Two-sided, a fair coin: 12 of 15 at 3.5 %, 11 of 15 at 11.8 %, 5 of 5 at 6.3 %, 6 of 6 at 3.1 %.
  EXPECT_TRUE(told_apart(12, 15));
  EXPECT_TRUE(told_apart(3, 15));
  EXPECT_FALSE(told_apart(11, 15));
  EXPECT_FALSE(told_apart(5, 5));
  EXPECT_TRUE(told_apart(0, 6));
}

TEST(Ranking, OnlyPairsThatTheRoundsTellApartCount) {
  // The first two take turns in winning; the third is always slower.
  const std::vector<std::vector<double>> samples{{1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1}, {3, 3, 3, 3, 3, 3}};
  const RankAgreement right = rank_agreement(samples, std::vector<double>{2, 1, 3});
  EXPECT_EQ(right.pairs, 2);
  EXPECT_EQ(right.tau, 1);
  EXPECT_EQ(rank_agreement(samples, std::vector<double>{1, 4, 3}).tau, 0);  // one right, one wrong
  EXPECT_EQ(rank_agreement(samples, std::vector<double>{4, 5, 3}).tau, -1);
}

TEST(Claims, DocumentRoundTrips) {
  const Json json = load_document<ClaimReport>(kSource / "tests/data/claims.json").content.to_json();
  EXPECT_EQ(ClaimReport::parse(JsonView(json)).to_json(), json);
}

TEST(Claims, HoldsIsMetOrAtLeastWhatIsHeld) {
  const ClaimReport report = load_document<ClaimReport>(kSource / "tests/data/claims.json").content;
  const Claim& missed = find(report, "training.leave_one_model_out");
  EXPECT_FALSE(missed.met());
  EXPECT_TRUE(missed.holds());
  EXPECT_TRUE(find(report, "rl.iterations.coverage_90").met());
  EXPECT_TRUE(find(report, "proxy.kendall_tau").met());
  EXPECT_FALSE(report.all_met());
  EXPECT_TRUE(report.all_hold());
  Claim worse = missed;
  worse.value = 0.11;
  EXPECT_FALSE(worse.holds());
}

// Before any is computed.
TEST(Claims, UnknownFiguresAreRefusedWithTheKnownOnes) {
  for (const char* unknown : {"nothing", "real.tasks.nothing", "real.tasks.in_sample.more"}) {
    const std::string refusal = refusal_of([&] { (void)compute_claims(ClaimContext{}, unknown); });
    EXPECT_TRUE(
        refusal.starts_with("no accuracy figure starts with \"" + std::string(unknown) + "\"; there are "));
    EXPECT_NE(refusal.find(", real.tasks.in_sample, "), std::string::npos) << refusal;
  }
}

// The table of names, by which a question is judged, against what was computed.
TEST(Claims, FiguresOfFamiliesAreThoseStated) {
  std::vector<std::string> stated_names, known;
  for (const Claim& claim : stated().claims) stated_names.push_back(claim.name);
  for (const ClaimFamily& family : claim_families()) {
    for (const std::string_view figure : family.figures) {
      EXPECT_TRUE(figure.starts_with(std::string(family.name) + ".")) << figure;
      known.emplace_back(figure);
    }
  }
  EXPECT_EQ(known, stated_names);
}

TEST(Families, AreFoundByWholePartsOfAName) {
  EXPECT_EQ(family_of_framework("verl"), "verl");
  EXPECT_EQ(family_of_framework("verl-fsdp-v0"), "verl");
  EXPECT_EQ(family_of_framework("nemo"), "megatron");
  EXPECT_EQ(family_of_framework("nemo-rl"), "nemo-rl");
  for (const char* other : {"vreal", "verlx", "realhf", "nemo-aligner", "", "*"}) {
    EXPECT_EQ(family_of_framework(other), "any") << other;
  }
}

class Shipped : public ::testing::TestWithParam<const char*> {};

// What predict falls back on: readable, fitted, with intervals and what it was fitted to.
TEST_P(Shipped, CoefficientsCarryTheirFit) {
  const auto coefficients =
      load_document<Coefficients>(kSource / "data/coefficients" / (std::string(GetParam()) + ".json")).content;
  ASSERT_TRUE(coefficients.fit.has_value());
  EXPECT_FALSE(coefficients.fit->directions.empty());
  EXPECT_FALSE(coefficients.fit->experience.empty());
  EXPECT_TRUE(coefficients.fit->held_out.has_value());
  for (const Coefficient& entry : coefficients.values) {
    const bool mine = entry.framework == kAny || family_of_framework(entry.framework) == GetParam();
    EXPECT_TRUE(mine) << spec_of(entry.id).name << " of " << entry.framework;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Shipped,
                         ::testing::Values("any", "verl", "nemo-rl", "openrlhf", "real", "megatron", "pytorch",
                                           "vllm", "sglang", "tensorrt-llm"));

}  // namespace
}  // namespace sextant
