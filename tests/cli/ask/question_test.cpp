// Questions in one line, asked of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/search.h"
#include "sextant/workflow.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Runs the program with the words of a command line.
Printed sextant(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  return run_sextant(arguments);
}

TEST(Question, NeedsNoDocument) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "asked";
  const Printed result = sextant(
      "plan --gpus 2x8xH100 --model Qwen/Qwen3-8B --framework verl --prompts 128 "
      "--responses 8 --prompt-tokens mean=400,max=1024 --response-tokens mean=1500,max=4096 "
      "--evaluations 300 --save-inputs " +
      folder.string() + " --out " + (folder / "plan.json").string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("actor_training"), HasSubstr("iteration")));
  EXPECT_THAT(result.err, HasSubstr("--mini-batches 1"));
  const auto workflow = load_document<Workflow>(folder / "workflow.json").content;
  EXPECT_EQ(workflow.sequences(), 1024);
  EXPECT_EQ(workflow.models.at("actor").name, "Qwen3-8B");
  EXPECT_TRUE(workflow.has_task(task_names::kReferenceInference));
  // The same question as documents.
  const Printed again =
      sextant("predict --framework verl --cluster " + (folder / "cluster.json").string() + " --workflow " +
              (folder / "workflow.json").string() + " --plan " + (folder / "plan.json").string());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  // The plan names its framework.
  const Printed unsaid =
      sextant("predict --cluster " + (folder / "cluster.json").string() + " --workflow " +
              (folder / "workflow.json").string() + " --plan " + (folder / "plan.json").string());
  EXPECT_EQ(unsaid.out, again.out);
  EXPECT_THAT(unsaid.err, HasSubstr("The plan was made for verl-fsdp"));
}

// The layout that the answer is compared with takes the time that predict says of it.
TEST(Question, SaysWhatThePlanGainsAndWhichNumberIsLeastKnown) {
  const std::string asked = " --gpus 2x8xH100 --model Qwen/Qwen3-8B --framework verl-megatron --prompts 128 ";
  const std::string out = sextant("plan --evaluations 20000" + asked).out;
  static const std::regex gain(
      R"(beats the smallest degrees that fit \((--train \S+ --rollout \S+), .*\), which take (\S+ s), \S+ % more; this plan is faster with)");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(out, found, gain)) << out;
  const Printed by_hand = sextant("predict" + asked + found[1].str());
  EXPECT_EQ(by_hand.exit_code, 0) << by_hand.err;
  EXPECT_THAT(by_hand.out, HasSubstr("iteration  " + found[2].str() + " ("));
  static const std::regex least(R"(least known: (\w+) \(.*\), [0-9.]+ % of the variance of the time)");
  ASSERT_TRUE(std::regex_search(out, found, least)) << out;
  EXPECT_EQ(sextant("coefficients " + found[1].str()).exit_code, 0);
}

double weight_sync_s(const std::string& network) {
  const Printed printed = sextant(
      "predict --json --gpus 4x8xH100 --model Qwen3-32B --framework verl --train "
      "fsdp=32 --rollout tp=4 --network " +
      network);
  return parse_document<Prediction>(printed.out).content.weight_sync_s;
}

// 65.5 GB of weights reach every GPU: 20 s at the 3.125 GB/s of tcp-25. What software does with each byte takes no longer
// there than on the networks of the runs that it was fitted to.
TEST(Question, ASlowNetworkCarriesWeightsAtItsRate) {
  EXPECT_GT(weight_sync_s("tcp-25"), 20);
  EXPECT_LT(weight_sync_s("tcp-25"), 50);
  EXPECT_LT(weight_sync_s("roce-200"), 10);
}

