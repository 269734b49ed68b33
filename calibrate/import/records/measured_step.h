// A measured training step in the form of published tables: one model, one uniform layout, GPUs of one type.
//
// The readers of such tables fill this form and add it; all reasons to reject a record are in one place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/run_parts.h"

namespace sextant {

struct MeasuredStep {
  std::string name;       // name of the run
  std::string framework;  // as in Run
  Gpu gpu;
  Model model;
  int gpus = 1;
  int gpus_per_node = 0;  // 0: the default of the GPU type
  Degrees degrees;
  Execution execution;  // without context_parallel, which is one of the degrees
  Recompute recompute = Recompute::none;
  int sequences = 1;  // per global batch
  double sequence_tokens = 1;
  int micro_batch_sequences = 1;
  Precision precision = Precision::bf16;  // of activations; execution.precision if arithmetic differs
  double step_s = 0;
  std::optional<double> peak_memory_bytes;
  std::vector<Unstated> unstated;
  std::map<std::string, std::string> notes;
};

// Returns why a record on this GPU and model cannot be imported; empty if both are known.
[[nodiscard]] std::string why_unknown(const Facts& facts, const std::string& gpu, const std::string& model);

// Adds the run, or leaves the record out with the reason: its degrees do not multiply to its GPUs, its batch
// cannot be divided as stated, the GPU has no rate for its arithmetic, check_plan refuses the plan, or it
// repeats an earlier record to the last digit.
void add_measured_step(Imported& imported, const MeasuredStep& step);

}  // namespace sextant
