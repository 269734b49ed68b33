// sextant compare and sextant init.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/json_value.h"
#include "planner/coschedule/group.h"
#include "sextant/cluster.h"
#include "sextant/document.h"
#include "sextant/plan.h"
#include "sextant/run.h"
#include "sextant/workflow.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// The line of a table that begins with these words.
std::string row_of(const std::string& table, const std::string& what) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(what + " ")) return line;
  }
  return "";
}

class Compared : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string file = folder_.file(name);
    std::ofstream(file) << text;
    return file;
  }
  // The plan of these layouts for two nodes of 8 H100.
  std::string plan(const std::string& name, const std::string& train) {
    std::vector<std::string> arguments{"predict",    "--train",         train, "--rollout", "tp=2",
                                       "--plan-out", folder_.file(name)};
    arguments.insert(arguments.end(), question_.begin(), question_.end());
    const Printed printed = run_sextant(arguments);
    EXPECT_TRUE(printed.exit_code == 0 || printed.exit_code == 1) << printed.err;
    return folder_.file(name);
  }
  Printed compare(std::vector<std::string> files, bool with_question = true) {
    files.insert(files.begin(), "compare");
    if (with_question) files.insert(files.end(), question_.begin(), question_.end());
    return run_sextant(files);
  }

  TinyFolder folder_;
  std::vector<std::string> question_{"--gpus", "2x8xH100", "--model", "Qwen/Qwen3-8B", "--framework", "verl"};
};

TEST_F(Compared, PlansShowWhatDiffersAndHowSurely) {
  const std::string first = plan("first.json", "fsdp=16"), same = plan("same.json", "fsdp=16"),
                    recomputes = plan("recomputes.json", "fsdp=16,recompute=none");
  const Printed printed = compare({first, recomputes, same});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(row_of(printed.out, "iteration"), HasSubstr("% sure"));
  EXPECT_THAT(row_of(printed.out, "iteration"), MatchesRegex(".* 0 % *"));  // the last plan is the first one
  EXPECT_THAT(row_of(printed.out, "actor_training"), HasSubstr("-"));
  EXPECT_EQ(row_of(printed.out, "actor_generation layout"), "");
  EXPECT_THAT(printed.out, HasSubstr("rows are the same (--all shows them)"));
  const Printed all = compare({first, recomputes, "--all"});
  EXPECT_THAT(row_of(all.out, "actor_generation layout"), HasSubstr("dp8 tp2"));
  const Printed json = compare({first, recomputes, "--json"});
  const Json document = parse_json(json.out);
  EXPECT_EQ(document["kind"], "plan");
  EXPECT_EQ(document["rows"][0]["what"], "iteration");
  EXPECT_EQ(document["rows"][0]["values"].size(), 2U);
}

// The second run is slower by far; the third is as fast as the first, within its spread.
TEST_F(Compared, RunsDifferBeyondTheirNoiseOrNot) {
  Runs runs = load_document<Runs>(data("runs.json")).content;
  runs.runs.resize(1);
  runs.runs.front().tasks.clear();
  runs.runs.front().elapsed.clear();
  runs.runs.front().waits.clear();
  const auto with = [&](const std::string& name, std::vector<double> samples_s) {
    runs.runs.front().name = name;
    runs.runs.front().iteration.samples_s = std::move(samples_s);
    const std::string file = folder_.file(name + ".json");
    save_document(file, runs);
    return file;
  };
  const std::vector<std::string> files{with("first", {10, 10.2, 9.9, 10.1, 10}),
                                       with("slower", {12, 12.2, 11.9, 12.1, 12}),
                                       with("alike", {10.1, 10, 10.2, 9.9, 10.1}), with("once", {11})};
  const Printed printed = compare(files, false);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const std::string row = row_of(printed.out, "iteration");
  EXPECT_THAT(row, AllOf(HasSubstr("10.0 s"), HasSubstr("12.0 s"), HasSubstr("+20.0 %"), HasSubstr("% sure"),
                         HasSubstr("within the noise"), HasSubstr("cannot tell: fewer than 3 samples")));
}

TEST_F(Compared, ClustersAreComparedAsByDiff) {
  const Printed same = compare({data("cluster.json"), data("cluster.json")}, false);
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("rows are the same"));
  Json cluster = parse_json(read_text_file(data("cluster.json")));
  for (auto& [name, type] : cluster["device_types"].items()) {
    Json& value = type["memory_bytes_per_s"]["value"];
    value = value.get<double>() / 2;
  }
  const std::string slower = write("slower.json", cluster.dump());
  const Printed printed = compare({data("cluster.json"), slower}, false);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, AllOf(HasSubstr("-50.0 %"), HasSubstr("worse")));
}