// NeMo RL with trajectories of one version at most makes a batch when new weights are there, whatever the mode is called.
TEST(Question, OneBatchAheadIsOneStepOff) {
  const auto iteration_s = [](const std::string& mode) {
    return parse_document<Prediction>(
               sextant("predict --json --gpus 2x8xH100 --model Qwen3-8B --framework nemo-rl-megatron "
                       "--train tp=2,gpus=8-15 --rollout tp=1,gpus=0-7 --mode " +
                       mode)
                   .out)
        .content.iteration_s;
  };
  EXPECT_DOUBLE_EQ(iteration_s("asynchronous --staleness 1"), iteration_s("one_step_off"));
  EXPECT_LT(iteration_s("asynchronous --staleness 2"), iteration_s("one_step_off"));
}

// verl trains adapters on an actor that is its own reference, with frozen weights in bf16 because the script says so.
TEST(Question, AdaptersShareTheWeightsOfActorAndReference) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "adapters";
  const std::string asked = " --gpus 8xH100 --model Qwen2.5-32B --framework verl --prompts 64";
  std::filesystem::create_directories(folder);
  const std::string plan = (folder / "plan.json").string();
  ASSERT_EQ(sextant("plan --lora-rank 32 --evaluations 3000 --out " + plan + asked).exit_code, 0);
  const Prediction prediction =
      parse_document<Prediction>(sextant("predict --json --plan " + plan + asked).out).content;
  // The weights of the actor in bf16 and the engines', once each: tensor parallelism of the engines is at least 2.
  ASSERT_EQ(prediction.host_memory.size(), 1U);
  EXPECT_LT(prediction.host_memory.front().needed_bytes, 1.1 * 2 * 32.8e9 * (1 + 4) + 10e9);
  const std::string script = (folder / "train.sh").string();
  ASSERT_EQ(sextant("export " + plan + " --out " + script + asked).exit_code, 0);
  EXPECT_THAT(read_text_file(script), HasSubstr("actor_rollout_ref.actor.fsdp_config.model_dtype=bf16"));
}

TEST(Question, AdaptersAreALayoutInWords) {
  const std::string asked = "predict --json --gpus 8xH100 --model Qwen2.5-32B --framework verl --rollout tp=2 ";
  const auto predicted = [&](const std::string& words) {
    return parse_document<Prediction>(sextant(asked + words).out).content;
  };
  const Prediction adapters = predicted("--train fsdp=8,lora=32"), all = predicted("--train fsdp=8");
  EXPECT_LT(adapters.memory.front().resident_bytes, 0.5 * all.memory.front().resident_bytes);
  EXPECT_LT(adapters.tasks.at("actor_training").time_s, all.tasks.at("actor_training").time_s);
  EXPECT_THAT(sextant("predict --gpus 8xH100 --model Qwen2.5-32B --train fsdp=8 --rollout tp=2,lora=4").err,
              HasSubstr("--rollout: only training has adapters"));
}

TEST(Question, SkyRlOffersItsOffloadAndHasTheValuesOfAllFrameworks) {
  const Printed printed = sextant("plan --gpus 2xH100 --model Qwen3-8B --framework skyrl --evaluations 3000");
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("optimizer on the host"));
  EXPECT_THAT(printed.err, HasSubstr("no values of framework \"skyrl-fsdp\""));
}

