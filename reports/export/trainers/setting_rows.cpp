#include "reports/export/trainers/setting_rows.h"

#include <algorithm>

#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

Json value_of(Says says, const TrainerTask& task) {
  const Execution& execution = task.options.execution;
  switch (says) {
    case Says::tensor:
      return task.tensor_parallel;
    case Says::stages:
      return task.pipeline_parallel;
    case Says::context:
      return execution.context_parallel;
    case Says::experts:
      return execution.expert_parallel;
    case Says::expert_tensor:
      return execution.expert_tensor_parallel > 0 ? execution.expert_tensor_parallel : task.tensor_parallel;
    case Says::virtual_stages:
      return execution.virtual_stages > 1 ? Json(execution.virtual_stages) : Json(nullptr);
    case Says::sequence_parallel:
      return execution.sequence_parallel && task.tensor_parallel > 1;
    case Says::distributed_optimizer:
      return execution.zero_stage > 0;
    case Says::recompute:
      return task.options.recompute == Recompute::none ? Json(nullptr)
                                                       : Json(std::string(name_of(task.options.recompute)));
    case Says::optimizer_on_host:
      return execution.offload_optimizer;
    case Says::micro_sequences:
      return task.options.micro_batch_sequences;
    case Says::eager:
      return !execution.cuda_graphs;
    case Says::shared_prompts:
      return execution.shared_prompts;
    case Says::own_prompts:
      return !execution.shared_prompts;
    case Says::sleeps:
      return execution.offload_weights;
    case Says::whole_experts:
      return execution.expert_parallel > 1;
    case Says::decode_sequences:
      return task.options.decode_batch_sequences;
    case Says::prefill_tokens:
      return execution.prefill_chunk_tokens;
  }
  SEXTANT_CHECK(false);
}

Recompute recompute_named(const std::string& name) {
  return name == "full" ? Recompute::full : name == "selective" ? Recompute::selective : Recompute::none;
}

void take(const SettingRow& row, const std::string& key, const TrainerSettings& settings, TrainerTask& task) {
  Execution& execution = task.options.execution;
  const auto count = [&] { return settings.count(key, static_cast<int>(row.otherwise)); };
  const auto flag = [&] { return settings.flag(key, row.otherwise != 0); };
  switch (row.says) {
    case Says::tensor:
      task.tensor_parallel = count();
      break;
    case Says::stages:
      task.pipeline_parallel = count();
      break;
    case Says::context:
      execution.context_parallel = count();
      break;
    case Says::experts:
      execution.expert_parallel = count();
      break;
    case Says::expert_tensor:
      execution.expert_tensor_parallel =
          row.otherwise > 0 ? count() : settings.count(key, task.tensor_parallel);
      break;
    case Says::virtual_stages:
      execution.virtual_stages = count();
      break;
    case Says::sequence_parallel: {
      const bool is_on = flag();
      if (task.tensor_parallel > 1) execution.sequence_parallel = is_on;  // without effect otherwise
      break;
    }
    case Says::distributed_optimizer:
      execution.zero_stage = flag() ? std::max(1, execution.zero_stage) : 0;
      break;
    case Says::recompute:
      task.options.recompute = recompute_named(settings.text(key, ""));
      break;
    case Says::optimizer_on_host:
      execution.offload_optimizer = flag();
      break;
    case Says::micro_sequences:
      task.options.micro_batch_sequences = count();
      break;
    case Says::eager:
      execution.cuda_graphs = !flag();
      break;
    case Says::shared_prompts:
      execution.shared_prompts = flag();
      break;
    case Says::own_prompts:
      execution.shared_prompts = !flag();
      break;
    case Says::sleeps:
      execution.offload_weights = flag();
      break;
    case Says::whole_experts:
      execution.expert_parallel = flag() ? task.tensor_parallel : 1;
      execution.expert_tensor_parallel = execution.expert_parallel > 1 ? 1 : 0;
      break;
    case Says::decode_sequences:
      task.options.decode_batch_sequences =
          settings.count(key, std::max(1, task.options.decode_batch_sequences));
      break;
    case Says::prefill_tokens:
      execution.prefill_chunk_tokens = settings.count(key, std::max(1, execution.prefill_chunk_tokens));
      break;
  }
}

}  // namespace

void write_rows(std::span<const SettingRow> rows, const std::string& root, const TrainerTask& task,
                TrainerSettings& settings, bool leaves_out_null) {
  for (const SettingRow& row : rows) {
    const Json value = value_of(row.says, task);
    if (!leaves_out_null || !value.is_null()) settings.set(root + std::string(row.key), value);
  }
}

void read_rows(std::span<const SettingRow> rows, const std::string& root, const TrainerSettings& settings,
               TrainerTask& task) {
  for (const SettingRow& row : rows) take(row, root + std::string(row.key), settings, task);
}

}  // namespace sextant::inline reports
