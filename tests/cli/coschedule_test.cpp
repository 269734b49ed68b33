#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "examples/coschedule/phase_client.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/control/local_socket.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/simulation/simulate.h"
#include "planner/coschedule/tail.h"
#include "planner/coschedule/trace/workload.h"
#include "planner/exact/milp.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using coschedule::Job;
using coschedule::JobDocument;
using coschedule::Placement;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Coschedule : public ::testing::Test {
 protected:
  void SetUp() override {
    const Printed printed = act("create", {"--rollout-pool", "H20-96GB=1.85", "--training-pool", "H800=5.28"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
  }

  Printed act(const std::string& action, std::vector<std::string> more) const {
    std::vector<std::string> all{"coschedule", action, "--state", state()};
    all.insert(all.end(), more.begin(), more.end());
    return run_sextant(all);
  }

  // The job of a plan in which generation has one node of 8 H100 and training the other.
  [[nodiscard]] Job job_on_two_nodes(std::vector<std::string> question) const {
    const std::string plan = folder_.file("two.json"), document = folder_.file("job.json");
    question.insert(question.end(), {"--gpus", "2x8xH100", "--model", "Qwen/Qwen3-8B", "--prompts", "64"});
    std::vector<std::string> predict{
        "predict", "--train", "fsdp=8,gpus=8-15", "--rollout", "tp=2,dp=4,gpus=0-7", "--plan-out", plan};
    predict.insert(predict.end(), question.begin(), question.end());
    const Printed predicted = run_sextant(predict);
    EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
    question.insert(question.end(), {"--name", "two", "--plan", plan, "--out", document});
    const Printed printed = act("job", question);
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    return load_document<JobDocument>(document).content.job;
  }

  [[nodiscard]] std::string state() const { return folder_.file("placement.json"); }
  [[nodiscard]] Placement placement() const { return load_document<Placement>(state()).content; }

  [[nodiscard]] std::string job(const std::string& name, double rollout_s, double training_s,
                                double max_slowdown = 1.5) const {
    Job job;
    job.name = name;
    job.rollout_s = rollout_s;
    job.training_s = training_s;
    job.max_slowdown = max_slowdown;
    save_document(folder_.file(name + ".json"), JobDocument{job});
    return folder_.file(name + ".json");
  }

  TinyFolder folder_;
};

TEST_F(Coschedule, PlacesJobsAndTakesThemOut) {
  Printed printed = act("place", {"--job", job("a", 60, 40)});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("a: a group of its own, which adds $57.04 an hour"));
  printed = act("place", {"--job", job("b", 40, 60), "--why"});
  EXPECT_THAT(printed.out, HasSubstr("b: group-1 as it is, which adds $0.00 an hour"));
  EXPECT_THAT(printed.out, HasSubstr("as many nodes as their largest job, costs at least $57.04 an hour"));
  EXPECT_THAT(printed.out, HasSubstr("a group of its own        $57.04"));
  EXPECT_EQ(placement().groups.size(), 1U);
  EXPECT_EQ(act("show", {}).exit_code, 0);
  EXPECT_EQ(act("leave", {"--name", "a"}).exit_code, 0);
  EXPECT_EQ(placement().job_count(), 1U);
}

// A node's host holds one suspended job, so the short job gets a rollout node of its own, and fits twice.
TEST_F(Coschedule, SaysHowOftenAJobRunsInAMetaIteration) {
  std::filesystem::remove(state());
  ASSERT_EQ(act("create",
                {"--rollout-pool", "H20-96GB=1.85", "--training-pool", "H800=5.28", "--host-memory-gb", "10"})
                .exit_code,
            0);
  for (const auto& [name, rollout_s, training_s] : {std::tuple{"long", 110.0, 90.0}, {"short", 90.0, 10.0}}) {
    Job of = load_document<JobDocument>(job(name, rollout_s, training_s, 2)).content.job;
    of.rollout_host_bytes = 6e9;
    save_document(folder_.file("job.json"), JobDocument{of});
    ASSERT_EQ(act("place", {"--job", folder_.file("job.json")}).exit_code, 0);
  }
  const Printed printed = act("show", {});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("a meta-iteration takes 200 s; short runs 2 times in that time"));
  EXPECT_THAT(printed.out, HasSubstr("runs  longest iteration"));
  EXPECT_THAT(read_text_file(state()), HasSubstr("\"turns\""));
}

