#include "calibrate/import/verl/verl_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "calibrate/import/records/python_literal.h"
#include "core/json_value.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::map<std::string, double> values_of(const Metrics& metrics) {
  std::map<std::string, double> values;
  for (const auto& [name, value] : metrics) values[std::string(name)] = value;
  return values;
}

std::map<std::string, double> only_step(const VerlLog& log) {
  EXPECT_EQ(log.steps.size(), 1U);
  return log.steps.empty() ? std::map<std::string, double>{} : values_of(log.steps.front().metrics);
}

std::vector<int> numbers(const VerlLog& log) {
  std::vector<int> out;
  for (const VerlStep& step : log.steps) out.push_back(step.number);
  return out;
}

TEST(VerlLogTest, ReadsTheOldLineWithItsPrefix) {
  const VerlLog log = parse_verl_console(
      "(main_task pid=19799) step:383 - global_seqlen/min:5710.000 - timing_s/gen:1.977 - "
      "timing_s/step:5.609\n");
  EXPECT_EQ(numbers(log), std::vector<int>{383});
  EXPECT_THAT(only_step(log), UnorderedElementsAre(Pair("global_seqlen/min", 5710), Pair("timing_s/gen", 1.977),
                                                   Pair("timing_s/step", 5.609)));
}

TEST(VerlLogTest, ReadsNumbersAsPythonPrintsThem) {
  const VerlLog log = parse_verl_console(
      "step:1 - a:np.float64(0.25) - b:np.int64(100) - c:tensor(0.5) - d:1e-06 - e:-3.86e-05 - f:nan - g:inf - "
      "h:True - i:None - j:tensor(2.5, device='cuda:0')\n");
  EXPECT_THAT(only_step(log), UnorderedElementsAre(Pair("a", 0.25), Pair("b", 100), Pair("c", 0.5),
                                                   Pair("d", 1e-6), Pair("e", -3.86e-5), Pair("j", 2.5)));
}

TEST(VerlLogTest, SeesThroughColoursAndProgressBars) {
  const VerlLog log = parse_verl_console(
      "\x1b[36m(TaskRunner pid=7, ip=10.0.0.1)\x1b[0m step:2 - timing_s/gen:16.5 - timing_s/step:48.75"
      "Training Progress:  16%|#  | 2/12\r[36m(TaskRunner pid=7)[0m other: words [repeated 7x across "
      "cluster]\n");
  EXPECT_THAT(only_step(log), UnorderedElementsAre(Pair("timing_s/gen", 16.5), Pair("timing_s/step", 48.75)));
}

TEST(VerlLogTest, IsNotMisledByLinesOfOtherProcesses) {
  const VerlLog log = parse_verl_console(
      "(TaskRunner pid=7) step:2 - timing_s/gen:16.5 - timing_s/step:4(WorkerDict pid=9) loading step:9000 "
      "words\n"
      "training/global_step:4 - no\n");
  EXPECT_THAT(only_step(log), UnorderedElementsAre(Pair("timing_s/gen", 16.5), Pair("timing_s/step", 4)));
}

// Terminals break at their width, also inside a key or a number.
TEST(VerlLogTest, JoinsHardWraps) {
  const std::string line =
      "step:3 - global_seqlen/min:159906 - timing_s/gen:16.22749171219766 - timing_s/update_actor:20.5 - "
      "timing_s/old_log_prob:3.25 - response_length/mean:211.5 - timing_s/step:48.75";
  for (std::size_t width = 80; width < line.size(); ++width) {
    std::string wrapped;
    for (std::size_t at = 0; at < line.size(); at += width) wrapped += line.substr(at, width) + "\n";
    EXPECT_EQ(only_step(parse_verl_console(wrapped)), only_step(parse_verl_console(line))) << width;
  }
}

TEST(VerlLogTest, ReadsAKeyALine) {
  const VerlLog log =
      parse_verl_console("step:1\n - timing_s/gen:16.5\n - timing_s/step:48.75\n\n - other:1\n");
  EXPECT_THAT(only_step(log), UnorderedElementsAre(Pair("timing_s/gen", 16.5), Pair("timing_s/step", 48.75)));
}

TEST(VerlLogTest, LetsTheLaterLineOfAStepWinKeyByKey) {
  const VerlLog log = parse_verl_console("step:1 - a:1 - b:1\nstep:1 - b:2 - c:2\n");
  EXPECT_THAT(only_step(log), UnorderedElementsAre(Pair("a", 1), Pair("b", 2), Pair("c", 2)));
  EXPECT_EQ(log.restarts, 0);
}

