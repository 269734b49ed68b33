// A measured training step as published tables state it: one model, one uniform layout, GPUs of one type.
//
// The readers of such tables fill this form and add it; what makes a record useless is found in one place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/run_parts.h"

namespace sextant {

struct MeasuredStep {
  std::string name;       // of the run
  std::string framework;  // as in Run
  Gpu gpu;
  Model model;
  int gpus = 1;
  int gpus_per_node = 0;  // 0: the type's
  Degrees degrees;
  Execution execution;  // without context_parallel, which is one of the degrees
  Recompute recompute = Recompute::none;
  int sequences = 1;  // a global batch
  double sequence_tokens = 1;
  int micro_batch_sequences = 1;
  Precision precision = Precision::bf16;  // of activations; execution.precision where arithmetic differs
  double step_s = 0;
  std::optional<double> peak_memory_bytes;
  std::vector<Unstated> unstated;
  std::map<std::string, std::string> notes;
};

// Why a record on this GPU and model cannot be imported; empty where both are known.
[[nodiscard]] std::string why_unknown(const Facts& facts, const std::string& gpu, const std::string& model);

// Adds the run, or leaves the record out with the reason: its degrees do not make up its GPUs, its batch cannot
// be cut as it says, the GPU has no rate for its arithmetic, the plan is one that check_plan refuses, or it
// repeats an earlier record to the last digit.
void add_measured_step(Imported& imported, const MeasuredStep& step);

}  // namespace sextant