TEST_F(Compared, RefusesWhatCannotBeCompared) {
  const auto refusal = [&](const std::vector<std::string>& files) {
    const Printed printed = compare(files, false);
    EXPECT_EQ(printed.exit_code, 2);
    return printed.err;
  };
  EXPECT_THAT(refusal({data("cluster.json"), data("model.json")}), HasSubstr("documents of the same kind"));
  EXPECT_THAT(refusal({data("model.json"), data("model.json")}), HasSubstr("expected plans, runs or clusters"));
  EXPECT_THAT(refusal({data("cluster.json")}), HasSubstr("at least two documents"));
  EXPECT_THAT(refusal({write("no.json", "{}")}), HasSubstr("no.json"));
}

class Initial : public Compared {
 protected:
  std::string init(const std::string& kind, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"init", kind, "--out", folder_.file(kind + ".json")});
    const Printed printed = run_sextant(more);
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    return folder_.file(kind + ".json");
  }
};

TEST_F(Initial, DocumentsHaveCommentsAndAreAccepted) {
  const std::string cluster = init("cluster"), workflow = init("workflow"), plan = init("plan");
  EXPECT_EQ(load_document<Cluster>(cluster).content.device_count(), 8);
  EXPECT_EQ(load_document<Workflow>(workflow).content.models.at("actor").name, "Qwen3-8B");
  EXPECT_EQ(load_document<Plan>(plan).content.tasks.at("actor_training").data_parallel(), 8);
  EXPECT_THAT(read_text_file(cluster),
              HasSubstr("  // In the order in which devices are numbered from 0\n  \"nodes\": ["));
  EXPECT_THAT(read_text_file(workflow), HasSubstr("  // "));
  EXPECT_THAT(read_text_file(plan), HasSubstr("      // Replicas, each with an equal part of the batch\n"));
  const Printed printed =
      run_sextant({"predict", "--cluster", cluster, "--workflow", workflow, "--plan", plan, "--json"});
  EXPECT_EQ(printed.exit_code, 0) << "the example does not fit in memory";
  EXPECT_THAT(printed.out, HasSubstr("sextant.prediction/")) << printed.err;
}

TEST_F(Initial, DocumentsAnswerTheQuestion) {
  const std::string cluster = init("cluster", {"--gpus", "2x8xH100+1x8xL40S"});
  EXPECT_EQ(load_document<Cluster>(cluster).content.device_types().size(), 2U);
  const std::string workflow =
      init("workflow", {"--model", "Qwen/Qwen3-30B-A3B", "--algorithm", "ppo", "--prompts", "64"});
  EXPECT_EQ(load_document<Workflow>(workflow).content.prompts, 64);
  EXPECT_TRUE(load_document<Workflow>(workflow).content.has_task("critic_training"));
  const std::string plan = init("plan", {"--gpus", "2x8xH100", "--framework", "verl", "--rollout", "tp=4"});
  EXPECT_EQ(load_document<Plan>(plan).content.tasks.at("actor_generation").data_parallel(), 4);
  EXPECT_EQ(run_sextant({"init", "model"}).exit_code, 2);
}

// The job goes into the placement, and the trace is replayed.
TEST_F(Initial, DocumentsOfCoscheduleHaveCommentsAndAreAccepted) {
  const std::string job = init("job"), placement = init("placement"), trace = init("job_trace");
  EXPECT_THAT(read_text_file(job), HasSubstr("  // Name of the job.\n  \"name\": \"A\""));
  EXPECT_THAT(read_text_file(placement), HasSubstr("    // Bandwidth between the pools"));
  EXPECT_THAT(read_text_file(trace), HasSubstr("      // In a trace: how long the job runs alone.\n"));
  EXPECT_EQ(load_document<coschedule::Placement>(placement).content.job_count(), 2U);
  const Printed twice = run_sextant({"coschedule", "place", "--state", placement, "--job", job});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("job \"A\" is placed already"));
  EXPECT_EQ(run_sextant({"coschedule", "leave", "--state", placement, "--name", "A"}).exit_code, 0);
  const Printed placed = run_sextant({"coschedule", "place", "--state", placement, "--job", job});
  EXPECT_EQ(placed.exit_code, 0) << placed.err;
  EXPECT_EQ(run_sextant({"coschedule", "simulate", "--trace", trace}).exit_code, 0);
}

}  // namespace
}  // namespace sextant::test
