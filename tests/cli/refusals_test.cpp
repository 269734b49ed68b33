// Bad input: exit 2 and one line "sextant: <file>: <path>: <sentence>"; a disk that refuses: exit 3.
//
// The sentences of every file in tests/data/bad are tested in tests/documents; here it matters that
// the program passes them on, whole and alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void expect_one_line(const Printed& printed, int exit_code, const std::string& line) {
  EXPECT_EQ(printed.exit_code, exit_code);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, StartsWith(line));
  EXPECT_EQ(lines_of(printed.err).size(), 1U) << printed.err;
}

Printed predict(const std::string& cluster, const std::string& plan) {
  return run_sextant(
      {"predict", "--cluster", cluster, "--workflow", data("workflow_ppo.json"), "--plan", plan});
}

struct Bad {
  const char* file;
  const char* begins;  // path and the beginning of the sentence
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.file; }

class BadCluster : public ::testing::TestWithParam<Bad> {};

TEST_P(BadCluster, IsRefusedInOneLine) {
  const std::string file = data("bad/" + std::string(GetParam().file) + ".json");
  expect_one_line(predict(file, data("plan.json")), 2, "sextant: " + file + ": " + GetParam().begins);
}

INSTANTIATE_TEST_SUITE_P(
    Data, BadCluster,
    ::testing::Values(Bad{"truncated", "/nodes/1/name: syntax error"},
                      Bad{"wrong_kind", "/schema: expected a sextant.cluster document, got"},
                      Bad{"future_major", "/schema: \"sextant.cluster/2.0\" was written by a newer"},
                      Bad{"negative", "/nodes/1/devices: expected an integer >= 1, got -2"},
                      Bad{"nan", "/links/between_regions/bytes_per_s/value: syntax error"},
                      Bad{"duplicate_key", "/nodes/0/name: duplicate key"}),
    [](const auto& bad) { return std::string(bad.param.file); });

// It comes from a variable of a script that is not set; the answer would be lost.
TEST(EmptyText, IsRefusedByEveryOptionThatTakesOne) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"plan", "--out", ""},
                                                  {"predict", "--out", ""},
                                                  {"export", "plan.json", "--out", ""},
                                                  {"probe", "--out", ""},
                                                  {"validate", "--coefficients", ""}}) {
    const Printed printed = run_sextant(command);
    EXPECT_EQ(printed.exit_code, 2) << command.front();
    EXPECT_THAT(printed.err, HasSubstr("expected a text that is not empty")) << command.front();
  }
}

class BadPlan : public ::testing::TestWithParam<Bad> {};

TEST_P(BadPlan, IsRefusedInOneLine) {
  const std::string file = data("bad/" + std::string(GetParam().file) + ".json");
  expect_one_line(predict(data("cluster.json"), file), 2, "sextant: " + file + ": " + GetParam().begins);
}

INSTANTIATE_TEST_SUITE_P(
    Data, BadPlan,
    ::testing::Values(
        Bad{"unknown_device", "/tasks/actor_training/replicas/0/stages/1/devices/0: unknown device 9"},
        Bad{"layers_not_covered", "/tasks/actor_training/replicas/0/stages: layers sum to 14"},
        Bad{"device_twice", "/tasks/actor_training/replicas/0/stages/0/devices/2: device 2 is used twice"},
        Bad{"too_much_tensor_parallel",
            "/tasks/actor_training/replicas/0/stages/0/devices: tensor parallelism 8 exceeds"}),
    [](const auto& bad) { return std::string(bad.param.file); });

TEST(BadFile, MissingIsNamed) {
  const TinyFolder folder;
  const std::string file = folder.file("nowhere.json");
  expect_one_line(predict(file, data("plan.json")), 2, "sextant: cannot read " + file + ": No such file");
}

TEST(BadFile, FolderIsNotADocument) {
  const TinyFolder folder;
  expect_one_line(predict(folder.path(), data("plan.json")), 2,
                  "sextant: cannot read " + folder.path() + ": Is a directory");
}

