#include "cli/ask/question.h"

namespace sextant::cli {
namespace {

constexpr const char* kGroup = "The question in one line, in place of --cluster and --workflow";

}  // namespace

QuestionHandles add_question(const Command& command, ClusterOptions& cluster, WorkflowOptions& workflow) {
  QuestionHandles handles;
  const auto option = [&](const char* name, Destination value, const char* help) {
    return command.add_option(name, value, help).in_group(kGroup);
  };
  handles.gpus = option("--gpus", cluster.gpus,
                        "Nodes, GPUs of a node and their type: 4x8xH100, 32xH100, 16xp5.48xlarge, "
                        "4x8xH100+4x8xL40S@us-east-2");
  option("--network", cluster.network.inside,
         "Network of one GPU to other nodes: a preset such as ib-ndr, or Gbit/s");
  option("--network-between", cluster.network.outside,
         "Connection of two regions, which all their GPUs share: a preset, or Gbit/s");
  handles.model =
      option("--model", workflow.model,
             "The trained model: a name such as Qwen/Qwen3-14B, its config.json, or a folder that has one");
  command
      .add_choice("--algorithm", workflow.algorithm, {{"grpo", Algorithm::grpo}, {"ppo", Algorithm::ppo}},
                  "Standard graph of tasks")
      .in_group(kGroup);
  command
      .add_choice("--mode", workflow.mode,
                  {{"synchronous", Mode::synchronous},
                   {"one_step_off", Mode::one_step_off},
                   {"asynchronous", Mode::asynchronous}},
                  "Whether generation and training wait for each other")
      .in_group(kGroup);
  option("--staleness", workflow.staleness, "Asynchronous: maximum age of a rollout, in iterations (default 1)")
      .check(positive_number());
  option(
      "--streamed-parts", workflow.streamed_parts,
      "Asynchronous: parts of a batch that training takes as they finish (default: 1 / staleness, rounded up)")
      .check(integer_between(1, 1'000'000));
  option("--prompts", workflow.prompts, "Prompts of an iteration (default 512)")
      .check(integer_between(1, 100'000'000));
  option("--responses", workflow.responses, "Responses to each prompt (default 8, PPO 1)")
      .check(integer_between(1, 1'000'000));
  option("--mini-batches", workflow.mini_batches, "Optimizer steps of an iteration (default 1)")
      .check(integer_between(1, 1'000'000));
  option("--prompt-tokens", workflow.prompt_tokens,
         "Lengths of prompts: 512, or mean=400,max=1024 (the default)");
  option("--response-tokens", workflow.response_tokens,
         "Lengths of responses: 4096, or mean=1500,max=4096 (the default), or with median= and sigma=");
  option("--lengths", workflow.lengths,
         "Samples of both: lines of JSON with prompt_tokens and response_tokens");
  option("--turns", workflow.turns,
         "Turns of a response, with waits for its environment (tools) between them (default 1)")
      .check(number_between(1, 1e6));
  option("--environment-seconds", workflow.environment_s, "Seconds of each wait between two turns (default 0)")
      .check(number_between(0, 1e6));
  option("--observation-tokens", workflow.observation_tokens,
         "Tokens that the environment adds between two turns (default 0)")
      .check(number_between(0, 1e8));
  option("--reward-model", workflow.reward_model,
         "Model that scores responses, or rule=SECONDS for each response, on the host (default: rule=0; PPO of "
         "frameworks that score with a model: the actor's shape)");
  option("--reward-workers", workflow.reward_workers,
         "Responses that the rule scores at the same time (default: the framework's)")
      .check(number_between(1, 1e6));
  command
      .add_choice("--precision", workflow.precision,
                  {{"bf16", Precision::bf16},
                   {"fp16", Precision::fp16},
                   {"fp32", Precision::fp32},
                   {"fp8", Precision::fp8}},
                  "Weights, activations and arithmetic of all tasks")
      .in_group(kGroup);
  option("--critic", workflow.critic, "PPO's critic (default: the actor's shape)").check(not_empty());
  return handles;
}

}  // namespace sextant::cli