TEST(VerlLogTest, CountsRestarts) {
  const VerlLog log =
      parse_verl_console("step:1 - a:1\nstep:2 - a:2\nstep:3 - a:3\nstep:2 - a:5\nstep:3 - a:6\n");
  EXPECT_EQ(numbers(log), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(log.restarts, 1);
  EXPECT_EQ(log.steps[1].at("a"), 5);
  EXPECT_TRUE(log.steps[0].is_first_of_process);
  EXPECT_TRUE(log.steps[1].is_first_of_process);
  EXPECT_FALSE(log.steps[2].is_first_of_process);
}

// Names at other places than in the line before, once and twice.
TEST(VerlLogTest, LinesMayDifferInTheirMetrics) {
  const VerlLog log = parse_verl_console(
      "step:1 - a:1 - b:2 - c:3\nstep:2 - a:4 - val:5 - b:6 - c:7\nstep:3 - a:8 - b:9 - c:10\n"
      "step:4 - c:11 - a:12 - a:13 - c:14\nstep:5 - c:15 - a:16 - b:17\n");
  std::vector<std::map<std::string, double>> steps;
  for (const VerlStep& step : log.steps) steps.push_back(values_of(step.metrics));
  EXPECT_THAT(steps, ElementsAre(UnorderedElementsAre(Pair("a", 1), Pair("b", 2), Pair("c", 3)),
                                 UnorderedElementsAre(Pair("a", 4), Pair("val", 5), Pair("b", 6), Pair("c", 7)),
                                 UnorderedElementsAre(Pair("a", 8), Pair("b", 9), Pair("c", 10)),
                                 UnorderedElementsAre(Pair("a", 13), Pair("c", 14)),
                                 UnorderedElementsAre(Pair("a", 16), Pair("b", 17), Pair("c", 15))));
}

constexpr const char* kConfig =
    "(main_task pid=13624) {'actor_rollout_ref': {'actor': {'ppo_mini_batch_size': 256,\n"
    "(main_task pid=13624)                                  'use_dynamic_bsz': False},\n"
    "(WorkerDict pid=13700) a line of a worker\n"
    "(main_task pid=13624)                        'model': {'path': 'Qwen/'\n"
    "(main_task pid=13624)                                          'Qwen2.5-7B'}},\n"
    "(main_task pid=13624)  'data': {'return_raw_input_ids': False,(main_task pid=13624) /usr/local/lib: word\n"
    "(main_task pid=13624)           'train_batch_size': 1024},\n"
    "(main_task pid=13624)  'trainer': {'logger': ['console', 'wandb'], 'nnodes': 1}}\n"
    "(main_task pid=13624) step:1 - timing_s/gen:2\n";

TEST(VerlLogTest, ReadsTheConfigurationItPrints) {
  const VerlLog log = parse_verl_console(kConfig);
  EXPECT_EQ(log.config.at("actor_rollout_ref.actor.ppo_mini_batch_size"), 256);
  EXPECT_EQ(log.config.at("actor_rollout_ref.actor.use_dynamic_bsz"), false);
  EXPECT_EQ(log.config.at("actor_rollout_ref.model.path"), "Qwen/Qwen2.5-7B");
  EXPECT_EQ(log.config.at("data.train_batch_size"), 1024);
  EXPECT_EQ(numbers(log), std::vector<int>{1});
}

TEST(VerlLogTest, DoesWithoutAConfigurationThatIsCutOff) {
  const std::string text = kConfig;
  EXPECT_TRUE(parse_verl_console(text.substr(0, text.size() / 2)).config.empty());
}

TEST(VerlLogTest, ReadsJsonLines) {
  const VerlLog log = parse_verl_jsonl(
      "{\"step\":1,\"data\":{\"timing_s/gen\":16.2,\"a\":NaN,\"b\":\"text\",\"c\":-Infinity}}\n"
      "{\"step\":2,\"data\":{\"timing_s/gen\":15.0}}\n"
      "{\"step\":-1,\"data\":{\"timing_s/gen\":15.0}}\n"
      "{\"step\":3,\"data\":{\"timing_s/ge");
  EXPECT_EQ(numbers(log), (std::vector<int>{1, 2}));
  EXPECT_THAT(values_of(log.steps.front().metrics), ElementsAre(Pair("timing_s/gen", 16.2)));
}

TEST(PythonLiteralTest, ReadsNestedLiterals) {
  const std::optional<Json> value = parse_python_literal(
      "{'a': [1, -2.5, None, (True, 'it''s')], 'b': {}, 'c': \"x\\\"y\", 'd': inf,} trailing");
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(*value, Json::parse(R"({"a": [1, -2.5, null, [true, "its"]], "b": {}, "c": "x\"y", "d": null})"));
}

TEST(PythonLiteralTest, RefusesWhatIsNoLiteral) {
  for (const char* text :
       {"", "list(range(0,16))", "{'a' 1}", "{'a': 1", "['a'", "'a", "{1: 2}", "os.system", "1.2.3"}) {
    EXPECT_FALSE(parse_python_literal(text).has_value()) << text;
  }
  for (const char open : {'[', '(', '{'})  // a key of a dictionary may nest as deep as a value
    EXPECT_FALSE(parse_python_literal(std::string(100000, open)).has_value()) << open;
}

// Whatever is done to a log, reading it ends, and what is read are finite numbers.
TEST(VerlLogTest, SurvivesGarbage) {
  constexpr int kTrials = 3000;
  const std::string line =
      "\x1b[36m(TaskRunner pid=7)\x1b[0m step:2 - timing_s/gen:np.float64(16.5) - a:-1e-05 - "
      "timing_s/step:48.75\n";
  const std::string seed_text = kConfig + line + "{\"step\":1,\"data\":{\"timing_s/gen\":16.2,\"a\":NaN}}\n";
  const std::string alphabet = "step:1 - a{}[]()'\",\\\x1b[36m\n\r\t.-+e9%|\xff\x01:NaN";
  std::mt19937 random(20240501);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string text = seed_text;
    const int changes = 1 + static_cast<int>(random() % 40);
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 4) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text.erase(at, 1 + random() % 30);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 60));
          break;
      }
      if (text.empty()) text = c;
    }
    for (const VerlLog& log : {parse_verl_console(text), parse_verl_jsonl(text)}) {
      for (const VerlStep& step : log.steps) {
        for (const auto& [key, value] : step.metrics) EXPECT_TRUE(std::isfinite(value)) << text;
      }
    }
  }
}

}  // namespace
}  // namespace sextant
