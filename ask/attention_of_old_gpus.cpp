#include "ask/attention_of_old_gpus.h"

#include <filesystem>
#include <optional>

#include "ask/data_files.h"
#include "calibrate/import/records/facts.h"
#include "core/json_value.h"

namespace sextant::inline ask {
namespace {

// FlashAttention 2 runs on Ampere, Ada and Hopper GPUs (github.com/Dao-AILab/flash-attention README.md).
constexpr double kAmpere = 8;

// verl 0.7.0: flash_attention_2 unless the model's override_config says otherwise (verl/workers/fsdp_workers.py).
std::string how_in(const FrameworkProfile& profile) {
  if (profile.name != "verl-fsdp") return "";
  return " (actor_rollout_ref.model.use_remove_padding=False, "
         "+actor_rollout_ref.model.override_config.attn_implementation=sdpa)";
}

}  // namespace

std::string attention_of_old_gpus(const Cluster& cluster, const FrameworkProfile& profile) {
  const auto training = profile.tasks.find(TaskKind::training);
  if (training == profile.tasks.end()) return "";
  const Execution& execution = training->second.executions.front();
  if (!execution.fused_attention && !execution.packed) return "";
  const std::optional<std::filesystem::path> data = find_data_folder();
  if (!data) return "";
  const Facts facts = Facts::load(*data / "gpus.json", *data / "models.json");
  for (const auto& [name, type] : cluster.device_types()) {
    if (!facts.has_gpu(name)) continue;
    const auto capability = facts.gpu(name).compute_capability;
    if (!capability || *capability >= kAmpere) continue;
    return "Warning: FlashAttention 2 needs GPUs of compute capability 8.0, " + name + " has " +
           Json(*capability).dump() + ": " + profile.name + " trains there only with another attention" +
           (execution.packed ? " and padded sequences" : "") + how_in(profile) +
           ", which takes longer than predicted here. vLLM chooses a kernel for such GPUs itself.";
  }
  return "";
}

}  // namespace sextant::inline ask
