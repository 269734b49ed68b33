#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>

#include "examples/coschedule/phase_client.h"
#include "planner/coschedule/control/local_socket.h"
#include "planner/coschedule/control/permit_server.h"
#include "planner/coschedule/round_robin.h"
#include "sextant/error.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;
using test::on_one_pair;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A server in a thread and jobs in processes of their own.
class Permits : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "permits-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_EQ(::pipe(ready_.data()), 0);
    ASSERT_EQ(::pipe(go_.data()), 0);
  }
  void TearDown() override {
    for (const int end : ready_) ::close(end);
    for (const int end : go_) ::close(end);
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string socket() const { return folder_ / "permits"; }

  void start(const Group& group, bool ends_when_all_left = true, PermitServerOptions options = {}) {
    options.ends_when_all_left = ends_when_all_left;
    options.is_cancelled = &is_cancelled_;
    server_ = std::async(std::launch::async,
                         [this, &group, options] { return serve_permits(group, socket(), options).log; });
    for (int i = 0; i < 500 && !std::filesystem::exists(socket()); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  // A process that runs as the job; its exit code is 0 if nothing was thrown.
  template <typename Run>
  [[nodiscard]] pid_t process(const std::string& name, const Run& run) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    try {
      PhaseClient client(socket(), name);
      run(client);
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }

  // A process tells the test that it holds its permit.
  void say_ready() const { ASSERT_EQ(::write(ready_[1], "x", 1), 1); }
  void wait_until_ready() const {
    char byte = 0;
    ASSERT_EQ(::read(ready_[0], &byte, 1), 1);
  }

  // The test, or another process, lets it go on.
  void say_go() const { ASSERT_EQ(::write(go_[1], "x", 1), 1); }
  void wait_for_go() const {
    char byte = 0;
    ASSERT_EQ(::read(go_[0], &byte, 1), 1);
  }

  static int status_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  std::filesystem::path folder_;
  std::array<int, 2> ready_{}, go_{};
  std::atomic<bool> is_cancelled_ = false;
  std::future<std::vector<PhaseRecord>> server_;
};

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

void iterate(PhaseClient& client, int iterations, int rollout_ms, int training_ms) {
  for (int i = 0; i < iterations; ++i) {
    {
      const PhaseClient::Permit permit = client.acquire("rollout");
      sleep_ms(rollout_ms);
    }
    const PhaseClient::Permit permit = client.acquire("training");
    sleep_ms(training_ms);
  }
}

// Whether two jobs ever had a phase's nodes at the same time.
bool overlaps(const std::vector<PhaseRecord>& log, Phase phase) {
  int holders = 0;
  for (const PhaseRecord& record : log) {
    if (record.phase != phase) continue;
    if (record.event == PhaseEvent::granted && ++holders > 1) return true;
    if (record.event == PhaseEvent::released || record.event == PhaseEvent::moved_tail) --holders;
  }
  return false;
}

// True if one job has the rollout node while another one trains.
bool has_both_phases_at_once(const std::vector<PhaseRecord>& log) {
  int rollouts = 0, trainings = 0;
  for (const PhaseRecord& record : log) {
    int& holders = record.phase == Phase::rollout ? rollouts : trainings;
    if (record.event == PhaseEvent::granted) ++holders;
    if (record.event == PhaseEvent::released || record.event == PhaseEvent::moved_tail) --holders;
    if (rollouts > 0 && trainings > 0) return true;
  }
  return false;
}

// 60 and 40 ms against 40 and 60: both iterate in 100 ms or, on a busy machine, more.
TEST_F(Permits, ProcessesTakeTurnsAsTheTheoremSays) {
  const Group group = on_one_pair({job("a", 0.06, 0.04), job("b", 0.04, 0.06)});
  start(group);
  const pid_t a = process("a", [](PhaseClient& client) { iterate(client, 12, 60, 40); });
  const pid_t b = process("b", [](PhaseClient& client) { iterate(client, 12, 40, 60); });
  EXPECT_EQ(status_of(a), 0);
  EXPECT_EQ(status_of(b), 0);
  const std::vector<PhaseRecord> log = server_.get();
  EXPECT_FALSE(overlaps(log, Phase::rollout));
  EXPECT_FALSE(overlaps(log, Phase::training));
  EXPECT_TRUE(has_both_phases_at_once(log));
  const std::vector<MeasuredJob> jobs = measured_jobs(group, log, 2);
  for (const MeasuredJob& of : jobs) {
    EXPECT_EQ(of.iterations, 12);
    EXPECT_GE(of.iteration_s, 0.0999);
    EXPECT_EQ(of.state, JobState::left);
    EXPECT_EQ(of.crashes, 0);
  }
  EXPECT_THAT(csv_of(log), HasSubstr("time_s,job,event,phase\n"));
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

// The process is killed while it has the rollout node. The other goes on within its phase, and the job comes back.
TEST_F(Permits, AKilledProcessGivesItsPermitBackAndMayReturn) {
  const Group group = on_one_pair({job("a", 1, 1), job("b", 1, 1)});
  start(group, false);
  const pid_t a = process("a", [this](PhaseClient& client) {
    const PhaseClient::Permit permit = client.acquire("rollout");
    say_ready();
    sleep_ms(60'000);
  });
  wait_until_ready();
  const pid_t b = process("b", [](PhaseClient& client) { iterate(client, 4, 5, 5); });
  sleep_ms(50);
  ASSERT_EQ(::kill(a, SIGKILL), 0);
  EXPECT_TRUE(WIFSIGNALED(status_of(a)));
  const pid_t again = process("a", [](PhaseClient& client) { iterate(client, 3, 5, 5); });
  EXPECT_EQ(status_of(b), 0);
  EXPECT_EQ(status_of(again), 0);
  is_cancelled_ = true;
  const std::vector<PhaseRecord> log = server_.get();
  double crashed_s = 0, granted_s = 0;
  for (const PhaseRecord& record : log) {
    if (record.event == PhaseEvent::crashed) crashed_s = record.time_s;
    if (record.job == "b" && record.event == PhaseEvent::granted && granted_s == 0) granted_s = record.time_s;
  }
  EXPECT_GT(crashed_s, 0);
  EXPECT_GE(granted_s, crashed_s);
  EXPECT_LT(granted_s - crashed_s, 30);  // the killed process would have kept its permit for a minute
  const std::vector<MeasuredJob> jobs = measured_jobs(group, log);
  EXPECT_EQ(words_of_state(jobs[0]), "left (crashed once)");
  EXPECT_EQ(jobs[0].iterations, 3);
  EXPECT_EQ(jobs[1].iterations, 4);
}

// It is alive, and does nothing. The other goes on without it; when it wakes up it is told why it lost its permit, and may
// go on as well.
TEST_F(Permits, AHungProcessLosesItsPermitAndIsToldWhy) {
  const Group group = on_one_pair({job("a", 0.5, 0.5), job("b", 30, 30)});
  PermitServerOptions options;
  options.patience_s = 0.1;
  options.max_overrun = 1;
  start(group, true, options);
  const pid_t a = process("a", [this](PhaseClient& client) {
    {
      const PhaseClient::Permit permit = client.acquire("rollout");
      say_ready();
      wait_for_go();  // until the other has finished
      try {
        (void)client.progress(0.5);
        ::_exit(3);
      } catch (const std::exception&) {
      }
    }
    try {
      (void)client.acquire("training");
    } catch (const std::exception& error) {
      if (!::testing::Value(error.what(),
                            HasSubstr("the permit was taken back: the rollout of a had neither ended "
                                      "nor progressed for")))
        ::_exit(4);
      return iterate(client, 1, 1, 1);
    }
    ::_exit(5);
  });
  wait_until_ready();
  const pid_t b = process("b", [](PhaseClient& client) { iterate(client, 3, 5, 5); });
  EXPECT_EQ(status_of(b), 0);
  say_go();
  EXPECT_EQ(status_of(a), 0);
  const std::vector<PhaseRecord> log = server_.get();
  const auto taken_back = std::find_if(
      log.begin(), log.end(), [](const PhaseRecord& record) { return record.event == PhaseEvent::taken_back; });
  ASSERT_NE(taken_back, log.end());
  EXPECT_EQ(taken_back->job, "a");
  EXPECT_EQ(taken_back->phase, Phase::rollout);
  EXPECT_GE(taken_back->silent_s, 0.5);
  EXPECT_THAT(csv_of(log), HasSubstr(",a,taken_back,rollout\n"));
  const std::vector<MeasuredJob> jobs = measured_jobs(group, log);
  EXPECT_EQ(words_of_state(jobs[0]), "left (hung once)");
  EXPECT_EQ(jobs[0].iterations, 1);
  EXPECT_EQ(jobs[1].iterations, 3);
}

// A rollout far beyond its bound, whose share of ended responses grows.
TEST_F(Permits, ASlowProcessThatProgressesKeepsItsPermit) {
  const Group group = on_one_pair({job("a", 1, 1)});
  PermitServerOptions options;
  options.patience_s = 0.1;
  options.max_overrun = 1;
  start(group, true, options);
  const pid_t a = process("a", [](PhaseClient& client) {
    const PhaseClient::Permit permit = client.acquire("rollout");
    for (int part = 1; part <= 15; ++part) {
      sleep_ms(100);
      (void)client.progress(part / 20.0);
    }
  });
  EXPECT_EQ(status_of(a), 0);
  EXPECT_EQ(measured_jobs(group, server_.get()).front().hangs, 0);
}

// It evaluates, or writes a checkpoint, while it is its turn.
TEST_F(Permits, OthersGoOnWithoutAJobThatAsksForNothing) {
  const Group group = on_one_pair({job("a", 1, 1), job("b", 1, 1)});
  PermitServerOptions options;
  options.patience_s = 0.1;
  start(group, true, options);
  const pid_t a = process("a", [this](PhaseClient& client) {
    say_ready();
    wait_for_go();  // until the other has finished
    iterate(client, 2, 5, 5);
  });
  wait_until_ready();
  const pid_t b = process("b", [](PhaseClient& client) { iterate(client, 3, 5, 5); });
  EXPECT_EQ(status_of(b), 0);
  say_go();
  EXPECT_EQ(status_of(a), 0);
  const std::vector<PhaseRecord> log = server_.get();
  EXPECT_EQ(std::count_if(log.begin(), log.end(),
                          [](const PhaseRecord& record) {
                            return record.job == "a" && record.event == PhaseEvent::set_aside;
                          }),
            1);
  const std::vector<MeasuredJob> jobs = measured_jobs(group, log);
  EXPECT_EQ(jobs[0].iterations, 2);
  EXPECT_EQ(jobs[1].iterations, 3);
  EXPECT_THAT(csv_of(log), HasSubstr(",a,set_aside,\n"));
}

// It is alive between two iterations and never asks again, and a process that never says which job it is keeps its
// connection open. The server ends without them.
TEST_F(Permits, TheEndWaitsForNoJobThatHangsOutsideItsPhases) {
  const Group group = on_one_pair({job("a", 0.05, 0.05), job("b", 0.05, 0.05)});
  PermitServerOptions options;
  options.patience_s = 0.1;
  options.max_overrun = 2;
  start(group, true, options);
  const OpenFile nameless = connect_at(socket());
  const pid_t a = process("a", [this](PhaseClient& client) {
    iterate(client, 2, 5, 5);
    say_ready();
    wait_for_go();  // until the server has ended
  });
  wait_until_ready();
  const pid_t b = process("b", [](PhaseClient& client) { iterate(client, 3, 5, 5); });
  EXPECT_EQ(status_of(b), 0);
  const bool has_ended = server_.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  EXPECT_TRUE(has_ended);
  is_cancelled_ = true;
  say_go();
  EXPECT_EQ(status_of(a), 0);
  const std::vector<PhaseRecord> log = server_.get();
  const auto hung = std::find_if(log.begin(), log.end(),
                                 [](const PhaseRecord& record) { return record.event == PhaseEvent::hung; });
  ASSERT_NE(hung, log.end());
  EXPECT_EQ(hung->job, "a");
  EXPECT_GE(hung->silent_s, 0.2);  // twice the bound of its iteration
  const std::vector<MeasuredJob> jobs = measured_jobs(group, log, 0);
  EXPECT_EQ(words_of_state(jobs[0]), "hung");
  EXPECT_EQ(jobs[0].iterations, 2);
  EXPECT_EQ(jobs[1].iterations, 3);
}

// It evaluates for longer than that, and goes on.
TEST_F(Permits, AJobThatCountedAsHungMayGoOn) {
  const Group group = on_one_pair({job("a", 0.01, 0.01), job("b", 0.01, 0.01)});
  PermitServerOptions options;
  options.patience_s = 0.4;
  options.max_overrun = 1;
  start(group, true, options);
  const pid_t b = process("b", [this](PhaseClient& client) {
    const PhaseClient::Permit permit = client.acquire("sync");
    say_ready();
    for (double part = 0.01; part < 0.99; part += 0.01) {  // a job that does not hang, for two seconds
      sleep_ms(20);
      (void)client.progress(part);
    }
  });
  wait_until_ready();
  const pid_t a = process("a", [](PhaseClient& client) {
    iterate(client, 1, 5, 0);
    sleep_ms(1000);
    iterate(client, 1, 5, 0);
  });
  EXPECT_EQ(status_of(a), 0);
  EXPECT_EQ(status_of(b), 0);
  const std::vector<MeasuredJob> jobs = measured_jobs(group, server_.get(), 0);
  EXPECT_EQ(words_of_state(jobs[0]), "left (hung once)");
  EXPECT_EQ(jobs[0].iterations, 2);
}

// The placement gets a second job while the first one runs.
TEST_F(Permits, AJobThatIsPlacedLaterIsServedByTheRunningServer) {
  const Group group = on_one_pair({job("a", 1, 1)});
  std::atomic<bool> is_placed = false;
  PermitServerOptions options;
  options.latest_group = [&]() -> std::optional<Group> {
    if (!is_placed) return on_one_pair({job("a", 1, 1)});
    return on_one_pair({job("b", 1, 1), job("a", 1, 1)});
  };
  start(group, true, options);
  const pid_t a = process("a", [this](PhaseClient& client) {
    {
      const PhaseClient::Permit permit = client.acquire("rollout");
      say_ready();
      wait_for_go();  // until the other asks
      sleep_ms(50);
    }
    iterate(client, 3, 5, 5);
  });
  wait_until_ready();
  const auto refused = [](PhaseClient&) {};
  EXPECT_NE(status_of(process("b", refused)), 0);  // before it is placed
  is_placed = true;
  const pid_t b = process("b", [](PhaseClient& client) { iterate(client, 3, 5, 5); });
  say_go();
  EXPECT_EQ(status_of(a), 0);
  EXPECT_EQ(status_of(b), 0);
  const std::vector<PhaseRecord> log = server_.get();
  EXPECT_FALSE(overlaps(log, Phase::rollout));
  EXPECT_FALSE(overlaps(log, Phase::training));
  // The group of the server's start does not have the second job, the log does.
  const std::vector<MeasuredJob> jobs = measured_jobs(group, log, 0);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].name, "a");
  EXPECT_EQ(jobs[0].iterations, 4);
  EXPECT_EQ(jobs[1].name, "b");
  EXPECT_EQ(jobs[1].iterations, 3);
}

// Its connection ends with a reason when the group no longer has it.
TEST_F(Permits, AJobThatHasLeftThePlacementIsToldSo) {
  const Group group = on_one_pair({job("a", 1, 1)});
  PermitServerOptions options;
  options.latest_group = [] { return std::optional(on_one_pair({job("b", 1, 1)})); };
  start(group, true, options);
  const pid_t a = process("a", [this](PhaseClient& client) {
    say_ready();
    wait_for_go();  // until the other has finished
    try {
      iterate(client, 1, 1, 1);
    } catch (const std::exception&) {
      return;
    }
    ::_exit(3);
  });
  wait_until_ready();
  EXPECT_EQ(status_of(process("b", [](PhaseClient& client) { iterate(client, 1, 1, 1); })), 0);
  say_go();
  EXPECT_EQ(status_of(a), 0);
  EXPECT_EQ(server_.get().back().event, PhaseEvent::left);
}

TEST_F(Permits, TheTailOfAProcessLetsTheNextOneBegin) {
  const Group group = on_one_pair({job("a", 1, 1), job("b", 1, 1)});
  start(group);
  const pid_t a = process("a", [this](PhaseClient& client) {
    const PhaseClient::Permit permit = client.acquire("rollout");
    say_ready();
    while (!client.progress(0.85)) sleep_ms(5);
    wait_until_ready();  // until the other has finished its rollout
  });
  wait_until_ready();
  const pid_t b = process("b", [this](PhaseClient& client) {
    { const PhaseClient::Permit permit = client.acquire("rollout"); }
    say_ready();
  });
  EXPECT_EQ(status_of(a), 0);
  EXPECT_EQ(status_of(b), 0);
  std::vector<std::string> events;
  for (const PhaseRecord& record : server_.get()) {
    if (record.event == PhaseEvent::moved_tail || record.event == PhaseEvent::granted ||
        record.event == PhaseEvent::released)
      events.push_back(record.job + " " + std::string(name_of(record.event)));
  }
  EXPECT_THAT(events, ElementsAre("a granted", "a moved_tail", "b granted", "b released", "a released"));
}

TEST_F(Permits, APythonJobTakesPermitsToo) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "there is no python3";
  const Group group = on_one_pair({job("a", 1, 1)});
  start(group);
  const std::string code =
      "import sys; sys.path.insert(0, sys.argv[1]); import phases\n"
      "with phases.PhaseClient(sys.argv[2], 'a') as permits:\n"
      "  train = permits.in_phase('training')(lambda part: part + 1)\n"
      "  with permits.phase('rollout'):\n"
      "    assert not permits.progress(0.9)\n"
      "  assert train(1) == 2\n"
      "  try:\n"
      "    permits.release()\n"
      "  except phases.PhaseError as error:\n"
      "    assert 'nothing is held' in str(error)\n"
      "  else:\n"
      "    sys.exit(1)\n";
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("python3", "python3", "-c", code.c_str(), SEXTANT_SOURCE_DIR "/python/sextant", socket().c_str(),
             nullptr);
    ::_exit(2);
  }
  EXPECT_EQ(status_of(child), 0);
  const std::vector<MeasuredJob> jobs = measured_jobs(group, server_.get(), 0);
  EXPECT_EQ(jobs[0].iterations, 1);
  EXPECT_EQ(jobs[0].crashes, 0);
}

