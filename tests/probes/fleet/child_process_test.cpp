#include "probes/fleet/child_process.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "sextant/error.h"
#include "tests/probes/patience.h"

namespace sextant {
namespace {

// All its lines until its output is closed.
std::vector<std::string> hear_all(ChildProcess& child) {
  std::vector<std::string> lines;
  const Deadline deadline = Deadline::in(kPatience_s);
  while (!child.is_silent() && !deadline.is_over()) {
    for (std::string& line : child.hear()) lines.push_back(std::move(line));
    std::this_thread::yield();
  }
  while (child.how_it_ended().empty() && !deadline.is_over()) std::this_thread::yield();
  static_cast<void>(child.hear());
  return lines;
}

TEST(ChildProcess, TalksLineByLine) {
  ChildProcess child({"sh", "-c", "while read -r line; do echo \"got $line\"; done; printf end"});
  child.say("one");
  child.say("two words");
  child.close_input();
  EXPECT_EQ(hear_all(child), (std::vector<std::string>{"got one", "got two words", "end"}));
  EXPECT_EQ(child.how_it_ended(), "ended with exit code 0");
  EXPECT_EQ(child.exit_code(), 0);
}

TEST(ChildProcess, SaysHowItEnded) {
  ChildProcess child({"sh", "-c", "echo first >&2; echo last >&2; exit 7"});
  EXPECT_TRUE(hear_all(child).empty());
  EXPECT_EQ(child.how_it_ended(), "ended with exit code 7");
  EXPECT_EQ(child.last_words(), "last");
  ChildProcess killed({"sh", "-c", "kill -9 $$"});
  static_cast<void>(hear_all(killed));
  EXPECT_EQ(killed.how_it_ended(), "was ended by signal 9");
  EXPECT_EQ(killed.exit_code(), -1);
}

TEST(ChildProcess, WhatDoesNotFitThePipeGoesLater) {
  // It reads nothing before the file is there: a reader that is fast enough would leave nothing to be said later.
  const std::filesystem::path go =
      std::filesystem::path(::testing::TempDir()) / ("go." + std::to_string(getpid()));
  ChildProcess child(
      {"sh", "-c", "while [ ! -e \"$0\" ]; do sleep 0.01; done; head -c 3000000 | wc -c", go.string()});
  child.say(std::string(2'999'999, 'x'));
  EXPECT_TRUE(child.has_more_to_say());
  std::ofstream(go) << "go";
  const Deadline deadline = Deadline::in(kPatience_s);
  while (child.has_more_to_say() && !deadline.is_over()) child.flush();
  child.close_input();
  const auto lines = hear_all(child);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(std::stoi(lines.front()), 3'000'000);
  std::filesystem::remove(go);
}

TEST(ChildProcess, AMissingProgramIsSaidAtOnce) { EXPECT_THROW(ChildProcess({"/nowhere/to/be/found"}), Error); }

// One that never stops talking does not keep its listener from others.
TEST(ChildProcess, AFloodIsHeardInPieces) {
  ChildProcess child({"sh", "-c", "exec yes"});
  constexpr std::size_t kMaxLines = std::size_t{1} << 20;
  for (int i = 0; i < 20; ++i) EXPECT_LE(child.hear().size(), kMaxLines);
  EXPECT_FALSE(child.is_silent());
}

// A shell's usual limit would end at some 340 hosts.
TEST(ChildProcess, ThereAreDescriptorsForMany) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  constexpr rlim_t kFew = 48;
  if (before.rlim_max < 4 * kFew) GTEST_SKIP() << "the hard limit is " << before.rlim_max;
  const rlimit few{kFew, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  raise_descriptor_limit();
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (rlim_t i = 0; i < kFew / 2; ++i) {
    children.push_back(std::make_unique<ChildProcess>(std::vector<std::string>{"cat"}));
  }
  EXPECT_EQ(children.size(), kFew / 2);
  setrlimit(RLIMIT_NOFILE, &before);
}

// Also what it started itself.
TEST(ChildProcess, TakesItsChildrenWithIt) {
  int inner = 0;
  {
    ChildProcess child({"sh", "-c", "sleep 1000 & echo $!; wait"});
    const Deadline deadline = Deadline::in(kPatience_s);
    std::vector<std::string> lines;
    while (lines.empty() && !deadline.is_over()) lines = child.hear();
    ASSERT_EQ(lines.size(), 1U);
    inner = std::stoi(lines.front());
    EXPECT_EQ(::kill(inner, 0), 0);
  }
  // Whoever inherits it may take a moment to notice; until then it is a zombie, which still has a number.
  const Deadline deadline = Deadline::in(kPatience_s);
  const auto is_there = [&] {
    ChildProcess look({"sh", "-c", "grep -q '^State:.[^Z]' /proc/" + std::to_string(inner) + "/status"});
    static_cast<void>(hear_all(look));
    return look.exit_code() == 0;
  };
  while (is_there() && !deadline.is_over()) std::this_thread::yield();
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace sextant
