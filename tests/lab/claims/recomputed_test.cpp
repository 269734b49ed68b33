// Every accuracy figure that the repository states, computed again from data/ by the code as it is. Those that need many
// fits take minutes: scripts/nightly computes them. The coefficients that ship are judged at each change, to notice a cost
// model that changed without them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lab/claims/claims.h"
#include "tests/core/thoroughness.h"

namespace sextant {
namespace {

const std::filesystem::path kSource = SEXTANT_SOURCE_DIR;

// Families of one group are computed in one process: those of RL iterations take their priors from one fit, a quarter
// of the time of each.
using Group = std::vector<std::string>;
const std::vector<Group> kGroups{{"training"},   {"framework", "rl", "verl"},
                                 {"generation"}, {"sailor"},
                                 {"vtrain"},     {"gpu"},
                                 {"memory"},     {"probe"},
                                 {"proxy"},      {"real"},
                                 {"shipped"},    {"tracer"}};
constexpr std::size_t kSlow = 5;  // the first groups take minutes

bool is_slow(const Group& group) {
  return std::any_of(kGroups.begin(), kGroups.begin() + kSlow,
                     [&](const Group& slow) { return slow == group; });
}

void expect_as_stated(const ClaimContext& context, const std::string& family, const ClaimReport& stated) {
  // Relative. Another machine has another libm, and a fit may end in the valley beside: a figure of four
  // records moved by a tenth when one prior was moved by a thousandth.
  constexpr double kOtherMachine = 0.15;
  const ClaimReport computed = compute_claims(context, family + ".");
  std::vector<std::string_view> names;
  for (const Claim& claim : computed.claims) names.push_back(claim.name);
  const auto known = std::find_if(claim_families().begin(), claim_families().end(),
                                  [&](const ClaimFamily& one) { return one.name == family; });
  ASSERT_NE(known, claim_families().end()) << family;
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

class Families : public ::testing::TestWithParam<Group> {};

TEST_P(Families, AreWhatIsStatedAndHold) {
  if (is_slow(GetParam()) && !test::is_thorough()) GTEST_SKIP() << "many fits: scripts/nightly";
  ClaimContext context;
  context.data = kSource / "data";
  context.facts = Facts::load(context.data / "gpus.json", context.data / "models.json");
  const ClaimReport stated = load_document<ClaimReport>(kSource / "docs/accuracy.json").content;
  for (const std::string& family : GetParam()) expect_as_stated(context, family, stated);
}

INSTANTIATE_TEST_SUITE_P(Claims, Families, ::testing::ValuesIn(kGroups),
                         [](const auto& group) { return group.param.front(); });

// No family is left out of this test.
TEST(EveryFamily, IsRecomputed) {
  std::set<std::string_view> recomputed, all;
  for (const Group& group : kGroups) recomputed.insert(group.begin(), group.end());
  for (const ClaimFamily& family : claim_families()) all.insert(family.name);
  EXPECT_EQ(recomputed, all);
}

}  // namespace
}  // namespace sextant
