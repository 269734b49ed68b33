#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/predict.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <typename T>
T load(const std::string& file) {
  return load_document<T>(file).content;
}

std::vector<std::string> predict_data(const std::vector<std::string>& more) {
  std::vector<std::string> all{"predict",
                               "--cluster",
                               data("cluster.json"),
                               "--workflow",
                               data("workflow_ppo.json"),
                               "--plan",
                               data("plan.json"),
                               "--coefficients",
                               data("coefficients.json")};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Prediction asked() {
  const auto cluster = load<Cluster>(data("cluster.json"));
  const auto workflow = load<Workflow>(data("workflow_ppo.json"));
  const auto plan = load<Plan>(data("plan.json"));
  const auto coefficients = load<Coefficients>(data("coefficients.json"));
  Prediction prediction = predict_with_trust({cluster, workflow, plan, coefficients, kAny});
  prediction.coefficients = data("coefficients.json");
  prediction.framework = kAny;
  return prediction;
}

TEST(PredictCommand, WritesWhatTheModelSays) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "prediction.json";
  const Printed printed = run_sextant(predict_data({"--framework", "*", "--out", out}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + out + "\n");
  const auto written = load_document<Prediction>(out);
  EXPECT_EQ(written.content, asked());
  EXPECT_THAT(written.provenance.command, HasSubstr("predict --cluster"));
}

TEST(PredictCommand, WritesTheTimelineAsATrace) {
  const TemporaryFolder folder;
  const std::string trace = folder.path() / "trace.json";
  const Printed printed = run_sextant(predict_data({"--framework", "*", "--trace", trace}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + trace + "\n");
  const Json written = parse_json(read_text_file(trace));
  EXPECT_EQ(written["displayTimeUnit"], "ms");
  EXPECT_FALSE(written["traceEvents"].empty());
}

TEST(PredictCommand, ShowsTasksMemoryAndBottleneck) {
  const Printed printed = run_sextant(predict_data({"--framework", "*"}));
  EXPECT_THAT(printed.out, StartsWith("iteration  "));
  for (const auto& [name, task] : load<Plan>(data("plan.json")).tasks)
    EXPECT_THAT(printed.out, HasSubstr("\n" + name));
  EXPECT_THAT(printed.out, HasSubstr("\nbottleneck: "));
  EXPECT_EQ(printed.err, "");
}

TEST(PredictCommand, ListsWhatThePlanLeavesOut) {
  const Printed printed = run_sextant(predict_data({}));  // critic_inference has no micro_batch_sequences
  EXPECT_THAT(printed.out,
              HasSubstr("\nAssumed for critic_inference, whose plan does not say: micro-batches of one "
                        "sequence (micro_batch_sequences).\n"));
  const auto prediction = parse_document<Prediction>(run_sextant(predict_data({"--json"})).out).content;
  EXPECT_EQ(prediction.notes.size(), 1U);
}

TEST(PredictCommand, RowsSumToTheIterationOrSayByHowMuchTasksOverlap) {
  const TinyFolder folder;
  Coefficient overhead;
  overhead.id = CoefficientId::iteration_overhead_s;
  overhead.value = 3;
  Coefficients coefficients;
  coefficients.values.push_back(overhead);
  save_document(folder.file("coefficients.json"), coefficients);
  const std::vector<std::string> with = {"--coefficients", folder.file("coefficients.json")};
  const Printed one_by_one = run_sextant(folder.with_plan("predict", with));
  EXPECT_THAT(one_by_one.out, HasSubstr("\ncontroller "));
  EXPECT_THAT(one_by_one.out, Not(HasSubstr("The rows sum to")));
  const auto prediction =
      parse_document<Prediction>(
          run_sextant(folder.with_plan("predict", {"--json", with.front(), with.back()})).out)
          .content;
  EXPECT_EQ(prediction.controller_s, 3);
}

TEST(PredictCommand, JsonIsTheDocumentAndNothingElse) {
  const Printed printed = run_sextant(predict_data({"--framework", "*", "--json"}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(parse_document<Prediction>(printed.out).content.tasks.size(), 6U);
}

// The fixture has coefficients of one framework and of all.
TEST(PredictCommand, UsesTheFrameworkAsked) {
  const auto time_of = [](const std::vector<std::string>& more) {
    return parse_document<Prediction>(run_sextant(predict_data(more)).out)
        .content.tasks.at("actor_training")
        .time_s;
  };
  EXPECT_NE(time_of({"--json", "--framework", "sextant-proxy"}), time_of({"--json", "--framework", "*"}));
  EXPECT_EQ(time_of({"--json", "--framework", "sextant-proxy"}),
            time_of({"--json"}));  // the only one of the file
}

TEST(PredictCommand, Exits1WhenThePlanDoesNotFit) {
  const TinyFolder folder;
  EXPECT_EQ(run_sextant(folder.with_plan("predict", {})).exit_code, 0);
  save_document(folder.file("cluster.json"), with_memory(test::two_cores(), 1e4));
  const Printed printed = run_sextant(folder.with_plan("predict", {}));
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.out, HasSubstr("does not fit"));
}

TEST(PredictCommand, NamesTheNearestRunAndSaysExtrapolating) {
  std::vector<std::string> arguments = predict_data({});
  arguments.back() = data("coefficients_fitted.json");
  const Printed printed = run_sextant(arguments);
  EXPECT_THAT(printed.out, HasSubstr("actor_generation: extrapolating: no generation was calibrated\n"));
  EXPECT_THAT(printed.out, HasSubstr("actor_training: nearest calibrated run grpo-split-1 ("));
}

TEST(PredictCommand, SensitivitiesNameCoefficientsAndHardware) {
  const Printed table = run_sextant(predict_data({"--sensitivities"}));
  EXPECT_THAT(table.out, HasSubstr("\ntraining_efficiency "));
  EXPECT_THAT(table.out, HasSubstr("\nflop_per_s "));
  const Printed json = run_sextant(predict_data({"--sensitivities", "--json"}));
  const Prediction prediction = parse_document<Prediction>(json.out).content;
  ASSERT_FALSE(prediction.sensitivities.empty());
  EXPECT_THAT(table.out, Not(HasSubstr("-0 %")));
  EXPECT_THAT(table.out, Not(HasSubstr("-0.00 %")));
  EXPECT_TRUE(prediction.sensitivities.back().is_hardware);
}

// One replica has nothing to shard over.
TEST(PredictCommand, SaysThatSequencesExceedAMicroBatchOfVerl) {
  const auto printed = [](const std::string& tokens) {
    return run_sextant({"predict", "--gpus", "2x8xH100", "--model", "Qwen3-8B", "--framework", "verl",
                        "--train", "fsdp=16,tokens=" + tokens, "--rollout", "tp=2"})
        .out;
  };
  EXPECT_THAT(printed("2048"),
              HasSubstr("cannot run this: micro-batches of 2048 tokens in actor_training, where "
                        "sequences have up to 5120"));
  EXPECT_THAT(printed("5120"), Not(HasSubstr("micro-batches of")));
}

TEST(PredictCommand, DoesNotNameZeroOnOneGpu) {
  const auto output = [](const std::string& gpus) {
    const Printed printed = run_sextant({"plan", "--gpus", gpus, "--model", "Qwen3-0.6B", "--framework",
                                         "verl-fsdp", "--prompts", "8", "--evaluations", "300"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    return printed.out;
  };
  EXPECT_THAT(output("1xH100"), Not(HasSubstr("ZeRO")));
  EXPECT_THAT(output("2xH100"), HasSubstr("ZeRO 3"));
  const Printed predicted = run_sextant({"predict", "--gpus", "1xH100", "--model", "Qwen3-0.6B", "--framework",
                                         "verl-fsdp", "--train", "tp=1", "--rollout", "tp=1"});
  EXPECT_THAT(predicted.out + predicted.err, Not(HasSubstr("zero_stage")));
}

}  // namespace
}  // namespace sextant::test
