// sextant trace: a program with NVTX ranges and a CUPTI that the test feeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/run.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"
#include "tests/core/built_files.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

class TraceCommand : public ::testing::Test {
 protected:
  // `sextant trace options -- the program and its words`
  [[nodiscard]] Printed trace(std::vector<std::string> options, const std::vector<std::string>& words) const {
    std::vector<std::string> all{"trace",  "--cupti", built_file("sextant_fake_cupti"), "--summary",
                                 summary_, "--tasks", folder_.file("tasks.json")};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", built_file("sextant_traced_program")});
    all.insert(all.end(), words.begin(), words.end());
    return run_sextant(all);
  }
  void SetUp() override {
    write_text_file(folder_.file("tasks.json"), R"({"schema": "sextant.task_ranges/1.0",
      "tasks": [{"task": "actor_generation", "ranges": ["gen"]}, {"task": "actor_training", "ranges": ["tr*n"]}],
      "iterations": ["step"]})");
  }
  [[nodiscard]] Json summary() const { return parse_json(read_text_file(summary_)); }

  TinyFolder folder_;
  std::string summary_ = folder_.file("summary.json");
};

TEST_F(TraceCommand, TimesTasksAndSplitsThem) {
  const Printed printed = trace({"--events", folder_.file("events.json")}, {"cuda", "steps", "4"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("median of 3 (ranges that mark iterations), 1 skipped before them"));
  EXPECT_THAT(printed.out,
              HasSubstr("120 records of device activity and 12 ranges of 1 processes on 1 devices"));
  EXPECT_EQ(summary()["tasks_s"]["actor_generation"].size(), 3U);
  EXPECT_GT(summary()["split_by_task"]["actor_training"]["attention_s"].get<double>(), 0);
  EXPECT_THAT(summary()["processes"][0]["cupti"].get<std::string>(), HasSubstr("CUPTI 130001"));
  EXPECT_FALSE(parse_json(read_text_file(folder_.file("events.json")))["traceEvents"].empty());
}

TEST_F(TraceCommand, MakesARunAndAddsAnother) {
  const std::vector<std::string> documents{"--cluster",
                                           folder_.file("cluster.json"),
                                           "--plan",
                                           folder_.file("plan.json"),
                                           "--workflow",
                                           folder_.file("workflow.json"),
                                           "--framework",
                                           "mine",
                                           "--append",
                                           "--out",
                                           folder_.file("runs.json")};
  for (const char* name : {"first", "second"}) {
    std::vector<std::string> options = documents;
    options.insert(options.end(), {"--name", name});
    EXPECT_EQ(trace(options, {"steps", "3"}).exit_code, 0);
  }
  const Runs runs = load_document<Runs>(folder_.file("runs.json")).content;
  ASSERT_EQ(runs.runs.size(), 2U);
  EXPECT_EQ(runs.runs[1].name, "second");
  EXPECT_EQ(runs.runs[1].framework, "mine");
  EXPECT_EQ(runs.runs[1].iteration.samples_s.size(), 2U);
}

TEST_F(TraceCommand, RecordsThatWereKeptAreReadAgain) {
  const std::string records = folder_.file("records");
  EXPECT_EQ(trace({"--records", records}, {"cuda", "steps", "3"}).exit_code, 0);
  const Json first = summary();
  const Printed again =
      run_sextant({"trace", "--read", records, "--summary", summary_, "--tasks", folder_.file("tasks.json")});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(summary()["iteration_s"], first["iteration_s"]);
  const Printed twice = trace({"--records", records}, {"steps", "1"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("holds records of an earlier trace"));
}

TEST_F(TraceCommand, AFailedCommandIsReportedAllTheSame) {
  const Printed printed = trace({}, {"steps", "3", "exit", "7"});
  EXPECT_EQ(printed.exit_code, 3);
  EXPECT_THAT(printed.err, HasSubstr("the command exited with 7; what it recorded follows"));
  EXPECT_EQ(summary()["iteration_s"].size(), 2U);
}

TEST_F(TraceCommand, RefusesWhatItCannotUse) {
  const Printed neither = run_sextant({"trace"});
  EXPECT_EQ(neither.exit_code, 2);
  EXPECT_THAT(neither.err, HasSubstr("give either a command after --"));
  EXPECT_THAT(trace({"--workflow", folder_.file("workflow.json")}, {}).err, HasSubstr("a run needs all of"));
  EXPECT_THAT(trace({"--library", "/nowhere.so"}, {}).err, HasSubstr("there is no such file"));
  EXPECT_THAT(trace({"--every", "3"}, {}).err, HasSubstr("--window"));
  const Printed missing = run_sextant({"trace", "--", "/nowhere/program"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("/nowhere/program cannot be started"));
  const Printed nothing = run_sextant({"trace", "--", "true"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("no process recorded anything"));
}

}  // namespace
}  // namespace sextant::test