TEST_F(Permits, RefusesStrangersAndNonsense) {
  const Group group = on_one_pair({job("a", 1, 1)});
  start(group);
  struct stat of {};
  ASSERT_EQ(::stat(socket().c_str(), &of), 0);
  EXPECT_EQ(of.st_mode & 0777U, 0600U);
  const auto refusal = [&](const auto& run) -> std::string {
    try {
      run();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal([&] { PhaseClient("/nowhere/socket", "a"); }), HasSubstr("no permit server"));
  EXPECT_THAT(refusal([&] { PhaseClient(socket(), "x"); }), HasSubstr("has no job of this name"));
  EXPECT_THAT(refusal([&] { (void)serve_permits(group, socket()); }), HasSubstr("another permit server"));
  EXPECT_THAT(refusal([&] { (void)serve_permits(group, std::string(200, 'x')); }),
              HasSubstr("1 to 106 characters"));
  PhaseClient client(socket(), "a");
  EXPECT_THAT(refusal([&] { PhaseClient(socket(), "a"); }), HasSubstr("another process is job a"));
  EXPECT_THAT(refusal([&] { client.release(); }), HasSubstr("nothing is held"));
  EXPECT_THAT(refusal([&] { (void)client.acquire("cooking"); }),
              HasSubstr("expected rollout, training or sync"));
  is_cancelled_ = true;
  (void)server_.get();
}

}  // namespace
}  // namespace sextant::coschedule
