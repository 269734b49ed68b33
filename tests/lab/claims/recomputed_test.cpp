// Every accuracy figure that the repository states, computed again from data/ by the code as it is: minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

#include "lab/claims/claims.h"

namespace sextant {
namespace {

const std::filesystem::path kSource = SEXTANT_SOURCE_DIR;

class Family : public ::testing::TestWithParam<const char*> {};

TEST_P(Family, IsWhatIsStatedAndHolds) {
  // Relative. Another machine has another libm, and a fit may end in the valley beside: a figure of four
  // records moved by a tenth when one prior was moved by a thousandth.
  constexpr double kOtherMachine = 0.15;
  ClaimContext context;
  context.data = kSource / "data";
  context.facts = Facts::load(context.data / "gpus.json", context.data / "models.json");
  const ClaimReport stated = load_document<ClaimReport>(kSource / "docs/accuracy.json").content;
  const std::string family = GetParam();
  const ClaimReport computed = compute_claims(context, family + ".");
  std::vector<std::string_view> names;
  for (const Claim& claim : computed.claims) names.push_back(claim.name);
  const auto known = std::find_if(claim_families().begin(), claim_families().end(),
                                  [&](const ClaimFamily& one) { return one.name == family; });
  EXPECT_EQ(names, std::vector<std::string_view>(known->figures.begin(), known->figures.end()));
  for (const Claim& claim : computed.claims) {
    const auto written = std::find_if(stated.claims.begin(), stated.claims.end(),
                                      [&](const Claim& other) { return other.name == claim.name; });
    ASSERT_NE(written, stated.claims.end()) << claim.name;
    EXPECT_TRUE(claim.holds()) << claim.name << " is " << claim.value;
    EXPECT_NEAR(claim.value, written->value, kOtherMachine * std::abs(written->value) + 1e-3) << claim.name;
    EXPECT_EQ(claim.records, written->records) << claim.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Claims, Family,
                         ::testing::Values("framework", "generation", "gpu", "memory", "probe", "proxy", "real",
                                           "rl", "sailor", "tracer", "training", "verl", "vtrain"));

// No family is left out of this test.
TEST(Families, AllAreRecomputed) { EXPECT_EQ(claim_families().size(), 13U); }

}  // namespace
}  // namespace sextant