// Three jobs that come one after the other take two pairs of nodes; together the last two share one as well.
TEST_F(Coschedule, PlacesAQueueTogether) {
  const std::vector<std::string> files{"--job", job("long", 100, 100, 1.2), "--job", job("a", 60, 40, 1),
                                       "--job", job("b", 40, 60, 1)};
  const Printed printed = act("place", files);
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("3 of 3 jobs add $114.08 an hour together; one after the other, as they are"));
  EXPECT_EQ(placement().job_count(), 3U);
  EXPECT_THAT(broken_promises(placement()), IsEmpty());
  const Printed again = act("place", files);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("\"long\" is placed already"));
  EXPECT_EQ(act("place", {"--job", job("x", 1, 1), "--job", job("y", 1, 1), "--why"}).exit_code, 2);
  // Promises with a probability and a pool without free nodes: who has no place waits.
  std::filesystem::remove(state());
  ASSERT_EQ(act("create", {"--rollout-pool", "H20=1", "--training-pool", "H800=5", "--max-training-nodes", "1"})
                .exit_code,
            0);
  const Printed waits = act("place", files);
  EXPECT_EQ(waits.exit_code, 1);
  EXPECT_THAT(waits.out, HasSubstr("long has no place and waits: the training pool has too few free nodes"));
  EXPECT_EQ(placement().job_count(), 2U);
}

// 15 GB of weights over 20 Gbit/s.
TEST_F(Coschedule, TheConnectionOfThePoolsSaysHowLongWeightsTake) {
  std::filesystem::remove(state());
  ASSERT_EQ(act("create", {"--rollout-pool", "H20=1", "--training-pool", "H800=5", "--connection-gbit", "20"})
                .exit_code,
            0);
  const std::string file = job("a", 60, 40);
  Job of = load_document<JobDocument>(file).content.job;
  of.weight_bytes = 15e9;
  save_document(file, JobDocument{of});
  EXPECT_EQ(act("place", {"--job", file}).exit_code, 0);
  EXPECT_EQ(placement().groups.front().members.front().job.sync_s, 6);
}

TEST_F(Coschedule, ADryRunChangesNothing) {
  EXPECT_EQ(act("place", {"--job", job("a", 60, 40), "--dry-run"}).exit_code, 0);
  EXPECT_THAT(placement().groups, IsEmpty());
}

// A job that trains on two nodes leaves; the others train for 95 s together there, and would for 190 s on one, which
// neither allows. The two nodes stay, and the bound is of groups that may have grown.
TEST_F(Coschedule, TheBoundKnowsTrainingPoolsThatHaveGrown) {
  Job wide;
  wide.name = "wide";
  wide.rollout_s = 100;
  wide.training_s = 10;
  wide.training_nodes = 2;
  wide.max_slowdown = 2;
  save_document(folder_.file("wide.json"), JobDocument{wide});
  ASSERT_EQ(act("place", {"--job", folder_.file("wide.json")}).exit_code, 0);
  ASSERT_EQ(act("place", {"--job", job("a", 20, 100, 1.05)}).exit_code, 0);
  ASSERT_EQ(act("place", {"--job", job("b", 20, 90, 1.1)}).exit_code, 0);
  ASSERT_EQ(placement().groups.size(), 1U);
  const Printed printed = act("leave", {"--name", "wide"});
  EXPECT_EQ(placement().groups.front().training_nodes, 2);  // 190 s on one
  EXPECT_THAT(printed.out, HasSubstr("any placement of these jobs costs at least"));
  EXPECT_EQ(act("show", {}).exit_code, 0);
}

// Each of the callers reads what the others wrote.
TEST_F(Coschedule, ConcurrentCallersLoseNothing) {
  constexpr int kCallers = 8;
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    const std::string file = job("job" + std::to_string(c), 50 + c, 50);
    callers.emplace_back([this, file] { EXPECT_EQ(act("place", {"--job", file}).exit_code, 0); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(placement().job_count(), static_cast<std::size_t>(kCallers));
  EXPECT_THAT(broken_promises(placement()), IsEmpty());
}

TEST_F(Coschedule, ShowNamesABrokenPromise) {
  ASSERT_EQ(act("place", {"--job", job("a", 60, 40)}).exit_code, 0);
  Placement changed = placement();
  changed.groups.front().members.push_back(changed.groups.front().members.front());
  changed.groups.front().members.back().job.name = "b";
  changed.groups.front().members.front().job.max_slowdown = 1;
  save_document(state(), changed);
  const Printed printed = act("show", {});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.out, HasSubstr("broken promise: group group-1: an iteration of a takes 120 s"));
  const Printed refused = act("place", {"--job", job("c", 60, 40)});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("it breaks a promise before anything is changed"));
}