TEST(Question, TakesALayoutInWords) {
  const std::string asked = "predict --gpus 4x8xH100 --model Qwen3-14B --framework verl ";
  const Printed result = sextant(asked + "--train fsdp=32 --rollout tp=2");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("actor_generation"), HasSubstr("continuous_batching")));
  EXPECT_EQ(sextant(asked + "--train fsdp=16 --rollout tp=2").exit_code, 2);
  const auto refusal = [&](const std::string& words) { return sextant(asked + words).err; };
  EXPECT_THAT(refusal("--train fsdp=16 --rollout tp=2"), HasSubstr("does not fill 32 GPUs"));
  EXPECT_THAT(refusal("--train tp=3 --rollout tp=2"), HasSubstr("--train"));
  EXPECT_THAT(refusal("--train fsdp=32 --rollout tp=2,tp=4"), HasSubstr("tp is given twice"));
  EXPECT_THAT(refusal("--train fsdp=32 --rollout zero=3"), HasSubstr("an engine has no zero"));
  EXPECT_THAT(refusal("--train xp=3 --rollout tp=2"), HasSubstr("xp=3"));
  EXPECT_THAT(refusal("--train fsdp=32"), HasSubstr("--rollout: the layout of generation is missing"));
  EXPECT_THAT(refusal("--train tp=2,gpus=8-99 --rollout tp=2"), HasSubstr("0 to 31"));
  EXPECT_THAT(refusal("--train dp=8,fsdp=8 --rollout tp=2"), HasSubstr("fsdp or dp"));
  EXPECT_THAT(refusal("--train tp=99999999 --rollout tp=2"), HasSubstr("whole number"));
  EXPECT_THAT(refusal(""), HasSubstr("the plan is missing"));
}

TEST(Question, ARuleTakesTheSecondsThatItIsGiven) {
  const std::string asked =
      "predict --gpus 4x8xH100 --model Qwen3-14B --framework verl --prompts 512 --responses 8 --train fsdp=32 "
      "--rollout tp=2";
  const Printed free = sextant(asked), paid = sextant(asked + " --reward-model rule=0.0025");
  EXPECT_THAT(free.err, HasSubstr("--reward-model rule=0 (seconds for a response)"));
  EXPECT_THAT(paid.err,
              AllOf(Not(HasSubstr("--reward-model")), HasSubstr("--reward-workers 8 (during generation)")));
  EXPECT_THAT(free.out, Not(HasSubstr("rule reward")));
  // verl's agent loops hide them; 4096 responses one after the other take 1024 s.
  EXPECT_THAT(paid.out, Not(HasSubstr("rule reward")));
  EXPECT_THAT(sextant(asked + " --reward-model rule=0.25 --reward-workers 1").out,
              HasSubstr("the rule scores 1 at a time and takes 1024 s for all responses"));
  // TRL's processes score after generation, each its own.
  const Printed after = sextant(
      "predict --gpus 4x8xH100 --model Qwen3-14B --framework trl --prompts 512 --responses 8 --train fsdp=32 "
      "--rollout tp=2 --reward-model rule=0.25");
  EXPECT_THAT(after.out, HasSubstr("rule reward       32.0 s"));
  EXPECT_THAT(sextant(asked + " --reward-workers 4").err,
              HasSubstr("--reward-workers: a rule without seconds"));
  for (const char* wrong : {"rule=", "rule=-1", "rule=1e9", "rule=2ms", "rule=nan"}) {
    const Printed refused = sextant(asked + " --reward-model " + wrong);
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("expected rule=SECONDS")) << wrong;
  }
}

// Four waits of 30 s, and 400 tokens of tools more in each response.
TEST(Question, TurnsWaitForTheirEnvironment) {
  const std::string asked =
      "predict --gpus 4x8xH100 --model Qwen3-14B --framework verl --train fsdp=32 --rollout tp=2 --turns 5";
  const auto iteration_s = [](const std::string& words) {
    const Printed printed = sextant(words + " --json");
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    return Json::parse(printed.out)["iteration_s"].get<double>();
  };
  EXPECT_THAT(sextant(asked).err, HasSubstr("--environment-seconds 0, --observation-tokens 0"));
  const double at_once = iteration_s(asked), waiting = iteration_s(asked + " --environment-seconds 30");
  EXPECT_NEAR(waiting - at_once, 120, 1);
  EXPECT_GT(iteration_s(asked + " --environment-seconds 30 --observation-tokens 400"), waiting);
  const Printed alone = sextant("plan --gpus 8xH100 --model Qwen3-8B --environment-seconds 3");
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("give --turns 2 or more"));
}

