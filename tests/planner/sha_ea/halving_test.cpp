// Algorithm 1's halving by counts, and evolution that keeps genotypes.
#include "planner/sha_ea/halving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/sha_ea/population.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;

Score score_of(double loss) { return {loss, 0, loss, 0}; }

struct Spent {
  int number = 0;
  std::vector<std::uint64_t> budgets;  // one a round that it was in
  [[nodiscard]] Score score() const { return score_of(number); }
};

std::vector<Spent> items(int count) {  // the best last
  std::vector<Spent> items;
  for (int number = count; number > 0; --number) items.push_back({number, {}});
  return items;
}

void spend(Spent& item, std::uint64_t budget) { item.budgets.push_back(budget); }

TEST(Halving, RoundsAreLogarithms) {
  const std::vector<std::pair<std::size_t, std::uint64_t>> rounds{{0, 1}, {1, 1},  {2, 1},  {3, 2},  {4, 2},
                                                                  {5, 3}, {64, 6}, {65, 7}, {203, 8}};
  for (const auto& [count, expected] : rounds) EXPECT_EQ(rounds_of(count), expected) << count;
}

// Eight arms and 96: rounds of 8, 4 and 2 arms with 32 each.
TEST(Halving, ByHand) {
  std::vector<Spent> arms = items(8);
  halve_successively<Spent>(arms, 96, spend, [] { return false; });
  ASSERT_EQ(arms.size(), 8U);
  EXPECT_THAT(arms[0].budgets, ElementsAre(4, 8, 16));
  EXPECT_EQ(arms[0].number, 1);
  EXPECT_EQ(arms[0].budgets.size() + arms[1].budgets.size(), 4U);
  std::vector<std::size_t> rounds(4, 0);
  for (const Spent& arm : arms) ++rounds[arm.budgets.size()];
  EXPECT_THAT(rounds, ElementsAre(0, 4, 2, 2));  // left after one, two and three rounds
  for (const Spent& arm : arms) EXPECT_EQ(arm.budgets.size(), arm.number <= 2 ? 3U : arm.number <= 4 ? 2U : 1U);
}

// Whatever the numbers: no round takes more than its part, each has half of the arms of the one before, and the
// best of all survives.
TEST(Halving, KeepsItsBudget) {
  for (int count = 1; count <= 70; ++count) {
    for (const std::uint64_t budget : {1U, 10U, 100U, 1000U, 12345U}) {
      std::vector<Spent> arms = items(count);
      halve_successively<Spent>(arms, budget, spend, [] { return false; });
      const std::uint64_t rounds = rounds_of(static_cast<std::size_t>(count));
      std::size_t left = static_cast<std::size_t>(count);
      for (std::uint64_t n = 0; n < rounds; ++n) {
        std::uint64_t spent = 0;
        std::size_t in_round = 0;
        for (const Spent& arm : arms) {
          if (arm.budgets.size() <= n) continue;
          spent += arm.budgets[n];
          ++in_round;
        }
        EXPECT_EQ(in_round, left) << count;
        EXPECT_LE(spent, std::max<std::uint64_t>(in_round, budget / rounds)) << count << " " << budget;
        left = half_of(left);
      }
      EXPECT_EQ(arms.size(), static_cast<std::size_t>(count));
      EXPECT_EQ(arms.front().number, 1);
      EXPECT_EQ(left, 1U);
    }
  }
}

TEST(Halving, EndsWhenItIsOver) {
  std::vector<Spent> arms = items(8);
  int asked = 0;
  halve_successively<Spent>(arms, 96, spend, [&] { return ++asked > 1; });
  EXPECT_EQ(arms.size(), 8U);
  for (const Spent& arm : arms) EXPECT_EQ(arm.budgets.size(), 1U);
}

// The deal of a group is its size here; what affinity makes of it is another.
UnitAssignment deal_of(int units) { return {{units}}; }

TEST(Population, ScoresPhenotypesAndKeepsGenotypes) {
  Population population;
  std::vector<UnitAssignment> scored;
  const auto score = [&](const UnitAssignment& deal) {
    scored.push_back(deal);
    return Scored{{}, score_of(deal[0][0])};
  };
  EXPECT_EQ(population.best(), nullptr);
  EXPECT_TRUE(population.look_at(deal_of(7), deal_of(3), score));
  EXPECT_THAT(scored, ElementsAre(deal_of(3)));
  EXPECT_EQ(population.best()->deal, deal_of(7));
  EXPECT_EQ(population.score().loss, 3);
  // Another genotype of the same phenotype tells nothing new.
  EXPECT_FALSE(population.look_at(deal_of(8), deal_of(3), score));
  EXPECT_EQ(scored.size(), 1U);
  // The genotype itself may be looked at as a phenotype.
  EXPECT_TRUE(population.look_at(deal_of(9), deal_of(7), score));
  EXPECT_EQ(population.individuals().size(), 2U);
}

TEST(Population, BetterOnesTakeThePlaceOfTheWorst) {
  Population population;
  const auto score = [](const UnitAssignment& deal) { return Scored{{}, score_of(deal[0][0])}; };
  for (int units = 1; units <= 8; ++units)
    EXPECT_TRUE(population.look_at(deal_of(100 + units), deal_of(10 * units), score));
  EXPECT_TRUE(population.look_at(deal_of(109), deal_of(90), score));  // worse than all
  EXPECT_TRUE(population.look_at(deal_of(110), deal_of(15), score));  // better than the worst, of 80
  std::vector<int> genotypes;
  for (const Individual& individual : population.individuals()) genotypes.push_back(individual.deal[0][0]);
  EXPECT_THAT(genotypes, ElementsAre(101, 102, 103, 104, 105, 106, 107, 110));
}

}  // namespace
}  // namespace sextant::test