TEST_F(Coschedule, RefusesWrongInput) {
  const auto refusal = [&](const std::string& action, const std::vector<std::string>& more) {
    const Printed printed = act(action, more);
    EXPECT_EQ(printed.exit_code, 2) << printed.out;
    return printed.err;
  };
  EXPECT_THAT(refusal("create", {"--rollout-pool", "H20", "--training-pool", "H800=5"}),
              HasSubstr("GPU=PRICE"));
  EXPECT_THAT(refusal("create", {"--rollout-pool", "H20=1", "--training-pool", "H800=5"}),
              HasSubstr("exists already"));
  EXPECT_THAT(refusal("place", {}), HasSubstr("--job is required"));
  EXPECT_THAT(refusal("place", {"--job", folder_.file("none.json")}), HasSubstr("none.json"));
  EXPECT_THAT(run_sextant({"coschedule", "show", "--state", folder_.file("none.json")}).err,
              HasSubstr("none.json"));
  const Printed none =
      run_sextant({"coschedule", "leave", "--name", "x", "--state", folder_.file("none.json")});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("coschedule create writes one"));
  EXPECT_THAT(refusal("leave", {"--name", "x"}), HasSubstr("no group has a job \"x\""));
  EXPECT_THAT(refusal("simulate", {"--policy", "best"}), HasSubstr("weave"));
  ASSERT_EQ(act("place", {"--job", job("a", 60, 40)}).exit_code, 0);
  EXPECT_THAT(refusal("place", {"--job", job("a", 60, 40)}), HasSubstr("is placed already"));
  Job waiting;
  waiting.name = "waiting";
  waiting.rollout_s = waiting.training_s = 60;
  waiting.turns = 4;
  waiting.environment_s_per_turn = 20;
  save_document(folder_.file("waiting.json"), JobDocument{waiting});
  EXPECT_THAT(refusal("place", {"--job", folder_.file("waiting.json")}),
              HasSubstr("the waits between turns take 60.0 s, at least all of rollout_s"));
}

TEST_F(Coschedule, SimulatesAndCompares) {
  const std::string out = folder_.file("simulation.json");
  Printed printed = act("simulate", {"--jobs", "30", "--out", out});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("100.0 %"));
  EXPECT_EQ(load_document<coschedule::Simulation>(out).content.jobs.size(), 30U);
  printed = act("compare", {"--jobs", "20", "--seeds", "3"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("means of 3 traces"));
  EXPECT_THAT(printed.out, HasSubstr("weave-paper"));
}