TEST(Question, PpoTakesARule) {
  const std::string asked = "predict --gpus 8xH100 --model Qwen3-8B --algorithm ppo --prompts 512 ";
  const std::string layout = " --train fsdp=8 --rollout tp=2", verl = asked + "--framework verl" + layout;
  for (const char* words : {" --reward-model rule", " --reward-model rule=0.01"}) {
    const Printed ruled = sextant(verl + words);
    EXPECT_EQ(ruled.exit_code, 0) << ruled.err;
    EXPECT_THAT(ruled.out, AllOf(HasSubstr("critic_training"), Not(HasSubstr("reward_inference")))) << words;
  }
  EXPECT_THAT(sextant(verl + " --reward-model Qwen3-4B").out, HasSubstr("reward_inference"));
  // verl scores with functions by default, OpenRLHF with a model.
  EXPECT_THAT(sextant(verl).out, Not(HasSubstr("reward_inference")));
  const Printed of_model = sextant(asked + "--framework openrlhf" + layout);
  EXPECT_THAT(of_model.out, HasSubstr("reward_inference"));
  EXPECT_THAT(of_model.err, HasSubstr("--reward-model Qwen3-8B (rule or rule=SECONDS"));
}

// slime takes the log-probabilities of its own first pass for one optimizer step of GRPO alone
// (slime/backends/megatron_utils/actor.py, can_reuse_log_probs_in_loss); miles always computes them.
TEST(Question, SlimeComputesLogProbabilitiesAgainWithACriticOrSeveralSteps) {
  const std::string asked = "predict --gpus 8xH100 --model Qwen3-8B --train dp=8 --rollout tp=2 --framework ";
  EXPECT_THAT(sextant(asked + "slime").out, Not(HasSubstr("old_log_prob")));
  EXPECT_THAT(sextant(asked + "slime --algorithm ppo").out, HasSubstr("old_log_prob"));
  EXPECT_THAT(sextant(asked + "slime --mini-batches 4").out, HasSubstr("old_log_prob"));
  EXPECT_THAT(sextant(asked + "miles").out, HasSubstr("old_log_prob"));
}

TEST(Question, OldGpusAreToldTheirPrecisionAndAttention) {
  const std::string asked = "plan --gpus 2x4xT4 --model Qwen2.5-1.5B --framework verl --evaluations 200";
  const Printed refused = sextant(asked);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("T4 has no bf16 (it has fp16); compute in fp16 (--precision fp16"));
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "old";
  const std::string plan = (folder / "plan.json").string();
  const Printed planned =
      sextant(asked + " --precision fp16 --save-inputs " + folder.string() + " --out " + plan);
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  const Printed exported =
      sextant("export " + plan + " --to verl --cluster " + (folder / "cluster.json").string() + " --workflow " +
              (folder / "workflow.json").string());
  EXPECT_THAT(exported.out, AllOf(HasSubstr("actor_rollout_ref.rollout.dtype=float16"),
                                  HasSubstr("actor_rollout_ref.actor.fsdp_config.dtype=float16")));
  EXPECT_THAT(planned.err, AllOf(HasSubstr("FlashAttention 2 needs GPUs of compute capability 8.0, T4 has 7.5"),
                                 HasSubstr("use_remove_padding=False")));
  const std::string newer = "plan --gpus 8xH100 --model Qwen2.5-1.5B --framework verl --evaluations 200";
  EXPECT_THAT(sextant(newer).err, Not(HasSubstr("FlashAttention")));
}