// Each says what was found, what was expected, and which command makes it.
TEST(BadFile, WithoutADocumentIsAnsweredWithHowToMakeOne) {
  const TinyFolder folder;
  const std::string file = folder.file("nothing.json");
  struct Content {
    const char* text;
    const char* found;
  };
  for (const Content& content : {Content{"", ": the file is empty; expected "},
                                 {"{}", ": expected a document with "},
                                 {"[]", ": expected a document with "}}) {
    write_text_file(file, content.text);
    const std::string begins = "sextant: " + file + content.found;
    const auto expect_advice = [&](const Printed& printed, const char* advice) {
      expect_one_line(printed, 2, begins);
      EXPECT_THAT(printed.err, HasSubstr(advice)) << content.text;
    };
    expect_advice(predict(data("cluster.json"), file), "; to make one: sextant plan --out plan.json");
    expect_advice(run_sextant({"export", file, "--to", "verl"}), "; to make one: sextant plan --out plan.json");
    expect_advice(predict(file, data("plan.json")), "; to make one: sextant probe --out cluster.json");
    expect_advice(run_sextant({"calibrate", file}), "; to make one: sextant proxy");
    const Printed model = run_sextant({"plan", "--gpus", "8xH100", "--model", file});
    EXPECT_EQ(model.exit_code, 2);
    EXPECT_THAT(model.err, StartsWith("sextant: " + file + ": "));
  }
  write_text_file(file, "{}");
  EXPECT_THAT(run_sextant({"plan", "--gpus", "8xH100", "--model", file}).err,
              HasSubstr("missing member \"model_type\"; expected the config.json of a Hugging Face model"));
}

// The words of a layout contradict the shape in the file.
TEST(BadFile, ContradictionsOfALayoutNameTheModelsFile) {
  const TinyFolder folder;
  const std::string file = folder.file("config.json");
  std::string text = read_text_file(std::string(SEXTANT_SOURCE_DIR) + "/data/configs/Qwen3-30B-A3B.json");
  const std::string size = "\"moe_intermediate_size\": 768";
  ASSERT_NE(text.find(size), std::string::npos);
  write_text_file(file, text.replace(text.find(size), size.size(), "\"moe_intermediate_size\": 767"));
  expect_one_line(
      run_sextant({"predict", "--gpus", "1x8xH100", "--model", file, "--train", "fsdp=8", "--rollout", "tp=2"}),
      2, "sextant: " + file + ": /tasks/actor_generation/");
}

// Each command that reads something refuses another kind of document, before it writes anything.
TEST(BadFile, EveryCommandNamesTheFile) {
  const TinyFolder folder;
  const std::string plan = data("plan.json"), refused = "sextant: " + plan + ": /schema: expected a sextant.";
  const std::string out = folder.file("out.json");
  const std::vector<std::string> commands[] = {
      {"probe", "--model", plan, "--out", out},
      {"proxy", "--cluster", plan, "--workflow", data("workflow_ppo.json"), "--plan", plan, "--out", out},
      {"proxy", "--cluster", data("cluster.json"), "--experiments", plan, "--out", out},
      {"calibrate", plan, "--out", out},
      {"calibrate", data("runs.json"), "--start", plan, "--out", out},
      {"validate", plan, "--coefficients", data("coefficients.json"), "--out", out},
      {"validate", data("runs.json"), "--coefficients", plan, "--out", out},
      {"plan", "--cluster", data("cluster.json"), "--workflow", plan, "--out", out},
      {"report", "--prediction", plan, "--out", out}};
  for (const auto& command : commands) expect_one_line(run_sextant(command), 2, refused);
  EXPECT_FALSE(std::filesystem::exists(out));
}

// The workflow's precision or a task's own: what no device type of the task has a rate for is the plan's fault.
TEST(BadPlan, NamesTheTaskWhosePrecisionItsDevicesLack) {
  const TinyFolder folder;
  const std::string file = folder.file("fp4.json");
  auto plan = load_document<Plan>(data("plan.json")).content;
  plan.tasks.at("actor_training").execution.precision = Precision::fp4;
  save_document(file, plan);
  expect_one_line(predict(data("cluster.json"), file), 2,
                  "sextant: " + file + ": /tasks/actor_training/execution/precision: device type \"");
}