// Promises with a probability: training follows the mean length, so what the bounds refuse fits.
TEST_F(Coschedule, AProbabilityAcceptsMoreAndSaysWhatCertaintyCosts) {
  const std::string state = folder_.file("likely.json");
  const auto likely = [&](const std::string& action, std::vector<std::string> more) {
    std::vector<std::string> all{"coschedule", action, "--state", state};
    all.insert(all.end(), more.begin(), more.end());
    return run_sextant(all);
  };
  ASSERT_EQ(likely("create", {"--rollout-pool", "H20-96GB=1.85", "--training-pool", "H800=5.28",
                              "--probability", "0.95", "--tails", "fixed"})
                .exit_code,
            0);
  for (const char* name : {"a", "b"}) {
    Job of;
    of.name = name;
    of.rollout_s = 40;
    of.training_s = 100;
    of.max_slowdown = 1.4;
    of.responses = coschedule::Responses{};
    of.responses->tokens.kind = LengthKind::lognormal;
    of.responses->tokens.median = 1000;
    of.responses->tokens.sigma = 0.8;
    of.responses->tokens.max = 8192;
    save_document(folder_.file(std::string(name) + ".json"), JobDocument{of});
  }
  ASSERT_EQ(likely("place", {"--job", folder_.file("a.json")}).exit_code, 0);
  const Printed printed = likely("place", {"--job", folder_.file("b.json"), "--why"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("b: group-1 as it is, which adds $0.00 an hour"));
  EXPECT_THAT(printed.out, HasSubstr("at the bounds, it would add $57.04 an hour: a group of its own"));
  EXPECT_THAT(printed.out, HasSubstr("a typical iteration takes"));
  const Printed shown = likely("show", {"--certainty"});
  EXPECT_EQ(shown.exit_code, 0) << shown.out;
  EXPECT_THAT(shown.out, ContainsRegex("always +[$]114.08"));
  EXPECT_EQ(likely("repack", {}).exit_code, 2);
}

// Tails stay unless the operator says that the jobs move them.
TEST_F(Coschedule, APromiseSaysWhichTailsItCountsOn) {
  const std::vector<std::string> pools{"--rollout-pool", "H20-96GB=1.85", "--training-pool",
                                       "H800=5.28",      "--probability", "0.95"};
  const auto create = [&](const std::vector<std::string>& more) {
    std::filesystem::remove(state());
    std::vector<std::string> all = pools;
    all.insert(all.end(), more.begin(), more.end());
    return act("create", all);
  };
  std::vector<std::string> files;
  for (const auto& [name, training_s] : {std::pair{"a", 60.0}, {"b", 70.0}}) {
    files.push_back(job(name, 160, training_s, 1.25));
    Job of = load_document<JobDocument>(files.back()).content.job;
    of.sync_s = 3;
    of.responses = coschedule::Responses{};
    of.responses->tokens.kind = LengthKind::lognormal;
    of.responses->tokens.median = 1800;
    of.responses->tokens.sigma = 0.8;
    of.responses->tokens.max = 8192;
    of.responses->count = 256;
    of.responses->workers = 8;
    save_document(files.back(), JobDocument{of});
  }
  const auto place_both = [&] {
    EXPECT_EQ(act("place", {"--job", files[0]}).exit_code, 0);
    return act("place", {"--job", files[1]}).out;
  };
  ASSERT_EQ(create({}).exit_code, 0);
  EXPECT_EQ(placement().tail_threshold, 0);
  std::string out = place_both();
  EXPECT_EQ(placement().rollout_nodes(), 2);
  EXPECT_THAT(out, HasSubstr("with tails that stay; no job has to report its progress"));
  ASSERT_EQ(create({"--tails", "fixed"}).exit_code, 0);
  out = place_both();
  EXPECT_EQ(placement().rollout_nodes(), 1);
  EXPECT_THAT(out, HasSubstr("with tails that move at 80.0 % of the responses; a job that does not report"));
  EXPECT_THAT(act("show", {}).out, HasSubstr("with tails that move at 80.0 % of the responses"));
  EXPECT_EQ(create({"--tails", "best"}).exit_code, 2);
  EXPECT_EQ(create({"--tail-threshold", "0.7"}).exit_code, 2);
  ASSERT_EQ(create({"--tails", "fixed", "--tail-threshold", "0.7"}).exit_code, 0);
  EXPECT_EQ(placement().tail_threshold, 0.7);
}

TEST_F(Coschedule, AJobOfOtherGpusIsRefused) {
  const std::string file = job("a", 60, 40);
  Job of = load_document<JobDocument>(file).content.job;
  of.rollout_node_type = "H20";  // an alias of the pool's
  of.training_node_type = "H100-SXM-80GB";
  save_document(file, JobDocument{of});
  const Printed refused = act("place", {"--job", file});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("the training of \"a\" was predicted on H100-SXM-80GB, and the training pool of"));
  of.training_node_type = "H800";
  save_document(file, JobDocument{of});
  EXPECT_EQ(act("place", {"--job", file}).exit_code, 0);
}

