// Slow devices found by name, and how often healthy clusters raise an alarm. All randomness is seeded.
#include "probes/outliers/outliers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<NamedValue> named(const std::vector<double>& values, std::optional<double> spread = {}) {
  std::vector<NamedValue> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    all.push_back({"gpu " + std::to_string(i), values[i], spread});
  return all;
}

// About 100, each with so much noise.
std::vector<double> healthy(std::size_t count, double noise, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = 100 * std::exp(noise * normal(random));
  return values;
}

double surest(const OddOnes& found) {
  double sure = 0;
  for (const auto& list : {found.odd, found.doubtful}) {
    for (const OddOne& one : list) sure = std::max(sure, one.sure);
  }
  return sure;
}

constexpr int kClusters = 1000;
// Above k standard deviations of the number of false alarms among so many clusters: 3.1 once in 1,000.
double max_alarms(double rate) { return kClusters * rate + 3.1 * std::sqrt(kClusters * rate * (1 - rate)); }

class HealthyClusters : public testing::TestWithParam<std::size_t> {};

// Without a practical fraction, so that chance alone decides.
TEST_P(HealthyClusters, RaiseNoMoreAlarmsThanClaimed) {
  std::mt19937_64 random(GetParam());
  int above_95 = 0, above_99 = 0;
  for (int cluster = 0; cluster < kClusters; ++cluster) {
    const double sure = surest(find_odd_ones(named(healthy(GetParam(), 0.03, random)), {0, 0.95}));
    above_95 += sure >= 0.95 ? 1 : 0;
    above_99 += sure >= 0.99 ? 1 : 0;
  }
  EXPECT_LE(above_95, max_alarms(0.05));
  EXPECT_LE(above_99, max_alarms(0.01));
}

INSTANTIATE_TEST_SUITE_P(Sizes, HealthyClusters, testing::Values(3, 4, 5, 6, 8, 16, 64, 400));

// The claim of 1 % with the default practical fraction and 2 % of noise.
TEST(OddOnes, ASlowOneAmongEightIsFoundByName) {
  std::mt19937_64 random(7);
  int found = 0, alone = 0;
  for (int cluster = 0; cluster < kClusters; ++cluster) {
    std::vector<double> values = healthy(8, 0.02, random);
    values[5] *= 0.85;
    const OddOnes odd = find_odd_ones(named(values));
    const bool is_found = !odd.odd.empty() && odd.odd.front().name == "gpu 5";
    found += is_found ? 1 : 0;
    alone += is_found && odd.odd.size() == 1 ? 1 : 0;
    if (is_found) {
      EXPECT_NEAR(odd.odd.front().off_fraction, -0.15, 0.08);
    }
  }
  EXPECT_GE(found, 950);
  EXPECT_GE(alone, 0.95 * found);
}

TEST(OddOnes, TwoSlowOnesDoNotHideEachOther) {
  std::mt19937_64 random(8);
  int both = 0;
  for (int cluster = 0; cluster < kClusters; ++cluster) {
    std::vector<double> values = healthy(16, 0.02, random);
    values[3] *= 0.8;
    values[11] *= 0.8;
    both += find_odd_ones(named(values)).odd.size() == 2 ? 1 : 0;
  }
  EXPECT_GE(both, 950);
}

TEST(OddOnes, AsFarOffAsTheMedianOfTheOthersSays) {
  const OddOnes found = find_odd_ones(named({100, 101, 99, 100, 102, 80, 100, 98}));
  ASSERT_EQ(found.odd.size(), 1U);
  EXPECT_EQ(found.odd[0].name, "gpu 5");
  EXPECT_NEAR(found.odd[0].off_fraction, -0.2, 1e-12);
  EXPECT_GT(found.odd[0].sure, 0.999);
  EXPECT_EQ(describe(found.odd[0]), "gpu 5 is 20.0 % below the others (99.9 % sure)");
}

// Numbers by hand: the rest 100, 104 has mean ln 101.980 and deviation 0.027734; ln 70 is -0.376288 from it, so
// t = -0.376288 / (0.027734 sqrt(3 / 2)) = -11.078 with one degree of freedom, P = 0.057311, times 3
// candidates.
TEST(OddOnes, OfThreeOneIsHardlySure) {
  const OddOnes found = find_odd_ones(named({100, 104, 70}));
  EXPECT_THAT(found.odd, IsEmpty());
  ASSERT_EQ(found.doubtful.size(), 1U);
  EXPECT_EQ(found.doubtful[0].name, "gpu 2");
  EXPECT_NEAR(found.doubtful[0].sure, 1 - 3 * 0.057311, 1e-4);
  EXPECT_THAT(found.caveat, HasSubstr("three equal members"));
}

TEST(OddOnes, OfTwoNobodyCanTell) {
  const OddOnes found = find_odd_ones(named({100, 80}, 0.01));
  EXPECT_THAT(found.odd, IsEmpty());
  EXPECT_THAT(found.doubtful, IsEmpty());
  EXPECT_EQ(found.caveat,
            "gpu 0 and gpu 1 differ by 25.0 % (99.9 % sure); with only two, the outlier cannot be identified");
  EXPECT_EQ(find_odd_ones(named({100, 97}, 0.001)).caveat, "");
  EXPECT_EQ(find_odd_ones(named({100, 80}, 0.3)).caveat, "") << "within their own noise";
}

TEST(OddOnes, CloseEqualsMakeNothingOddThatHardlyDiffers) {
  const std::vector<double> values{100, 100.01, 99.99, 100, 100.01, 99.99, 100, 96};
  EXPECT_THAT(find_odd_ones(named(values)).odd, IsEmpty());
  EXPECT_EQ(find_odd_ones(named(values), {0.03, 0.95}).odd.size(), 1U);
}

TEST(OddOnes, ItsOwnNoiseExcusesOne) {
  std::vector<NamedValue> equals = named({100, 101, 99, 100, 102, 80, 100, 98}, 0.01);
  EXPECT_EQ(find_odd_ones(equals).odd.size(), 1U);
  equals[5].spread_fraction = 0.4;
  EXPECT_THAT(find_odd_ones(equals).odd, IsEmpty());
  EXPECT_EQ(find_odd_ones(named({100, 101, 99, 100, 102, 80, 100, 98}, 0.4)).odd.size(), 0U)
      << "values that agree better than their own noise agree by chance";
}

TEST(OddOnes, FewerThanTwoHaveNothingToDifferFrom) {
  EXPECT_THAT(find_odd_ones(named({})).odd, IsEmpty());
  EXPECT_EQ(find_odd_ones(named({5})).caveat, "");
  EXPECT_THAT(find_odd_ones(named({5, 5, 5, 5})).odd, IsEmpty());
}

TEST(DescribeSure, NeverSaysCertain) {
  EXPECT_EQ(describe_sure(1), "99.9 % sure");
  EXPECT_EQ(describe_sure(0.98999), "98.9 % sure");
}

}  // namespace
}  // namespace sextant