TEST(Question, TrainersOnlyComputeInPrecisionsThatTheyHave) {
  const std::string asked = " --gpus 8xH100 --model Qwen3-8B --precision fp8 --framework ";
  const std::string why = " in fp8; it computes in ";
  for (const char* framework : {"verl", "nemo-rl", "openrlhf", "areal", "skyrl", "trl", "roll"}) {
    const Printed refused = sextant("plan" + asked + framework);
    EXPECT_EQ(refused.exit_code, 2) << framework;
    EXPECT_THAT(refused.err, HasSubstr(why)) << framework;
  }
  const Printed predicted = sextant("predict --train fsdp=8 --rollout tp=2" + asked + "verl");
  EXPECT_THAT(predicted.out + predicted.err, HasSubstr(why));
  EXPECT_EQ(sextant("plan --evaluations 100" + asked + "verl-megatron").exit_code, 0);
  // Its engines are in bf16, whatever the trainer is told (openrlhf/trainer/ray/vllm_engine.py).
  const std::string half = " --gpus 8xT4 --model Qwen2.5-1.5B --precision fp16 --framework openrlhf";
  EXPECT_THAT(sextant("plan" + half).err, HasSubstr("no generation in fp16; it computes in bf16"));
}

TEST(Question, EnginesThatOnlyGenerateAreRefusedForTraining) {
  for (const char* engine : {"vllm", "sglang", "tensorrt-llm", "lmdeploy", "vllm-0.6"}) {
    const std::string words = "--gpus 8xH100 --model Qwen3-8B --framework " + std::string(engine);
    for (const std::string& line : {"plan " + words, "predict " + words + " --train fsdp=8 --rollout tp=2"}) {
      const Printed result = sextant(line);
      EXPECT_EQ(result.exit_code, 2) << line;
      EXPECT_THAT(result.err, AllOf(HasSubstr("engine that only generates"), HasSubstr("nemo-rl, openrlhf")))
          << line;
    }
  }
}

// In asynchronous modes verl keeps generation and training on devices of their own.
TEST(Question, ComparedModesAreThePlansOfEachMode) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "modes";
  const std::string asked = "plan --gpus 2x8xH100 --model Qwen3-8B --framework verl --evaluations 300 ";
  const Printed compared = sextant(asked + "--compare-modes --json --save-inputs " + folder.string());
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const Json modes = parse_json(compared.out);
  ASSERT_EQ(modes.size(), 4U);
  const std::string cluster = "--framework verl --cluster " + (folder / "cluster.json").string();
  for (const Json& row : modes) {
    auto workflow = load_document<Workflow>(folder / "workflow.json").content;
    const double staleness = row.at("staleness").get<double>();
    workflow.staleness = staleness;
    workflow.streamed_parts = row.at("streamed_parts").get<int>();
    workflow.mode = staleness == 0                                   ? Mode::synchronous
                    : staleness == 1 && workflow.streamed_parts == 1 ? Mode::one_step_off
                                                                     : Mode::asynchronous;
    save_document(folder / "of_mode.json", workflow);
    const std::string question = cluster + " --workflow " + (folder / "of_mode.json").string();
    const std::string file = (folder / "plan.json").string();
    const Printed alone = sextant("plan --evaluations 300 --json " + question + " --out " + file);
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_EQ(parse_json(alone.out).at("tasks"), row.at("plan").at("tasks")) << row.at("mode");
    const Printed predicted = sextant("predict " + question + " --plan " + file);
    EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
    EXPECT_THAT(predicted.out, Not(HasSubstr("cannot run this"))) << row.at("mode");
  }
}

TEST(Question, ModesThatTheFrameworkLacksAreNotCompared) {
  const std::string asked =
      "plan --gpus 2x8xH100 --model Qwen3-8B --evaluations 100 --compare-modes --framework ";
  EXPECT_THAT(sextant(asked + "trl").out, HasSubstr("not offered by trl"));
  const Printed only_asynchronous = sextant(asked + "prime-rl");
  EXPECT_EQ(only_asynchronous.exit_code, 0) << only_asynchronous.err;
  EXPECT_THAT(only_asynchronous.out, HasSubstr("not offered by prime-rl"));
}