// 40 jobs as they come, and regrouped at once; a horizon in which no restart pays changes nothing.
TEST_F(Coschedule, RepacksAllJobsWhereThatPays) {
  if (make_milp_solver() == nullptr) GTEST_SKIP() << "no solver of linear programs";
  Placement start{coschedule::weave_pools(), {}};
  for (std::uint64_t number = 0; number < 40; ++number) {
    const Job of = coschedule::drawn_job(coschedule::Profile::mixed, 1, 2, 1, number);
    take(start, place(start, of));
  }
  save_document(state(), start);
  const Printed never = act("repack", {"--all", "--horizon-seconds", "1"});
  EXPECT_EQ(never.exit_code, 0) << never.err;
  EXPECT_THAT(never.out, HasSubstr("no regrouping pays for the restarts"));
  EXPECT_EQ(placement().groups, start.groups);
  const Printed dry = act("repack", {"--all", "--dry-run"});
  EXPECT_EQ(placement().groups, start.groups);
  const Printed printed = act("repack", {"--all", "--keep", "job-1"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("regrouping saves $"));
  EXPECT_THAT(printed.out, HasSubstr(" an hour and restarts job-"));
  EXPECT_LT(placement().usd_per_hour(), 0.95 * start.usd_per_hour());
  EXPECT_EQ(placement().job_count(), 40U);
  EXPECT_EQ(placement().group_of("job-1")->members, start.group_of("job-1")->members);
  EXPECT_THAT(broken_promises(placement()), IsEmpty());
}

TEST_F(Coschedule, SimulatesDriftFailuresAndReportsThem) {
  const std::string out = folder_.file("simulation.json");
  const Printed printed = act("simulate", {"--jobs", "40", "--drift", "increasing", "--failures-every", "40000",
                                           "--bound-every", "10", "--out", out});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("failures; each job came back"));
  EXPECT_GT(load_document<coschedule::Simulation>(out).content.failures, 0);
  const std::string page = folder_.file("report.html");
  EXPECT_EQ(run_sextant({"report", "--simulation", out, "--placement", state(), "--out", page}).exit_code, 0);
  EXPECT_THAT(read_text_file(page), HasSubstr("lower bound of any placement"));
}

