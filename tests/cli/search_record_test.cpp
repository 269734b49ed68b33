// The result of a search in a document and in words.
#include "cli/plan/search_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ask/plan/search_record.h"
#include "core/json_value.h"
#include "tests/cli/documents.h"
#include "tests/core/expect_error.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

class SearchRecordTest : public ::testing::Test {
 protected:
  SearchRecordTest() {
    result_.outcome = PlanOutcome::found;
    result_.message = "best of 2";
    result_.plan = tiny_plan(1, 1, 1);
    result_.prediction = Prediction{};
    result_.prediction->iteration_s = 3;
    result_.improvements = {{1, 0.5, 4, 4}, {2, 1, 3, 3}};
    result_.gap_fraction = std::numeric_limits<double>::infinity();
    result_.bound_of_all_s = 2;
  }
  [[nodiscard]] SearchRecord record() const {
    return record_of({*find_planner("exact"), request_, result_, 1.5, false});
  }
  // Written and read again: JSON holds it.
  [[nodiscard]] SearchRecord through_json() const {
    const Document<SearchRecord> document{current_provenance(), record()};
    return parse_document<SearchRecord>(format_document(document)).content;
  }

  Cluster cluster_ = test::two_cores();
  Workflow workflow_ = tiny_workflow();
  Coefficients coefficients_;
  PlanRequest request_{cluster_, workflow_, coefficients_};
  PlanResult result_;
};

TEST_F(SearchRecordTest, AnInfiniteGapIsOneThatIsNotKnown) {
  EXPECT_EQ(through_json(), record());
  EXPECT_FALSE(record().space_gap_fraction.has_value());
  EXPECT_EQ(record().gap_fraction(), 0.5);
  EXPECT_EQ(cli::describe(record()),
            "exact: best of 2; 1.50 s\n"
            "any plan with these execution options takes at least 2.00 s\n"
            "uses 1 device\n");
}

TEST_F(SearchRecordTest, AnInfiniteBoundNeitherAndNoPlanHasNoGap) {
  result_ = {};
  result_.message = "nothing yet";
  result_.bound_of_all_s = 2;
  result_.proof = Proof::time_limit;
  result_.lower_bound = std::numeric_limits<double>::infinity();
  EXPECT_EQ(through_json(), record());
  EXPECT_FALSE(record().space_lower_bound_s.has_value());
  EXPECT_FALSE(record().to_json().contains("gap_fraction"));
}

TEST_F(SearchRecordTest, AGapOfTheSpaceIsSaidBesideThatOfAllPlans) {
  result_.proof = Proof::gap;
  result_.lower_bound = 2.5;
  result_.gap_fraction = 0.2;
  EXPECT_EQ(through_json(), record());
  EXPECT_THAT(
      cli::describe(record()),
      HasSubstr("\nat most 20.0 % above the best in the space of exact: none takes less than 2.50 s\n"));
  EXPECT_THAT(cli::describe(record()),
              Not(HasSubstr("above the optimum under this model")));  // 50 % is no news
  result_.bound_of_all_s = 2.5;
  EXPECT_THAT(cli::describe(record()),
              HasSubstr("\nat most 20.0 % above the optimum under this model: any plan "));
}

TEST_F(SearchRecordTest, AProofIsSaid) {
  result_.proof = Proof::optimal;
  result_.lower_bound = 3;
  result_.gap_fraction = 0;
  EXPECT_THAT(cli::describe(record()),
              HasSubstr("\nproved: no plan in the space of exact is faster under this model\n"));
}

TEST_F(SearchRecordTest, APlanAtTheBoundHasNoGap) {
  result_.bound_of_all_s = 3;
  EXPECT_EQ(record().gap_fraction(), 0);
}

TEST_F(SearchRecordTest, WhereDollarsCountTheGapIsOfDollars) {
  SearchRecord search = record();
  search.goal = "cost";
  search.usd_per_hour = 18;
  search.usd_per_iteration = 0.015;
  search.usd_per_token = 1e-6;
  search.lower_bound_usd = 0.012;
  EXPECT_THAT(
      cli::describe(search),
      HasSubstr("\nat most 25.0 % more expensive than the cheapest plan under this model; any plan with these "
                "execution options takes at least 2.00 s\n"));
  search.goal = "devices";
  EXPECT_THAT(cli::describe(search),
              HasSubstr("\nany plan with these execution options takes at least 2.00 s\n"));
}

}  // namespace
}  // namespace sextant::test