// States of all weights take 24.7 GB, more than the card has.
TEST(Question, TrainsAdaptersWhereTheWholeModelDoesNotFit) {
  const std::string asked = "plan --gpus 1xRTX-4090 --model Qwen2.5-1.5B --evaluations 500 --framework ";
  const Printed whole = sextant(asked + "verl");
  EXPECT_EQ(whole.exit_code, 1);
  EXPECT_THAT(whole.err, AllOf(HasSubstr("with LoRA (--lora-rank 32) one does"), Not(HasSubstr("more node"))));
  const Printed adapters = sextant(asked + "verl --lora-rank 32");
  EXPECT_EQ(adapters.exit_code, 0) << adapters.err;
  EXPECT_THAT(adapters.out, HasSubstr("LoRA of rank 32"));
  EXPECT_THAT(sextant(asked + "slime --lora-rank 32").err, HasSubstr("has no LoRA"));
}

// Options of so many experts on so many GPUs take longer to work out than the whole budget.
TEST(Question, ABudgetThatIsTooShortStillFindsAPlan) {
  const Printed result =
      sextant("plan --gpus 16x8xH100 --model Qwen3-235B-A22B --framework verl-megatron --budget 0.01");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// 56 sequences, which verl's trainer cannot give 32 replicas.
TEST(Question, BrokenRulesComeBeforeTheTableAndInExports) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "uneven.json";
  const std::string asked = " --gpus 4x8xH100 --model Qwen3-14B --prompts 7 --responses 8 ";
  const Printed result = sextant("predict --framework verl --train fsdp=32 --rollout tp=2" + asked +
                                 "--plan-out " + file.string());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::size_t note = result.out.find("56 sequences over 32 replicas of actor_training");
  EXPECT_LT(note, result.out.find("iteration  "));
  EXPECT_EQ(result.out.find("56 sequences over 32 replicas of actor_training", note + 1), std::string::npos);
  const Printed exported = sextant("export " + file.string() + " --to verl" + asked);
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.err, HasSubstr("note: 56 sequences over 32 replicas of actor_training"));
}

// Megatron numbers the replicas of a stage one after the other.
TEST(Question, PlansTheRanksThatMegatronWillHave) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "megatron.json";
  const Printed result = sextant(
      "plan --gpus 8x8xH100 --model Qwen2.5-72B --framework verl-megatron --budget 3 --out " + file.string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Plan plan = load_document<Plan>(file).content;
  for (const auto& [name, task] : plan.tasks) {
    if (name == task_names::kActorGeneration || task.replicas.front().pipeline_parallel() == 1) continue;
    const auto last_of_first_stage = task.replicas.back().stages.front().devices.back();
    EXPECT_LT(last_of_first_stage, task.replicas.front().stages[1].devices.front()) << name;
  }
}

// FSDP has no stages, and synchronous verl keeps all tasks on the same GPUs. It is costed all the same.
TEST(Question, SaysWhatTheFrameworkCannotRun) {
  const std::string asked = "predict --gpus 4x8xH100 --model Qwen3-8B --framework verl ";
  EXPECT_THAT(sextant(asked + "--train tp=8,pp=4 --rollout tp=2").out,
              HasSubstr("4 pipeline stages in actor_training"));
  EXPECT_THAT(sextant(asked + "--train fsdp=16,gpus=0-15 --rollout tp=2,gpus=16-31").out,
              HasSubstr("on different devices"));
  EXPECT_THAT(sextant(asked + "--train fsdp=32 --rollout tp=2").out, Not(HasSubstr("cannot run this")));
}

// The longest sequence, 1024 + 31744 tokens, must fit a micro-batch: verl refuses a smaller budget.
TEST(Question, PlansMicroBatchesThatHoldTheLongestSequence) {
  const std::string asked =
      " --gpus 4x8xH100 --model Qwen3-8B --framework verl --response-tokens mean=6000,max=31744 ";
  EXPECT_THAT(sextant("predict" + asked + "--train fsdp=32 --rollout tp=2").out,
              HasSubstr("micro_batch_tokens 32768"));
}