TEST_F(Coschedule, RunNeedsASocketAndAGroup) {
  EXPECT_THAT(act("run", {}).err, HasSubstr("--socket is required"));
  EXPECT_EQ(act("run", {}).exit_code, 2);
  ASSERT_EQ(act("place", {"--job", job("a", 60, 40)}).exit_code, 0);
  const Printed printed = act("run", {"--socket", folder_.file("s"), "--group", "x"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("expected one of its groups (group-1)"));
}

TEST_F(Coschedule, RunServesARealJobAndMeasuresIt) {
  ASSERT_EQ(act("place", {"--job", job("a", 60, 40)}).exit_code, 0);
  const std::string socket = folder_.file("permits"), log = folder_.file("log.csv");
  std::future<Printed> server = std::async(std::launch::async, [&] {
    return act("run", {"--socket", socket, "--until-left", "--out", log});
  });
  for (int i = 0; i < 2000 && !std::filesystem::exists(socket); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  {
    PhaseClient client(socket, "a");
    for (int i = 0; i < 3; ++i) {
      { const PhaseClient::Permit permit = client.acquire("rollout"); }
      const PhaseClient::Permit permit = client.acquire("training");
    }
  }
  const Printed printed = server.get();
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("a             3"));
  EXPECT_THAT(printed.err, HasSubstr("a joined"));
  EXPECT_THAT(read_text_file(log), HasSubstr(",a,granted,rollout\n"));
}

// Lines to a permit server and its answers, without a client that gives permits back.
class Requests {
 public:
  explicit Requests(const std::string& socket) : file_(coschedule::connect_at(socket)) {}

  std::string answer(const std::string& request) {
    const std::string line = request + "\n";
    EXPECT_EQ(::send(file_.number(), line.data(), line.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(line.size()));
    std::string answer;
    for (char one = 0; ::recv(file_.number(), &one, 1, 0) == 1 && one != '\n';) answer += one;
    return answer;
  }

 private:
  coschedule::OpenFile file_;
};

// A process that is killed and comes back, and one that hangs.
TEST_F(Coschedule, RunSaysWhatJobsAreAndTakesPermitsOfHungOnesBack) {
  ASSERT_EQ(act("place", {"--job", job("a", 0.5, 0.5)}).exit_code, 0);
  const std::string socket = folder_.file("permits");
  std::future<Printed> server = std::async(std::launch::async, [&] {
    return act("run", {"--socket", socket, "--until-left", "--max-overrun", "2", "--patience", "0.5"});
  });
  for (int i = 0; i < 2000 && !std::filesystem::exists(socket); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  {
    // The second connection is there before the first one ends: without any, the server would end too.
    std::optional<Requests> crashes(std::in_place, socket);
    EXPECT_EQ(crashes->answer("hello a"), "ok");
    EXPECT_EQ(crashes->answer("acquire rollout"), "granted");
    Requests hangs(socket);
    crashes.reset();
    std::string hello = hangs.answer("hello a");
    while (hello.find("another process is job a") != std::string::npos) hello = hangs.answer("hello a");
    EXPECT_EQ(hello, "ok");
    EXPECT_EQ(hangs.answer("acquire rollout"), "granted");
    std::string answer = "keep";
    while (answer == "keep") {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      answer = hangs.answer("progress 0");
    }
    EXPECT_THAT(answer, HasSubstr("error the permit was taken back: the rollout of a had neither ended nor"));
    EXPECT_EQ(hangs.answer("release"), answer);
    EXPECT_EQ(hangs.answer("acquire rollout"), "granted");
    EXPECT_EQ(hangs.answer("release"), "ok");
  }
  const Printed printed = server.get();
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("a: its rollout has neither ended nor progressed for"));
  EXPECT_THAT(printed.out, HasSubstr("left (crashed once, hung once)"));
  EXPECT_EQ(act("run", {"--socket", socket, "--max-overrun", "0.5"}).exit_code, 2);
}

// 80 jobs are too many for a tight bound. However busy the machine is, the answer is the same, unless the wall time counts.
TEST_F(Coschedule, TheBoundFollowsFromItsWorkAlone) {
  if (make_milp_solver() == nullptr) GTEST_SKIP() << "no solver of linear programs";
  Placement start{coschedule::weave_pools(), {}};
  for (std::uint64_t number = 0; number < 80; ++number)
    take(start, place(start, coschedule::drawn_job(coschedule::Profile::mixed, 1, 2, 1, number)));
  save_document(state(), start);
  const Printed quiet = act("show", {"--bound-work", "0.02"});
  EXPECT_THAT(quiet.out, HasSubstr("(a larger --bound-work may prove more)"));
  std::vector<std::future<Printed>> loaded;
  for (int i = 0; i < 4; ++i)
    loaded.push_back(std::async(std::launch::async, [&] { return act("show", {"--bound-work", "0.02"}); }));
  for (std::future<Printed>& one : loaded) EXPECT_EQ(one.get().out, quiet.out);
  EXPECT_THAT(act("show", {"--bound-seconds", "0.000001"}).out, HasSubstr("(the wall time ended the search"));
}

// Two nodes of 8 H100: generation on one, training on the other. Bounds are of 4,096 tokens for every response, so
// that a typical iteration is shorter.
TEST_F(Coschedule, APlanBecomesAJob) {
  const Job job = job_on_two_nodes({});
  EXPECT_EQ(job.rollout_node_type, "H100-SXM-80GB");
  EXPECT_EQ(job.training_node_type, "H100-SXM-80GB");
  EXPECT_EQ(job.rollout_nodes, 1);
  EXPECT_EQ(job.training_nodes, 1);
  EXPECT_GT(job.rollout_s, 0);
  EXPECT_GT(job.training_s, 0);
  EXPECT_GT(job.sync_s, 0);
  EXPECT_LT(job.typical_fraction, 0.8);
  // Four engines; typical phases take what the model predicts for the workflow's lengths.
  ASSERT_TRUE(job.responses.has_value());
  EXPECT_EQ(job.responses->workers, 4);
  const coschedule::PhaseTimes times = coschedule::typical_times(job);
  EXPECT_NEAR(times.rollout_s + times.training_s, job.typical_fraction * (job.rollout_s + job.training_s),
              0.03 * times.rollout_s);
  // 8.2 B parameters in bf16 on each of four engines, and at least 16 bytes of each once on the training node.
  EXPECT_NEAR(job.rollout_host_bytes, 4 * 8.2e9 * 2, 0.1 * 4 * 8.2e9 * 2);
  EXPECT_GT(job.training_host_bytes, 8.2e9 * 12);
  EXPECT_GT(job.training_warm_start_s, 0);
}

// ROLL moves states to the host between phases: they are there while the job is suspended, too.
TEST_F(Coschedule, OffloadedStatesAreInTheHostOfASuspendedJob) {
  const auto ask = [&](std::vector<std::string> words) {
    for (const char* word : {"--gpus", "2x8xH100", "--model", "Qwen/Qwen3-8B", "--prompts", "64", "--algorithm",
                             "ppo", "--reward-model", "rule=0.01", "--framework", "roll"})
      words.emplace_back(word);
    const Printed printed = run_sextant(words);
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
  };
  ask({"predict", "--train", "tp=2,dp=4,gpus=8-15", "--rollout", "tp=2,dp=4,gpus=0-7", "--plan-out",
       folder_.file("plan.json"), "--out", folder_.file("prediction.json")});
  ask({"coschedule", "job", "--name", "ppo", "--plan", folder_.file("plan.json"), "--out",
       folder_.file("ppo.json")});
  const Job job = load_document<JobDocument>(folder_.file("ppo.json")).content.job;
  const Prediction prediction = load_document<Prediction>(folder_.file("prediction.json")).content;
  ASSERT_EQ(prediction.host_memory.size(), 2U);
  EXPECT_GT(prediction.host_memory[0].needed_bytes, 0);
  EXPECT_GE(job.rollout_host_bytes, prediction.host_memory[0].needed_bytes);
  EXPECT_GE(job.training_host_bytes, prediction.host_memory[1].needed_bytes);
}

// Five turns with waits of 20 s between them, 80 s together, which typical iterations wait for in full.
TEST_F(Coschedule, AJobOfSeveralTurnsKeepsItsWaits) {
  const auto ask = [&](const std::string& action, const std::vector<std::string>& more) {
    std::vector<std::string> words{action};
    words.insert(words.end(), more.begin(), more.end());
    const Printed printed = run_sextant(words);
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
  };
  ask("predict", {"--gpus", "2x8xH100", "--model", "Qwen/Qwen3-8B", "--prompts", "64", "--train",
                  "fsdp=8,gpus=8-15", "--rollout", "tp=2,dp=4,gpus=0-7", "--plan-out",
                  folder_.file("plan.json"), "--save-inputs", folder_.file("")});
  Workflow workflow = load_document<Workflow>(folder_.file("workflow.json")).content;
  const auto job_of_it = [&](const std::string& name) {
    save_document(folder_.file("workflow.json"), workflow);
    ask("coschedule",
        {"job", "--cluster", folder_.file("cluster.json"), "--workflow", folder_.file("workflow.json"),
         "--plan", folder_.file("plan.json"), "--name", name, "--out", folder_.file(name)});
    return load_document<JobDocument>(folder_.file(name)).content.job;
  };
  workflow.turns = 5;
  const Job at_once = job_of_it("at-once");
  workflow.environment_s_per_turn = 20;
  const Job waits = job_of_it("waits");
  EXPECT_DOUBLE_EQ(waits.turns, 5);
  EXPECT_NEAR(waits.environment_s_per_turn, 20, 0.2);
  EXPECT_NEAR(waits.rollout_s - at_once.rollout_s, 80, 0.8);
  EXPECT_NEAR(coschedule::typical_times(waits).rollout_s - coschedule::typical_times(at_once).rollout_s, 80,
              0.8);
}

// PPO with a critic and a rule, which scores 64 responses on the host in 50 ms each before training begins.
TEST_F(Coschedule, APlanOfPpoWithARuleBecomesAJob) {
  const auto job_with = [&](const std::string& reward) {
    return job_on_two_nodes({"--algorithm", "ppo", "--reward-model", reward});
  };
  const Job free = job_with("rule=0"), slow = job_with("rule=0.05");
  EXPECT_NEAR(slow.rollout_s - free.rollout_s, 64 * 0.05, 1e-9);
  EXPECT_DOUBLE_EQ(slow.training_s, free.training_s);
  ASSERT_TRUE(slow.rollout_interval_s && free.rollout_interval_s);
  EXPECT_NEAR(slow.rollout_interval_s->high - free.rollout_interval_s->high, 64 * 0.05, 1e-9);
  // Actor and critic, of 8.2 B parameters each, leave at least 12 bytes of each on the host.
  EXPECT_GT(slow.training_host_bytes, 2 * 8.2e9 * 12);
}

}  // namespace
}  // namespace sextant::test
