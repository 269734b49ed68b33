// The whole run against agents that a shell plays: they say what they are told to, and measure nothing.
#include "probes/fleet/fleet_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class FleetProbeTest : public ::testing::Test {
 protected:
  FleetProbeTest() {
    std::signal(SIGPIPE, SIG_IGN);
    std::filesystem::remove(journal_);
    options_.probe_devices = false;
  }
  ~FleetProbeTest() override { std::filesystem::remove(journal_); }
  FleetProbeTest(const FleetProbeTest&) = delete;

  // Every agent answers a pair so; "$n" is the task's number.
  void answer_pairs(const std::string& answer) {
    options_.launcher = {"sh", "-c",
                         R"(echo '{"is":"ready","port":4711,"version":"x","host":"h"}'; n=0
while read -r line; do case $line in
*'"pair"'*) n=$((n+1)); echo ")" +
                             answer + R"(";;
*'"stop"'*) )" + good_bye_ + R"(;;
esac; done)"};
  }

  FleetRecord run(int hosts) {
    std::string list;
    for (int i = 0; i < hosts; ++i) list += "h" + std::to_string(i) + "\n";
    JournalWriter journal = JournalWriter::open(journal_, kFleetJournal, Json::object(), false);
    return probe_fleet(parse_host_list(list, "test"), tournament_rounds(hosts), options_, {}, journal,
                       interrupted_, [this](const std::string& what) {
                         said_.push_back(what);
                         if (what.starts_with(interrupt_at_)) interrupted_ = true;
                       });
  }

  [[nodiscard]] std::vector<std::string> retries() const {
    std::vector<std::string> found;
    for (const std::string& what : said_) {
      if (what.starts_with("retrying")) found.push_back(what);
    }
    return found;
  }

  const std::filesystem::path journal_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("fleet_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  FleetOptions options_;
  std::atomic<bool> interrupted_ = false;
  std::string interrupt_at_ = "never";
  std::string good_bye_ =
      R"(echo '{"is":"stopped","refusals":{"wrong_secret":0,"malformed":0,"too_slow":0,"left":0,"crowded":0}}'; exit)";
  std::vector<std::string> said_;
};

constexpr const char* kFailed = R"({\"is\":\"failed\",\"task\":$n,\"why\":\"no route\"})";

// Six pairs of four hosts that all fail: two at a time, as in the first place.
TEST_F(FleetProbeTest, PairsThatFailedAreTriedAgainInRounds) {
  answer_pairs(kFailed);
  const FleetRecord outcome = run(4);
  EXPECT_THAT(retries(), ElementsAre("retrying 6 pairs", "retrying 4 pairs", "retrying 2 pairs"));
  EXPECT_EQ(outcome.failed_pairs.size(), 6U);
  EXPECT_THAT(outcome.failed_pairs, Each(Field(&FailedPair::why, "no route")));
}

// A pair that Ctrl-C cuts off still counts as failed.
TEST_F(FleetProbeTest, AnInterruptedRetryForgetsNoPair) {
  answer_pairs(kFailed);
  interrupt_at_ = "retrying 4";
  const FleetRecord outcome = run(4);
  EXPECT_TRUE(outcome.is_interrupted);
  EXPECT_EQ(outcome.failed_pairs.size(), 6U);
}

TEST_F(FleetProbeTest, AnAnswerThatIsNoObjectFailsItsPairOnly) {
  answer_pairs(R"({\"is\":\"done\",\"task\":$n,\"result\":[3]})");
  const FleetRecord outcome = run(2);
  EXPECT_THAT(outcome.failed_pairs,
              ElementsAre(Field(&FailedPair::why, HasSubstr("an answer that makes no sense"))));
}

// All was measured by then.
TEST_F(FleetProbeTest, AHostThatSaysNoGoodByeIsNotLost) {
  good_bye_ = "exit";
  answer_pairs(kFailed);
  const FleetRecord outcome = run(2);
  EXPECT_THAT(outcome.hosts,
              Each(AllOf(Field(&HostOutcome::why_lost, ""), Field(&HostOutcome::refusals, std::nullopt))));
}

}  // namespace
}  // namespace sextant