// The median and the 95th percentile are those of the interval that is printed with the time.
TEST(Question, PercentilesAreThoseOfTheInterval) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "percentiles";
  const std::string asked =
      "plan --gpus 2x8xH100 --model Qwen3-8B --framework verl --evaluations 300 --link-jitter 0 "
      "--length-drift ";
  const auto search_of = [&](const std::string& more) {
    const std::string file = (folder / "search.json").string();
    std::filesystem::create_directories(folder);
    const Printed printed =
        sextant(asked + more + " --search-out " + file + " --prediction " + (folder / "p.json").string());
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    return load_document<SearchRecord>(file).content;
  };
  const SearchRecord median = search_of("0.1 --goal p50");
  EXPECT_NEAR(median.risk->iteration_s, median.iteration_s, 0.01 * median.iteration_s);
  const SearchRecord high = search_of("0 --goal p95");
  const Interval interval = *load_document<Prediction>(folder / "p.json").content.iteration_interval_s;
  EXPECT_NEAR(high.risk->iteration_s, interval.high, 1e-3 * interval.high);
}

// verl's training takes a batch by optimizer steps, in the comparison of modes, in a plan of this mode and in its script;
// other frameworks train on whole batches. Without a framework half a batch ahead is two parts.
TEST(Question, TrainingTakesABatchInThePartsOfTheFramework) {
  const std::string question = "--gpus 2x8xH100 --model Qwen3-8B ",
                    mode = "--mode asynchronous --staleness 0.5 ";
  const std::string asked = "plan " + question + "--framework verl --mini-batches 4 --evaluations 300 --json ";
  const Printed compared = sextant(asked + "--compare-modes");
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const Json half = parse_json(compared.out).at(2);
  EXPECT_EQ(half.at("mode"), "asynchronous, half a batch ahead in 4 parts");
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "half";
  const auto parts_of = [&](const std::string& words) {
    const Printed printed = sextant(words + " --save-inputs " + folder.string());
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    return load_document<Workflow>(folder / "workflow.json").content.streamed_parts;
  };
  const Printed alone = sextant(asked + mode + "--save-inputs " + folder.string());
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const Workflow workflow = load_document<Workflow>(folder / "workflow.json").content;
  EXPECT_EQ(workflow.streamed_parts, 4);
  EXPECT_EQ(workflow.rollout.batches_in_flight, 1.5);
  EXPECT_EQ(parse_json(alone.out).at("tasks"), half.at("plan").at("tasks"));
  EXPECT_EQ(parts_of(asked + mode + "--streamed-parts 2"), 2);
  EXPECT_THAT(sextant(asked + mode + "--streamed-parts 3").err, HasSubstr("the parts divide --mini-batches 4"));
  const std::string predicted =
      "predict " + question + mode + "--mini-batches 4 --train gpus=8-15 --rollout tp=2,gpus=0-7";
  EXPECT_EQ(parts_of(predicted + " --framework areal"), 1);
  EXPECT_EQ(parts_of(predicted), 2);
  EXPECT_THAT(sextant(predicted + " --framework areal --streamed-parts 2").err,
              HasSubstr("areal trains on whole batches"));
  const Printed refused = sextant(asked + "--streamed-parts 2");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--streamed-parts: only asynchronous"));
}

