#include "probes/gpu/candidate_search.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/probes/harness/fake_clock.h"

namespace sextant {
namespace {

// Algorithms of a library that a test commands: seconds of each, negative for one that fails.
class FakeLibrary {
 public:
  explicit FakeLibrary(std::vector<double> seconds) : seconds_(std::move(seconds)), runs_(seconds_.size()) {}

  CandidateChoice search(double min_s = 1e-3, double budget_s = 1) {
    const TimeCandidate time = [this](std::size_t at, int repeats) -> std::optional<double> {
      runs_[at] += repeats;
      if (fails_after_ > 0 && at == 0 && runs_[at] > fails_after_) return std::nullopt;
      if (seconds_[at] < 0) return std::nullopt;
      clock_.advance(seconds_[at] * repeats);
      return seconds_[at];
    };
    return find_fastest(seconds_.size(), time, min_s, budget_s, clock_);
  }

  FakeClock clock_;
  std::vector<double> seconds_;
  std::vector<int> runs_;
  int fails_after_ = 0;  // the first one, executions; 0: never
};

TEST(FindFastest, TakesTheFastestNotTheFirstGuess) {
  FakeLibrary library({30e-6, 10e-6, 20e-6});
  const CandidateChoice choice = library.search();
  EXPECT_EQ(choice.chosen, 1U);
  EXPECT_EQ(choice.tried, 3);
}

TEST(FindFastest, ASlowOneIsTimedInOneRoundOnly) {
  FakeLibrary library({10e-6, 30e-6});
  EXPECT_EQ(library.search().chosen, 0U);
  EXPECT_EQ(library.runs_[0], 2 + 3 * 100);  // to load, to know how often, three rounds of a millisecond
  EXPECT_EQ(library.runs_[1], 2 + 34);
}

TEST(FindFastest, AFailingOneIsLeftOut) {
  FakeLibrary library({-1, 20e-6, -1});
  const CandidateChoice choice = library.search();
  EXPECT_EQ(choice.chosen, 1U);
  EXPECT_EQ(choice.tried, 1);
  EXPECT_EQ(library.runs_[0], 1);
  EXPECT_EQ(FakeLibrary({-1, -1}).search().tried, 0);
}

TEST(FindFastest, OneThatFailsLaterIsNotChosenForItsFirstTimes) {
  FakeLibrary library({10e-6, 20e-6});
  library.fails_after_ = 150;  // in the second round
  EXPECT_EQ(library.search().chosen, 1U);
}

TEST(FindFastest, TheFirstIsTimedHoweverLittleTimeThereIs) {
  FakeLibrary library({10e-3, 1e-6});
  const CandidateChoice choice = library.search(1e-3, 0);
  EXPECT_EQ(choice.chosen, 0U);
  EXPECT_EQ(choice.tried, 1);
  EXPECT_EQ(library.runs_[1], 0);
}

}  // namespace
}  // namespace sextant
