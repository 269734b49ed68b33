#include "documents/semantics.h"

#include <array>

#include "sextant/error.h"

namespace sextant::inline documents {
namespace {

constexpr std::array<Semantics, 6> kSemantics{{
    {"plain", 0, 0, false, false, false,
     "micro-batches are what passes through a pipeline stage at once, as Megatron means them"},
    {"real", 2, 1, false, false, false,
     "ReaL: training cuts a micro-batch into 2 x PP, generation and inference their batch into PP"},
    {"megatron", 0, 0, true, true, false,
     "Megatron-LM and Megatron Bridge: micro_batch_size sequences a stage at once"},
    {"verl", 0, 0, false, false, false,
     "verl: sizes and budgets of tokens per device; with a budget sequences of real length are packed"},
    {"nemo-rl", 0, 0, false, false, true,
     "NeMo-RL: train_micro_batch_size sequences, or packed to a budget of tokens before context parallelism "
     "splits them"},
    {"vllm", 0, 0, false, false, false,
     "vLLM: max_num_seqs decode together, max_num_batched_tokens pass in a step"},
}};

}  // namespace

std::span<const Semantics> semantics_table() { return kSemantics; }

const Semantics& semantics_of(std::string_view name) {
  for (const Semantics& semantics : kSemantics) {
    if (semantics.name == name) return semantics;
  }
  SEXTANT_CHECK(false);  // plans are read with known semantics
  return kSemantics.front();
}

std::vector<std::string_view> semantics_names() {
  std::vector<std::string_view> names;
  names.reserve(kSemantics.size());
  for (const Semantics& semantics : kSemantics) names.push_back(semantics.name);
  return names;
}

}  // namespace sextant::inline documents
