// Parts that the writers and readers of several dialects have in common.
#pragma once

#include <string>
#include <vector>

#include "reports/export/trainers/dialect.h"

namespace sextant::inline reports {

// Longest prompt and response of the workflow, in whole tokens.
[[nodiscard]] int max_prompt_tokens(const Workflow& workflow);
[[nodiscard]] int max_response_tokens(const Workflow& workflow);

// Prompts of an optimizer step.
[[nodiscard]] int prompts_per_step(const Workflow& workflow);

// A workflow in fp16 or fp32: the name of its precision in PyTorch, "float16", for a setting that states it. Empty: bf16,
// which needs none, or a precision without a name.
[[nodiscard]] std::string precision_to_state(const Workflow& workflow);
// The reverse: "float16" or "fp16". Other names are bf16.
[[nodiscard]] Precision precision_of_name(const std::string& name);

// Adds a note if the prompts of a batch cannot be divided into the workflow's optimizer steps.
void note_uneven_steps(const Workflow& workflow, TrainerScript& script);

// Why a framework refuses the batches; empty: each of `parts` gets a whole number of the `count` units. `unit`:
// "sequences of an optimizer step"; `parts_are`: "8 replicas of actor_training with micro-batches of 2".
[[nodiscard]] std::string uneven_refusal(const std::string& framework, int count, const std::string& unit,
                                         int parts, const std::string& parts_are);

// Sequences of an optimizer step.
[[nodiscard]] int sequences_per_step(const Workflow& workflow);

// "8 replicas of actor_training with micro-batches of 2", without the second part if they have one sequence.
[[nodiscard]] std::string replicas_and_micro_batches(const std::string& name, const TrainerTask& task);

// The degrees of a task below a root such as "actor_rollout_ref.actor.megatron.", in the names of Megatron's own options. Experts
// without a degree of their own are null.
void write_megatron_degrees(const std::string& root, const TrainerTask& task, TrainerSettings& settings);
void read_megatron_degrees(const TrainerSettings& settings, const std::string& root, TrainerTask& task);

// Megatron refuses to train a mixture of experts with tensor parallelism and without sequence parallelism
// (megatron/core/transformer/moe/moe_layer.py): switches it on, for all tasks, because some have one layout.
void split_sequences_of_experts(Plan& plan, const Workflow& workflow);

// Virtual stages divide the layers of a stage in Megatron (megatron/core/transformer/transformer_config.py): tasks
// whose stages they do not divide get none.
void keep_chunks_whole(Plan& plan);

// Megatron's schedule with virtual stages needs micro-batches in groups of as many as there are stages
// (megatron/core/pipeline_parallel/schedules.py). 1: no virtual stages.
[[nodiscard]] int micro_batch_group(const TrainerTask& task);

// The variable of a model. Names of Hugging Face ("Qwen/Qwen3-14B") are its fallback; others have none.
[[nodiscard]] ShellVariable model_variable(const std::string& variable, const std::string& role,
                                           const Workflow& workflow, const std::string& model);

// The name of a run of this plan, with letters, digits, "-", "_" and "." only: the plan's name or, if a planner
// gave it ("grpo of Qwen3-14B-portfolio"), those of workflow and framework; "sextant" if nothing is left.
[[nodiscard]] std::string run_name(const std::string& plan, const TrainerProblem& problem);

// The task's number of replicas, from the GPUs of its pool.
[[nodiscard]] int replicas_in_pool(const TrainerTask& task, const TrainerConfig& config);

// Position of the pool with this name; if there is none, a pool of the next GPUs that no pool has.
// Throws Error(bad_input) if the cluster has fewer, or if the pool has another size.
[[nodiscard]] int take_pool(const std::string& name, int nodes, int gpus_per_node, const Cluster& cluster,
                            TrainerConfig& config);

// Fills in data_parallel and stage_layers (even, with `first` and `last` layers at the ends unless they are 0).
void complete_layout(const std::string& name, const TrainerProblem& problem, int first, int last,
                     TrainerConfig& config);

// The engine's KV cache from its part of the GPU's memory, and the reverse.
[[nodiscard]] double engine_fraction(const std::string& task, const TrainerConfig& config,
                                     const TrainerProblem& problem);
void take_engine_fraction(double fraction, const std::string& task, const TrainerProblem& problem,
                          TrainerConfig& config);

// GPUs of an engine's stage: those of all replicas that hold its experts together (data-parallel attention).
[[nodiscard]] int engine_width(const TrainerTask& task);
// Replicas that hold the experts of an engine together.
[[nodiscard]] int attention_replicas(const TrainerTask& task);
// vLLM distributes whole experts over all GPUs of an engine, or none: its expert parallelism is tensor times data
// parallelism (vllm/model_executor/layers/fused_moe/config.py, FusedMoEParallelConfig.make).
void keep_experts_whole(int tensor_parallel, Execution& engine);
// The engine's experts on the GPUs of each of its replicas, where its replicas do not divide into groups that hold them
// together.
void fit_engine_experts(TaskPlan& engine);

// Ranks of adapters that vLLM has room for (vllm/config/lora.py); 0 is none. And what a framework says that passes another
// one on.
[[nodiscard]] bool is_vllm_rank(int rank);
[[nodiscard]] std::string vllm_rank_refusal(int rank);

// vLLM refuses engines that decode more sequences together than a step has tokens (vllm/config/scheduler.py): lowers the
// number.
void keep_batch_within_step(TaskPlan& engine);

// The layers of each stage, "14,18". Throws Error(bad_input) with the place.
[[nodiscard]] std::vector<int> listed_numbers(const std::string& text, int stages, const std::string& place);

// True if all stages but the first and the last have equally many layers and these two differ from them.
[[nodiscard]] bool has_uneven_ends(const TrainerTask& task);

}  // namespace sextant::inline reports