// Sizes, shares and errors are numbers; what is none is named, in one readable line.
TEST(BadOption, NumbersAreReadable) {
  const std::string runs = data("runs.json"), coefficients = data("coefficients.json");
  struct Wrong {
    std::vector<std::string> command;
    const char* says;
  };
  const Wrong all[] = {{{"calibrate", runs, "--hold-out", "nan"},
                        "sextant: --hold-out: expected a number from 0 to 0.900, got \"nan\""},
                       {{"calibrate", runs, "--suggest", "2", "--budget", "-1"},
                        "sextant: --budget: expected a number above 0, got \"-1\""},
                       {{"calibrate", runs, "--suggest", "2", "--budget", "inf"},
                        "sextant: --budget: expected a number above 0, got \"inf\""},
                       {{"validate", runs, "--coefficients", coefficients, "--max-task-error", "-3"},
                        "sextant: --max-task-error: expected a number above 0, got \"-3\""}};
  for (const Wrong& wrong : all) {
    const Printed printed = run_sextant(wrong.command);
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_EQ(lines_of(printed.err).front(), wrong.says);
  }
}

TEST(BadCoefficients, FarOutsideOfTheBoundsAreRefusedByPath) {
  const TinyFolder folder;
  const std::string file = folder.file("coefficients.json");
  Coefficients coefficients;
  Coefficient entry;
  entry.id = CoefficientId::training_efficiency;
  entry.value = 50;
  coefficients.values.push_back(entry);
  save_document(file, coefficients);
  expect_one_line(run_sextant(folder.with_plan("predict", {"--coefficients", file})), 2,
                  "sextant: " + file +
                      ": /values/0/value: far outside 0.02 to 2.0, the bounds of training_efficiency, got 50");
}

TEST(ImportCommand, WithoutRunsWritesNothingAndExits1) {
  const TinyFolder folder;
  const std::string log = folder.file("run.log"), out = folder.file("runs.json");
  write_text_file(log, "nothing here\n");
  const Printed printed = run_sextant({"import", "verl", log, "--out", out});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("left out run: it has no values by step\n"));
  EXPECT_THAT(printed.err, HasSubstr("sextant: no runs, 1 records left out: nothing written\n"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

// A file's fault begins with its name and then the place.
TEST(ImportCommand, NamesFileAndPlace) {
  const TinyFolder folder;
  const std::string file = folder.file("numbers.json");
  write_text_file(file, "{\"schema\": \"x\"}\n");
  expect_one_line(run_sextant({"import", "verl", file, "--out", folder.file("runs.json")}), 2,
                  "sextant: " + file + ": /");
}

// Every command checks its output before it reads or computes anything: these inputs do not exist.
TEST(OutputFile, IsCheckedFirst) {
  const TinyFolder folder;
  const std::string missing = folder.file("results") + "/out.json";
  const std::vector<std::vector<std::string>> commands{{"predict", "--out"},
                                                       {"predict", "--plan-out"},
                                                       {"plan", "--out"},
                                                       {"plan", "--prediction"},
                                                       {"plan", "--search-out"},
                                                       {"plan", "--explain-out"},
                                                       {"calibrate", "x", "--out"},
                                                       {"import", "verl", "x", "--out"},
                                                       {"validate", "x", "--coefficients", "x", "--out"},
                                                       {"export", "x", "--out"},
                                                       {"report", "x", "--out"},
                                                       {"report", "x", "--markdown"},
                                                       {"probe", "--out"},
                                                       {"probe", "--samples"},
                                                       {"proxy", "--out"},
                                                       {"trace", "--out"},
                                                       {"coschedule", "simulate", "--out"},
                                                       {"reproduce", "hetrl", "--out"},
                                                       {"accuracy", "--out"}};
  for (std::vector<std::string> command : commands) {
    const std::string option = command.back();
    command.push_back(missing);
    expect_one_line(
        run_sextant(command), 2,
        "sextant: " + option + ": there is no folder " + folder.file("results") + " for out.json; make it");
    command.back() = folder.path();  // a folder is no file, not even for root
    expect_one_line(run_sextant(command), 3, "sextant: cannot write " + folder.path() + ": Is a directory");
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("results")));
}

TEST(OutputFile, OfACheckIsLeftAsItWas) {
  const TinyFolder folder;
  const std::string out = folder.file("out.json");
  (void)run_sextant({"calibrate", "nowhere.json", "--out", out});
  EXPECT_FALSE(std::filesystem::exists(out));
  write_text_file(out, "kept");
  (void)run_sextant({"calibrate", "nowhere.json", "--out", out});
  EXPECT_EQ(read_text_file(out), "kept");
}

}  // namespace
}  // namespace sextant::test