// Mistakes of newcomers are said: lengths without spread, names of coefficients for those of trainers, rates of a datasheet
// without their factor, a limit that no plan keeps.
TEST(Question, SaysWhatWasHardlyMeant) {
  const std::string asked = "plan --gpus 8xH100 --model Qwen3-8B --evaluations 20 ";
  EXPECT_THAT(sextant(asked + "--framework verl --response-tokens 4096").err,
              HasSubstr("Note: --response-tokens 4096: all sequences have exactly this length"));
  EXPECT_THAT(sextant(asked + "--framework nemo").err,
              HasSubstr("warning: nemo has coefficients alone, no profile"));
  EXPECT_THAT(sextant(asked + "--framework nemo-rl").err, Not(HasSubstr("coefficients alone")));
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "units";
  ASSERT_EQ(sextant(asked + "--framework verl --save-inputs " + folder.string()).exit_code, 0);
  Json cluster = parse_json(read_text_file(folder / "cluster.json"));
  cluster["device_types"].front()["memory_bytes_per_s"]["value"] = 3350;
  write_text_file(folder / "cluster.json", format_json(cluster));
  EXPECT_THAT(
      sextant("plan --cluster " + (folder / "cluster.json").string() + " --workflow " +
              (folder / "workflow.json").string() + " --evaluations 20")
          .err,
      HasSubstr(
          "memory_bytes_per_s is 3350 bytes/s, which no GPU is as slow or small as; 3350 GB/s are 3.35e12"));
  const std::string risky = "plan --gpus 8x4090 --model Qwen3-8B --framework verl --evaluations 300";
  EXPECT_EQ(sextant(risky).exit_code, 0);
  const Printed limited = sextant(risky + " --max-memory-risk 0.05");
  EXPECT_EQ(limited.exit_code, 1);
  EXPECT_THAT(limited.err, HasSubstr("--max-memory-risk accepts more"));
}

// A plan is not found in vain: what the exporter does not cover is said with it.
TEST(Question, SaysThatAPlanHasNoScript) {
  const std::string asked = "plan --gpus 8xH100 --model Qwen3-8B --evaluations 100 --framework ";
  EXPECT_THAT(
      sextant(asked + "nemo-rl --algorithm ppo").err,
      HasSubstr("warning: sextant export has no script for this plan: The export to NeMo RL covers GRPO"));
  EXPECT_THAT(sextant(asked + "nemo-rl").err, Not(HasSubstr("no script")));
}

TEST(Question, RefusesEmptyWordsAndCountsThatCannotBe) {
  const std::vector<std::string> asked{"plan", "--gpus", "8xH100", "--model", "Qwen3-8B", "--budget", "1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), asked.begin(), asked.end());
    return run_sextant(more);
  };
  for (const char* option : {"--framework", "--network", "--response-tokens", "--coefficients"}) {
    const Printed refused = with({option, ""});
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(option), HasSubstr("not empty")));
  }
  EXPECT_THAT(with({"--prompts", "4", "--mini-batches", "8"}).err, HasSubstr("8 of 4 prompts"));
  EXPECT_THAT(with({"--prompts", "100000000", "--responses", "1000000"}).err, HasSubstr("100 million"));
  EXPECT_THAT(with({"--prompts", "512", "--mini-batches", "3"}).err, HasSubstr("cannot be equal"));
}

TEST(Question, SaysWhatIsMissingOrContradicts) {
  const auto refusal = [](const std::string& words) {
    const Printed result = sextant("plan " + words);
    EXPECT_EQ(result.exit_code, 2) << words;
    return result.err;
  };
  EXPECT_THAT(refusal("--model Qwen3-8B"), HasSubstr("--gpus, for example 4x8xH100"));
  EXPECT_THAT(refusal("--gpus 8xH100"), HasSubstr("--model, for example"));
  EXPECT_THAT(refusal("--gpus 8xH100 --cluster c.json --model Qwen3-8B"), HasSubstr("--cluster"));
  EXPECT_THAT(refusal("--gpus 8xH100 --model Qwen3-9000B"), HasSubstr("Qwen3-9000B"));
  EXPECT_THAT(refusal("--gpus 8xH100 --model Qwen3-8B --staleness 2"), HasSubstr("--mode"));
  EXPECT_THAT(refusal("--gpus 8xH100 --model Qwen3-8B --critic Qwen3-4B"), HasSubstr("no critic"));
  EXPECT_THAT(refusal("--gpus 8xH100 --model Qwen3-8B --prompts 0"), HasSubstr("--prompts"));
}

}  // namespace
}  // namespace sextant::test
