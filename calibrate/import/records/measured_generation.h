// A measured generation in the form of published inference tables: a batch of equal sequences on GPUs of one
// type.
//
// How a serving measurement becomes one: in a closed loop C requests are always in flight, so C of them finish
// in the time that one spends in the server, ttft + (o - 1) tpot, including the prefill of the others: that is
// a batch of C sequences. Under a constant request rate Little's law gives C. Engines that replace a finished
// response by the next sequence keep their weights and fill the remaining memory with the KV cache; that limits
// how many sequences decode together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/run_parts.h"

namespace sextant {

struct MeasuredGeneration {
  std::string name;       // name of the run
  std::string framework;  // as in Run
  Gpu gpu;
  Model model;
  Degrees degrees;      // data parallel: each replica gets a share of the batch; idle replicas are omitted
  Execution execution;  // without context_parallel, which is one of the degrees
  int sequences = 1;
  double prompt_tokens = 1;
  double response_tokens = 1;
  bool are_prompts_shared = false;        // all sequences have one prompt, which passes the layers once
  int decode_batch_sequences = 0;         // as in TaskPlan
  Precision precision = Precision::bf16;  // of activations
  double batch_s = 0;
  std::vector<Unstated> unstated;
  std::map<std::string, std::string> notes;
};

// Prompt tokens in a step of an engine whose setting is not stated: the default of vLLM's server and of SGLang.
inline constexpr int kUsualPrefillTokens = 8192;
// The fraction of a GPU's memory for weights and cache: the default of vLLM and TensorRT-LLM.
inline constexpr double kUsualMemoryFraction = 0.9;

// Sequences that vLLM decodes together if its setting is not stated: the smallest of its defaults, which grow
// with the GPU's memory.
inline constexpr int kUsualDecodeSequences = 256;

// A parsed format: "bf16", "FP16", "fp8", "FP4", "int4".
struct NumberFormat {
  Precision stored = Precision::bf16;
  bool is_for_arithmetic = true;  // false for int4, which is for weights only
};
[[nodiscard]] std::optional<NumberFormat> find_number_format(std::string_view name);

// Sets the format of weights, and of arithmetic if the GPU has a rate for it; otherwise weights are unpacked to
// 16 bits. Activations have 16 bits.
void set_number_format(MeasuredGeneration& generation, NumberFormat format);

// Sets an engine with continuous batching, fused attention and CUDA graphs, after degrees and number format:
//   KV cache of a device = memory_fraction x its memory - its share of the weights, as they are stored.
void set_serving(MeasuredGeneration& generation, int prefill_tokens = kUsualPrefillTokens,
                 double memory_fraction = kUsualMemoryFraction);

// Marks a setting of the engine that the source does not state: decode_batch_sequences, memory_share or
// prefill_chunk_tokens. The value given to set_serving or decode_batch_sequences is then the centre of a prior
// as wide as the spread of engines' defaults and scripts' settings. `group` says who made the setting; defaults
// of the engine depend on the GPU, so it contains the GPU's type, or a script for one.
void leave_unstated(MeasuredGeneration& generation, UnstatedQuantity setting, const std::string& group);

// Adds the run, or leaves the record out with the reason: the weights leave no memory for a cache, the time is
// less than reading the weights once a step takes, or check_plan refuses the plan.
void add_measured_generation(Imported& imported, const MeasuredGeneration& generation);

}  // namespace sextant
