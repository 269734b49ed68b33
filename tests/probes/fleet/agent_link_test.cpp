// The coordinator's side against agents that a shell plays.
#include "probes/fleet/agent_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "core/json_value.h"
#include "tests/probes/patience.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReady = R"(echo '{"is":"ready","port":4711,"version":"x","host":"h"}')";

class AgentLinkTest : public ::testing::Test {
 protected:
  AgentLinkTest() { std::signal(SIGPIPE, SIG_IGN); }

  // An agent that does this; the words that a launcher appends become its $0 and $1.
  void launch(const std::string& script, double limit_s = kPatience_s) {
    link_.launch({"sh", "-c", script}, "sextant", {Secret::fresh(), "x", {}}, limit_s);
  }

  void attend_while(AgentState state) {
    const Deadline deadline = Deadline::in(kPatience_s);
    while (link_.state() == state && !deadline.is_over()) {
      link_.attend();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  AgentLink link_{Host{"h", "r", "z", "target", "10.0.0.1", ""}};
};

TEST_F(AgentLinkTest, IsReadyWhenItSaysSo) {
  launch(std::string(kReady) + "; cat > /dev/null");
  attend_while(AgentState::starting);
  EXPECT_EQ(link_.state(), AgentState::idle);
  EXPECT_EQ(link_.endpoint(), (Endpoint{"10.0.0.1", 4711}));
}

TEST_F(AgentLinkTest, ALoginScriptMaySaySomething) {
  launch(std::string("echo Welcome to this host; ") + kReady + "; cat > /dev/null");
  attend_while(AgentState::starting);
  EXPECT_EQ(link_.state(), AgentState::idle);
}

TEST_F(AgentLinkTest, GivesTheReasonOfOneThatDoesNotStart) {
  launch("echo Permission denied >&2; exit 255");
  attend_while(AgentState::starting);
  EXPECT_EQ(link_.state(), AgentState::lost);
  EXPECT_THAT(link_.why(), HasSubstr("exit code 255: Permission denied"));
}

TEST_F(AgentLinkTest, DoesNotWaitForEver) {
  launch("cat > /dev/null", 0.1);
  attend_while(AgentState::starting);
  EXPECT_EQ(link_.state(), AgentState::lost);
  EXPECT_EQ(link_.why(), "did not answer in time");
}

TEST_F(AgentLinkTest, HandsOverWhatCameOfATask) {
  launch(std::string(kReady) +
         R"(; read -r start; read -r task; echo '{"is":"done","task":1,"result":{"a":1}}'; cat)");
  attend_while(AgentState::starting);
  link_.begin(DevicesCommand{0, {}, kPatience_s});
  EXPECT_EQ(link_.state(), AgentState::busy);
  attend_while(AgentState::busy);
  ASSERT_EQ(link_.state(), AgentState::idle);
  const TaskOutcome outcome = link_.take_outcome();
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_EQ(*outcome.result, Json({{"a", 1}}));
}

TEST_F(AgentLinkTest, HandsOverWhyATaskFailed) {
  launch(std::string(kReady) +
         R"(; read -r start; read -r task; echo '{"is":"failed","task":1,"why":"no route"}'; cat)");
  attend_while(AgentState::starting);
  link_.begin(PairCommand{0, {"10.0.0.2", 1}, {}, kPatience_s});
  attend_while(AgentState::busy);
  EXPECT_EQ(link_.state(), AgentState::idle);
  EXPECT_EQ(link_.take_outcome().failure_reason, "no route");
}

TEST_F(AgentLinkTest, OneThatDiesAtWorkIsLost) {
  launch(std::string(kReady) + "; read -r start; read -r task; kill -9 $$");
  attend_while(AgentState::starting);
  link_.begin(DevicesCommand{0, {}, kPatience_s});
  attend_while(AgentState::busy);
  EXPECT_EQ(link_.state(), AgentState::lost);
  EXPECT_THAT(link_.why(), HasSubstr("signal 9"));
  EXPECT_EQ(link_.take_outcome().failure_reason, link_.why());
}

TEST_F(AgentLinkTest, OneThatTalksNonsenseIsGivenUp) {
  launch(std::string(kReady) + "; read -r start; echo nonsense; cat > /dev/null");
  attend_while(AgentState::starting);
  attend_while(AgentState::idle);
  EXPECT_EQ(link_.state(), AgentState::lost);
  EXPECT_THAT(link_.why(), HasSubstr("sent an invalid answer"));
}

TEST_F(AgentLinkTest, SaysGoodByeAndCountsRefusals) {
  launch(
      std::string(kReady) +
      R"(; while read -r line; do case $line in *stop*) )"
      R"(echo '{"is":"stopped","refusals":{"wrong_secret":2,"malformed":0,"too_slow":0,"left":0,"crowded":0}}'; exit;; esac; done)");
  attend_while(AgentState::starting);
  link_.stop(kPatience_s);
  attend_while(AgentState::stopping);
  EXPECT_EQ(link_.state(), AgentState::stopped);
  ASSERT_TRUE(link_.refusals().has_value());
  EXPECT_EQ(link_.refusals()->wrong_secret, 2U);
}

// All was measured by then: whoever is slow to say good-bye, or ends without it, is not lost.
TEST_F(AgentLinkTest, OneThatSaysNoGoodByeIsNotLost) {
  for (const char* then : {"cat > /dev/null; sleep 1000", "read -r line; kill -9 $$"}) {
    AgentLink link(Host{"h", "r", "z", "target", "10.0.0.1", ""});
    link.launch({"sh", "-c", std::string(kReady) + "; read -r start; " + then}, "sextant",
                {Secret::fresh(), "x", {}}, kPatience_s);
    const Deadline deadline = Deadline::in(kPatience_s);
    while (link.state() == AgentState::starting && !deadline.is_over()) link.attend();
    link.stop(0.2);
    EXPECT_FALSE(link.is_usable());
    while (link.state() == AgentState::stopping && !deadline.is_over()) link.attend();
    EXPECT_EQ(link.state(), AgentState::stopped) << then;
    EXPECT_EQ(link.why(), "");
    EXPECT_FALSE(link.refusals().has_value());
    EXPECT_EQ(link.process(), nullptr);
  }
}

// Its output is closed, and it does not end.
TEST_F(AgentLinkTest, OneThatFallsSilentIsGivenUp) {
  launch(std::string(kReady) + "; exec >&-; exec 2>&-; exec sleep 1000");
  attend_while(AgentState::starting);
  attend_while(AgentState::idle);
  EXPECT_EQ(link_.state(), AgentState::lost);
  EXPECT_EQ(link_.why(), "does not respond and does not exit");
}

TEST_F(AgentLinkTest, TheReasonGoesOnAfterTheHostsName) {
  launch(std::string(kReady) + "; read -r start; read -r task; kill -9 $$");
  attend_while(AgentState::starting);
  link_.begin(DevicesCommand{0, {}, kPatience_s});
  attend_while(AgentState::busy);
  EXPECT_EQ(link_.why(), "was ended by signal 9");
}

TEST_F(AgentLinkTest, PutsTheTargetIntoTheLauncher) {
  link_.launch({"sh", "-c", "echo \"{target} $0 $1\" >&2; exit 1"}, "/opt/sextant", {Secret::fresh(), "x", {}},
               5);
  attend_while(AgentState::starting);
  EXPECT_THAT(link_.why(), HasSubstr("target /opt/sextant agent"));
}

}  // namespace
}  // namespace sextant
