#include "planner/verify/execution_rules.h"

#include <cmath>
#include <set>

#include "core/units.h"
#include "documents/semantics.h"
#include "planner/verify/weights.h"

namespace sextant::inline planner {
namespace {

class ValueRules {
 public:
  explicit ValueRules(const PlannedTask& task) : task_(task) {}

  std::vector<Violation> run() {
    const Execution& execution = task_.execution();
    at_least(1, task_.plan.micro_batch_sequences, "micro_batch_sequences");
    at_least(0, task_.plan.decode_batch_sequences, "decode_batch_sequences");
    at_least(1, execution.context_parallel, "context_parallel");
    at_least(1, execution.expert_parallel, "expert_parallel");
    at_least(0, execution.expert_tensor_parallel, "expert_tensor_parallel");
    at_least(1, execution.virtual_stages, "virtual_stages");
    if (execution.zero_stage < 0 || execution.zero_stage > 3) {
      add("zero_stage is " + std::to_string(execution.zero_stage) + ", expected 0 to 3");
    }
    at_least(0, execution.sharded_over, "sharded_over");
    at_least(0, execution.micro_batch_tokens, "micro_batch_tokens");
    at_least(0, execution.micro_batches, "micro_batches");
    at_least(0, execution.prefill_chunk_tokens, "prefill_chunk_tokens");
    at_least(0, execution.offload_activation_layers, "offload_activation_layers");
    at_least(0, execution.lora_rank, "lora_rank");
    at_least(0, execution.logit_chunk_tokens, "logit_chunk_tokens");
    if (!(execution.kv_cache_bytes >= 0) || !std::isfinite(execution.kv_cache_bytes)) {
      add("kv_cache_bytes is " + format_number(execution.kv_cache_bytes) + " bytes, expected 0 or more");
    }
    look_at_shares();
    look_at_semantics();
    return std::move(found_);
  }

 private:
  void add(const std::string& message) { found_.push_back({task_.name(), rules::kValues, message}); }

  void at_least(int minimum, int value, const std::string& what) {
    if (value >= minimum) return;
    add(what + " is " + std::to_string(value) + ", expected at least " + std::to_string(minimum));
  }

  void look_at_shares() {
    for (const Replica& replica : task_.plan.replicas) {
      if (replica.length_rank < 0 || (task_.is_generation() && replica.length_rank > 0)) {
        add("a length_rank is " + std::to_string(replica.length_rank) + ", expected " +
            (task_.is_generation() ? "none: generation decides how long sequences are" : "at least 0"));
      }
      if (replica.batch_share > 0 && replica.batch_share <= 1) continue;
      add("a batch_share is " + format_number(replica.batch_share) + ", expected more than 0 and at most 1");
    }
  }

  void look_at_semantics() {
    for (const Semantics& semantics : semantics_table()) {
      if (semantics.name == task_.execution().semantics) return;
    }
    add("unknown semantics " + task_.execution().semantics);
  }

  const PlannedTask& task_;
  std::vector<Violation> found_;
};

class ExecutionRules {
 public:
  explicit ExecutionRules(const PlannedTask& task) : task_(task) {}

  std::vector<Violation> run() {
    look_at_experts();
    look_at_sharding();
    look_at_chunks();
    look_at_offloading();
    look_at_rates();
    return std::move(found_);
  }

 private:
  void add(const std::string& where, const char* rule, const std::string& message) {
    found_.push_back({where, rule, message});
  }

  void look_at_experts() {
    const int ranks = task_.execution().expert_parallel;
    const bool has_experts = task_.model().experts.has_value();
    if (ranks == 1 && (!has_experts || task_.execution().expert_tensor_parallel == 0)) return;
    const std::string said = "expert parallelism " + std::to_string(ranks);
    if (!has_experts) {
      add(task_.name(), rules::kExpertParallel, said + " for a model without experts");
      return;
    }
    const int experts = task_.model().experts->count;
    if (experts % ranks != 0) {
      add(task_.name(), rules::kExpertParallel,
          said + " does not divide the model's " + std::to_string(experts) + " experts");
      return;
    }
    for_each_stage([this](std::size_t i, std::size_t j, const Stage& stage) { look_at_room(i, j, stage); });
  }

