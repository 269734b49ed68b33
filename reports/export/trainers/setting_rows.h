// Options of a task and the keys that say them: one row is written and read, so that a dialect's two directions
// cannot differ.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/export/trainers/trainer_config.h"
#include "reports/export/trainers/trainer_settings.h"

namespace sextant::inline reports {

// The meaning of a key.
enum class Says {
  tensor,                 // tensor-parallel degree
  stages,                 // pipeline stages
  context,                // context-parallel degree
  experts,                // expert-parallel degree
  expert_tensor,          // devices that split an expert
  virtual_stages,         // null: one
  sequence_parallel,      // a flag, true only with tensor parallelism
  distributed_optimizer,  // a flag: optimizer states are sharded
  recompute,              // null, "selective" or "full"
  optimizer_on_host,      // a flag
  micro_sequences,        // sequences of a micro-batch
  eager,                  // a flag: no CUDA graphs
  shared_prompts,         // a flag
  own_prompts,            // a flag: prompts are not shared
  sleeps,                 // a flag: weights leave the GPUs while other tasks run
  whole_experts,          // a flag: the tensor-parallel group shares the experts of a layer, and splits none
  decode_sequences,       // sequences that an engine decodes together
  prefill_tokens,         // of a step of an engine
};

struct SettingRow {
  std::string_view key;
  Says says;
  double otherwise = 1;  // the framework's value of a key that is not there; flags: 0 or 1
};

// Values that are null are left out of flags: `leaves_out_null`.
void write_rows(std::span<const SettingRow> rows, const std::string& root, const TrainerTask& task,
                TrainerSettings& settings, bool leaves_out_null = false);

// Throws Error(bad_input) with the key.
void read_rows(std::span<const SettingRow> rows, const std::string& root, const TrainerSettings& settings,
               TrainerTask& task);

}  // namespace sextant::inline reports
