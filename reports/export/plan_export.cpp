#include "reports/export/plan_export.h"

#include "core/csv.h"
#include "core/json_value.h"

namespace sextant::inline reports {
namespace {

std::string joined(const std::vector<DeviceId>& devices) {
  std::string text;
  for (const DeviceId& device : devices) text += (text.empty() ? "" : " ") + std::to_string(device.value);
  return text;
}

std::string options_of(const TaskPlan& task) {
  std::string text;
  const Json options = task.execution.to_json();
  for (const auto& [name, value] : options.items())
    text +=
        (text.empty() ? "" : " ") + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  return text;
}

}  // namespace

std::string plan_as_csv(const Plan& plan) {
  std::string out =
      "task,replica,batch_share,length_rank,stage,layers,tensor_parallel,context_parallel,devices,"
      "micro_batch_sequences,decode_batch_sequences,recompute,options\n";
  for (const auto& [name, task] : plan.tasks) {
    const std::string of_task = std::to_string(task.micro_batch_sequences) + "," +
                                std::to_string(task.decode_batch_sequences) + "," +
                                std::string(name_of(task.recompute)) + "," + csv_field(options_of(task)) + "\n";
    for (std::size_t i = 0; i < task.replicas.size(); ++i) {
      const Replica& replica = task.replicas[i];
      for (std::size_t j = 0; j < replica.stages.size(); ++j) {
        const Stage& stage = replica.stages[j];
        out += csv_field(name) + "," + std::to_string(i) + "," + exact_number(replica.batch_share) + "," +
               std::to_string(replica.length_rank) + "," + std::to_string(j) + "," +
               std::to_string(stage.layers) + "," + std::to_string(task.tensor_parallel(stage)) + "," +
               std::to_string(task.execution.context_parallel) + "," + joined(stage.devices) + "," + of_task;
      }
    }
  }
  return out;
}

}  // namespace sextant::inline reports