  // All devices that hold these layers, in every replica, hold every expert as often as any other.
  void look_at_room(std::size_t replica, std::size_t stage_number, const Stage& stage) {
    const std::int64_t dealt = expert_devices(task_, stage);
    const auto holders = static_cast<std::int64_t>(stage.devices.size() * task_.plan.replicas.size());
    if (dealt <= holders && holders % dealt == 0) return;
    add(place_of(task_.name(), replica, stage_number), rules::kExpertParallel,
        "experts are distributed over " + std::to_string(dealt) + " devices, and " + std::to_string(holders) +
            " hold such a stage in all replicas");
  }

  void look_at_sharding() {
    const int over = task_.execution().sharded_over;
    if (over <= 0) return;
    const std::string said = "states are sharded over " + std::to_string(over) + " devices";
    if (task_.execution().zero_stage == 0) add(task_.name(), rules::kSharding, said + " without ZeRO");
    const auto holders =
        static_cast<std::int64_t>(task_.plan.replicas.size()) * task_.execution().context_parallel;
    if (holders % over != 0)
      add(task_.name(), rules::kSharding,
          said + ", which do not divide the " + std::to_string(holders) + " that hold them");
  }

  void look_at_chunks() {
    const int chunks = task_.execution().virtual_stages;
    for_each_stage([&](std::size_t i, std::size_t j, const Stage& stage) {
      if (chunks <= stage.layers) return;
      add(place_of(task_.name(), i, j), rules::kVirtualStages,
          std::to_string(chunks) + " chunks of " + std::to_string(stage.layers) + " layers");
    });
  }

  void look_at_offloading() {
    const Execution& execution = task_.execution();
    if (execution.offload_activation_layers > 0 && !execution.offload_activations) {
      add(task_.name(), rules::kOffloading,
          "activations of " + std::to_string(execution.offload_activation_layers) +
              " layers are offloaded, but offload_activations is off");
    }
    if (!execution.offload_weights && !execution.offload_optimizer && !execution.offload_activations) return;
    for (const std::string& type : used_types()) {
      if (task_.cluster.device_types().at(type).host_bytes_per_s) continue;
      add(task_.name(), rules::kOffloading,
          "offloads from device type " + type + ", for which the cluster has no host_bytes_per_s");
    }
  }

  void look_at_rates() {
    const Execution& execution = task_.execution();
    std::set<Precision> formats{execution.precision ? *execution.precision : task_.workflow.precision};
    if (execution.attention_precision) formats.insert(*execution.attention_precision);
    if (execution.expert_precision && task_.model().experts) formats.insert(*execution.expert_precision);
    for (const std::string& type : used_types()) {
      for (const Precision format : formats) {
        if (task_.cluster.device_types().at(type).flop_per_s.count(format) > 0) continue;
        add(task_.name(), rules::kRates,
            "computes in " + std::string(name_of(format)) + " on device type " + type +
                ", for which the cluster has no flop_per_s in this format");
      }
    }
  }

  [[nodiscard]] std::set<std::string> used_types() const {
    std::set<std::string> types;
    for (const Replica& replica : task_.plan.replicas) {
      for (const Stage& stage : replica.stages) {
        for (const DeviceId device : stage.devices) types.insert(task_.cluster.type_name(device));
      }
    }
    return types;
  }

  template <typename F>
  void for_each_stage(F f) const {
    for (std::size_t i = 0; i < task_.plan.replicas.size(); ++i) {
      const std::vector<Stage>& stages = task_.plan.replicas[i].stages;
      for (std::size_t j = 0; j < stages.size(); ++j) f(i, j, stages[j]);
    }
  }

  const PlannedTask& task_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> value_violations(const PlannedTask& task) { return ValueRules(task).run(); }

std::vector<Violation> execution_violations(const PlannedTask& task) { return ExecutionRules(task).run(); }

}  // namespace sextant::inline planner
