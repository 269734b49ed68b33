#include "calibrate/import/published/published_reasons.h"

#include <algorithm>

#include "calibrate/import/published/published_layout.h"

namespace sextant {
namespace {

// verl divides by these peaks for its MFU; a peak names a class of GPU, of which the usual one is taken.
const char* gpu_of_peak(double tflops) {
  constexpr double kA100 = 312, kH100 = 989, kL20 = 119.5;
  if (tflops == kA100) return "A100";
  if (tflops == kH100) return "H100";
  if (tflops == kL20) return "L20";
  return "";
}

bool says_plan_is_missing(const PublishedRecord& record) {
  return std::any_of(record.missing.begin(), record.missing.end(),
                     [](const std::string& what) { return what == "plan" || what.starts_with("plan "); });
}

std::string what_is_missing(const PublishedRecord& record) {
  std::vector<std::string> missing;
  if (gpu_name(record).empty()) missing.emplace_back("the GPU");
  if (!record.gpus) missing.emplace_back("the number of GPUs");
  if (!record.models.contains("actor")) missing.emplace_back("the model");
  if (!sequences_of(record)) {
    missing.emplace_back(record.sequence_candidates.empty() ? "the batch" : "which of two batches");
  }
  if (says_plan_is_missing(record) || !has_training_layout(record)) missing.emplace_back("the plan");
  if (!record.iteration_s && record.tasks_s.empty()) missing.emplace_back("the time of an iteration");
  return missing.empty() ? "" : "not stated: " + listed(missing);
}

std::string unknown_fact(const PublishedRecord& record, const Facts& facts) {
  if (const std::string gpu = gpu_name(record); !gpu.empty() && !facts.has_gpu(gpu)) {
    return facts.why_no_gpu(gpu);
  }
  for (const auto& [role, model] : record.models) {
    if (!facts.has_model(model)) return facts.why_no_model(model);
  }
  return "";
}

bool starts_with_times(const std::vector<double>& times, const std::vector<double>& beginning) {
  return !beginning.empty() && times.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), times.begin());
}

// A table that averages another window of one run prints the same wall times for its first steps.
std::string same_run(const PublishedRecord& record, const std::vector<PublishedRecord>& records) {
  for (const PublishedRecord& earlier : records) {
    if (&earlier == &record) return "";
    if (starts_with_times(earlier.cumulative_s, record.cumulative_s)) return earlier.id;
  }
  return "";
}

}  // namespace

std::string gpu_name(const PublishedRecord& record) {
  if (record.gpu) return *record.gpu;
  return record.peak_tflops ? gpu_of_peak(*record.peak_tflops) : "";
}

// ReaL's base setting says 512 sequences for 16 GPUs, its rule of weak scaling 4096 for 128; with 512 there
// training would run at 3 % of the GPUs' rate. Elsewhere several batches are a page that contradicts its
// recipe.
std::optional<int> sequences_of(const PublishedRecord& record) {
  if (record.sequences) return record.sequences;
  if (record.prompts && record.responses_per_prompt) return *record.prompts * *record.responses_per_prompt;
  if (record.sequence_candidates.empty() || record.framework != "ReaL") return std::nullopt;
  return *std::max_element(record.sequence_candidates.begin(), record.sequence_candidates.end());
}

std::string listed(const std::vector<std::string>& things) {
  std::string out;
  for (const std::string& thing : things) out += (out.empty() ? "" : ", ") + thing;
  return out;
}

std::string reason_against(const PublishedRecord& record, const std::vector<PublishedRecord>& records,
                           const Facts& facts) {
  if (!record.repeated_in.empty()) return "the whole log of this run is in " + record.repeated_in;
  if (std::string reason = unknown_fact(record, facts); !reason.empty()) return reason;
  if (std::string reason = what_is_missing(record); !reason.empty()) return reason;
  if (const std::string other = same_run(record, records); !other.empty()) {
    return "the same run as " + other + ": their wall times after the same steps are equal";
  }
  return "";
}

}  // namespace sextant
