// Keys, GPUs and switches of prime-rl that the facts of a run (prime_rl_import.cpp) and its plan (prime_rl_plan.cpp) share.
//
// Keys and defaults are those of packages/prime-rl-configs at v0.8.0 (60bc29547a88), github.com/PrimeIntellect-ai/prime-rl.
#pragma once

#include <string>

#include "reports/export/trainers/dialect_parts.h"

namespace sextant::inline reports {

inline const std::string kPrimeModel = "trainer.model.";
inline constexpr const char* kPrimeBatch = "orchestrator.batch_size";
inline constexpr const char* kPrimeTrained = "trainer.model.seq_len";
inline constexpr const char* kPrimeTensor = "inference.parallel.tp";
inline constexpr int kPrimeSeqLen = 2048;  // tokens, the default of every seq_len

struct PrimeGpus {
  int train_nodes = 1, train_gpus = 1;    // GPUs: of a node
  int engine_nodes = 1, engine_gpus = 1;  // of all engines together
  int engines_share = 1;                  // GPUs of the engines that one replica of the deployment has

  [[nodiscard]] int trainers() const { return train_nodes * train_gpus; }
};

// Throws Error(bad_input) if the configuration contradicts itself; it names the key.
[[nodiscard]] PrimeGpus prime_gpus(const TrainerSettings& settings);

// Whether a key of that section is stated.
[[nodiscard]] bool has_below(const TrainerSettings& settings, const std::string& section);
// Whether a part of the configuration is on: with an empty table, true or members; "None" and --no-NAME turn it off.
[[nodiscard]] bool is_part_on(const TrainerSettings& settings, const std::string& section, bool otherwise);

}  // namespace sextant::inline reports
