// The messages that each island receives.
#include "planner/search/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "planner/sha_ea/island.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OtherRanks final : public IslandRanks {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine) override { return {mine, mine}; }
  void tell_next(const std::string& message) override { heard.push_back(message); }
  [[nodiscard]] std::vector<std::string> told() override { return std::exchange(say, {}); }

  std::vector<std::string> heard, say;
};

TEST(IslandExchange, TellsTheNextThreeInARing) {
  IslandExchange exchange(6, nullptr);
  exchange.end_of(4).offer("a");
  exchange.end_of(5).offer("b");
  EXPECT_THAT(exchange.end_of(0).taken(), ElementsAre("a", "b"));
  EXPECT_THAT(exchange.end_of(0).taken(), IsEmpty());
  EXPECT_THAT(exchange.end_of(1).taken(), ElementsAre("a", "b"));
  EXPECT_THAT(exchange.end_of(2).taken(), ElementsAre("b"));
  EXPECT_THAT(exchange.end_of(3).taken(), IsEmpty());
  EXPECT_THAT(exchange.end_of(4).taken(), IsEmpty());
  EXPECT_THAT(exchange.end_of(5).taken(), ElementsAre("a"));
}

TEST(IslandExchange, TellsAllOthersOfAFew) {
  IslandExchange exchange(2, nullptr);
  exchange.end_of(0).offer("a");
  EXPECT_THAT(exchange.end_of(0).taken(), IsEmpty());
  EXPECT_THAT(exchange.end_of(1).taken(), ElementsAre("a"));
}

// Whatever they do on other threads: a transport may be for one.
TEST(IslandExchange, TheFirstAloneTalksToRanks) {
  OtherRanks ranks;
  IslandExchange exchange(2, &ranks);
  ranks.say = {"x"};
  exchange.end_of(1).offer("b");
  EXPECT_THAT(exchange.end_of(1).taken(), IsEmpty());
  EXPECT_THAT(ranks.heard, IsEmpty());
  exchange.end_of(0).offer("a");
  EXPECT_THAT(ranks.heard, ElementsAre("a"));
  EXPECT_THAT(exchange.end_of(0).taken(), ElementsAre("b", "x"));
  EXPECT_THAT(exchange.end_of(1).taken(), ElementsAre("a"));
}

// Islands one after the other: what the first has costed the second need not, and its chains draw from it.
TEST(IslandExchange, SavesTheNextIslandWork) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}, {"l4", 1, 4, "z2"}});
  const Workflow workflow = ppo_8b();
  const Coefficients neutral;
  PlanRequest request{cluster, workflow, neutral};
  request.budget.evaluations = 20'000;
  // All seeds together: what a search looks at differs with what it hears.
  const auto asked_by_second = [&](bool is_told) {
    std::uint64_t asked = 0;
    for (request.seed = 1; request.seed <= 3; ++request.seed) {
      IslandExchange exchange(2, nullptr);
      Island first(request, {0, 2}, is_told ? &exchange.end_of(0) : nullptr);
      Island second(request, {1, 2}, is_told ? &exchange.end_of(1) : nullptr);
      first.run();
      second.run();
      EXPECT_TRUE(second.search().result("test").plan);
      asked += second.search().tables().evaluator.asked();
    }
    return asked;
  };
  EXPECT_LT(3 * asked_by_second(true), 2 * asked_by_second(false));
}

}  // namespace
}  // namespace sextant::test
