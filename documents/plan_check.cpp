// Which plans sextant/plan.h refuses for a workflow and a cluster.
#include <numeric>

#include "core/json_value.h"
#include "core/text.h"
#include "documents/padded_lengths.h"
#include "documents/semantics.h"
#include "documents/sorted_lengths.h"
#include "sextant/error.h"
#include "sextant/plan.h"

namespace sextant {
namespace {

std::string task_path(const std::string& task) { return "/tasks/" + pointer_token(task); }

void check_names(const Plan& plan, const Workflow& workflow) {
  std::string known;
  for (const Task& task : workflow.tasks) {
    known += (known.empty() ? "" : ", ") + task.name;
  }
  for (const auto& [name, layout] : plan.tasks) {
    if (!workflow.has_task(name)) {
      throw_bad_input(task_path(shorten(name, kShownCharacters)) + ": unknown task; the workflow has " + known);
    }
  }
  for (const Task& task : workflow.tasks) {
    if (!plan.tasks.contains(task.name)) {
      throw_bad_input("/tasks: missing task \"" + task.name + "\" of the workflow");
    }
  }
}

// A whole number of query heads and of MLP columns on every device; key and value heads may be repeated.
void check_tensor_parallel(const std::string& path, int degree, const Model& model) {
  const auto refuse = [&](int count, const std::string& what) {
    throw_bad_input(path + "/devices: tensor parallelism " + std::to_string(degree) +
                    " does not divide the model's " + std::to_string(count) + " " + what);
  };
  if (degree > model.heads) {
    throw_bad_input(path + "/devices: tensor parallelism " + std::to_string(degree) + " exceeds the model's " +
                    std::to_string(model.heads) + " heads");
  }
  if (model.heads % degree != 0) {
    refuse(model.heads, "heads");
  }
  if (model.kv_heads % degree != 0 && degree % model.kv_heads != 0) {
    refuse(model.kv_heads, "key-value heads, and is not a multiple of them");
  }
  if (model.linear_attention && model.linear_attention->key_heads % degree != 0) {
    refuse(model.linear_attention->key_heads, "key heads of linear attention");
  }
  const int columns = model.experts ? model.experts->intermediate : model.intermediate;
  if (columns % degree != 0) {
    refuse(columns, model.experts ? "intermediate dimensions of an expert" : "intermediate dimensions");
  }
}

class TaskCheck {
 public:
  TaskCheck(const std::string& name, const TaskPlan& task, const Model& model, const Cluster& cluster)
      : path_(task_path(name)), task_(task), model_(model), cluster_(cluster) {}

  void check_layout() {
    for (std::size_t i = 0; i < task_.replicas.size(); ++i) {
      const std::string stages = path_ + "/replicas/" + std::to_string(i) + "/stages";
      const Replica& replica = task_.replicas[i];
      for (std::size_t j = 0; j < replica.stages.size(); ++j) {
        check_stage(stages + "/" + std::to_string(j), replica.stages[j]);
      }
      check_layers(stages, replica);
    }
  }

  // Data that is kept on the host crosses the link to it.
  void check_offloading() const {
    const Execution& execution = task_.execution;
    const char* offloaded = execution.offload_weights       ? "offload_weights"
                            : execution.offload_optimizer   ? "offload_optimizer"
                            : execution.offload_activations ? "offload_activations"
                                                            : nullptr;
    if (execution.offload_activation_layers > 0 && !execution.offload_activations) {
      throw_bad_input(path_ +
                      "/execution/offload_activation_layers: has no meaning without offload_activations");
    }
    if (offloaded == nullptr) return;
    for (const DeviceId device : task_.devices()) {
      if (cluster_.type_of(device).host_bytes_per_s) continue;
      throw_bad_input(path_ + "/execution/" + offloaded + ": device type " +
                      in_quotes(cluster_.type_name(device)) + " of the cluster has no host_bytes_per_s");
    }
  }

  void check_execution() const {
    const Execution& execution = task_.execution;
    const std::string at = path_ + "/execution";
    if (execution.sharded_over > 0) check_sharding(at + "/sharded_over");
    if (execution.expert_parallel > 1) {
      if (!model_.experts) {
        throw_bad_input(at + "/expert_parallel: model " + in_quotes(model_.name) + " has no experts");
      }
      if (model_.experts->count % execution.expert_parallel != 0) {
        throw_bad_input(at + "/expert_parallel: " + std::to_string(execution.expert_parallel) +
                        " does not divide the model's " + std::to_string(model_.experts->count) + " experts");
      }
    }
    if (model_.experts && (execution.expert_parallel > 1 || execution.expert_tensor_parallel > 0))
      check_room_for_experts(at + "/expert_parallel");
    for (const Replica& replica : task_.replicas) {
      for (const Stage& stage : replica.stages) {
        if (execution.virtual_stages > stage.layers) {
          throw_bad_input(at + "/virtual_stages: " + std::to_string(execution.virtual_stages) +
                          " chunks of a stage with " + std::to_string(stage.layers) + " layers");
        }
      }
    }
  }

  void check_sharding(const std::string& at) const {
    const int over = task_.execution.sharded_over;
    if (task_.execution.zero_stage == 0) throw_bad_input(at + ": has no meaning without zero_stage");
    const int holders = task_.data_parallel() * task_.execution.context_parallel;
    if (holders % over != 0)
      throw_bad_input(at + ": " + std::to_string(over) + " does not divide the " + std::to_string(holders) +
                      " devices that hold the same weights (replicas times context_parallel)");
  }

  // Before generation nobody knows how long a response will be.
  void check_length_ranks(const Task& task) const {
    if (task.kind != TaskKind::generation) return;
    for (std::size_t i = 0; i < task_.replicas.size(); ++i) {
      if (task_.replicas[i].length_rank == 0) continue;
      throw_bad_input(path_ + "/replicas/" + std::to_string(i) +
                      "/length_rank: not allowed for generation, which decides the lengths itself");
    }
  }

  // Micro-batches are made of whole sequences.
  void check_micro_batches(const Task& task, const Workflow& workflow) const {
    const int steps = task.kind == TaskKind::training ? workflow.mini_batches : 1;
    for (const int sequences : replica_sequences(task_, workflow.sequences())) {
      const int maximum = (sequences + steps - 1) / steps;
      if (task_.execution.micro_batches <= maximum) continue;
      throw_bad_input(path_ + "/execution/micro_batches: " + std::to_string(task_.execution.micro_batches) +
                      " of " + std::to_string(maximum) + " sequences");
    }
    if (task_.execution.micro_batch_tokens > 0 && task_.execution.micro_batches == 0) {
      check_token_budget(task, workflow);
    }
  }

  // Arithmetic needs a rate on the devices that do it, and on no others.
  void check_rates(Precision of_workflow) const {
    const Execution& execution = task_.execution;
    const std::string at = path_ + "/execution/";
    const Precision plain = execution.precision.value_or(of_workflow);
    if (execution.precision) {
      check_rate(at + "precision", plain, "");
    } else {
      check_rate(path_, plain, ", the workflow's precision");
    }
    if (execution.expert_precision && model_.experts) {
      check_rate(at + "expert_precision", *execution.expert_precision, "");
    }
    if (execution.attention_precision) {
      check_rate(at + "attention_precision", *execution.attention_precision, "");
    }
  }

  void check_shares(int sequences) const {
    if (task_.replicas.empty()) {
      throw_bad_input(path_ + "/replicas: expected at least one replica");
    }
    if (task_.data_parallel() > sequences) {
      throw_bad_input(path_ + "/replicas: " + std::to_string(task_.data_parallel()) + " replicas for " +
                      std::to_string(sequences) + " sequences");
    }
    const double sum = std::accumulate(task_.replicas.begin(), task_.replicas.end(), 0.0,
                                       [](double so_far, const Replica& r) { return so_far + r.batch_share; });
    constexpr double kTolerance = 1e-5;  // as when a plan is read
    if (!(sum > 1 - kTolerance && sum < 1 + kTolerance)) {
      throw_bad_input(path_ + "/replicas: the batch shares sum to " + Json(sum).dump() + ", not to 1");
    }
    const std::vector<int> counts = replica_sequences(task_, sequences);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] < 1) {
        throw_bad_input(path_ + "/replicas/" + std::to_string(i) + "/batch_share: too small for one of " +
                        std::to_string(sequences) + " sequences");
      }
    }
  }

 private:
  void check_rate(const std::string& at, Precision precision, const std::string& whose) const {
    for (const DeviceId device : task_.devices()) {
      if (cluster_.type_of(device).flop_per_s.contains(precision)) continue;
      throw_bad_input(at + ": device type " + in_quotes(cluster_.type_name(device)) +
                      " of the cluster has no flop_per_s for " + std::string(name_of(precision)) + whose);
    }
  }

  // The devices that hold a stage's layers in all replicas hold every expert, each as often as any other.
  void check_room_for_experts(const std::string& at) const {
    const Execution& execution = task_.execution;
    for (const Replica& replica : task_.replicas) {
      for (const Stage& stage : replica.stages) {
        const int inside = execution.expert_tensor_parallel > 0 ? execution.expert_tensor_parallel
                                                                : task_.tensor_parallel(stage);
        const std::int64_t dealt = std::int64_t{execution.expert_parallel} * inside;
        const int holders = stage.width() * task_.data_parallel();
        if (holders % dealt == 0) continue;
        throw_bad_input(at + ": experts over " + std::to_string(execution.expert_parallel) + " x " +
                        std::to_string(inside) + " devices do not fit the " + std::to_string(holders) +
                        " that hold a stage in all replicas");
      }
    }
  }

  // Tokens of a sequence: of those that the last rank gets, where they are dealt by length.
  [[nodiscard]] double longest_sequences(const Task& task, const Workflow& workflow) const {
    const Lengths &prompt = workflow.prompt_tokens, &response = workflow.response_tokens;
    const double observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
    if (task.kind != TaskKind::generation && task_.execution.pads_to_longest())
      return longest_of_iteration(workflow);
    if (!task_.execution.packed) return observed + prompt.max_tokens() + response.max_tokens();
    if (!deals_by_length(task_)) return observed + prompt.mean_tokens() + response.mean_tokens();
    int first = 0;
    for (const SequenceRange& range : length_ranges(task_, replica_sequences(task_, workflow.sequences())))
      first = std::max(first, range.first);
    return SortedLengths(workflow).mean_tokens(first, workflow.sequences());
  }

  void check_token_budget(const Task& task, const Workflow& workflow) const {
    const Execution& execution = task_.execution;
    const double tokens = longest_sequences(task, workflow);
    const bool whole = semantics_of(execution.semantics).budgets_whole_sequences;
    const double budget = 1.0 * execution.micro_batch_tokens * (whole ? 1 : execution.context_parallel);
    if (budget >= tokens) return;
    throw_bad_input(path_ + "/execution/micro_batch_tokens: a micro-batch of " + Json(budget).dump() +
                    " tokens holds no sequence of " + Json(tokens).dump());
  }

  void check_stage(const std::string& path, const Stage& stage) {
    if (stage.layers < 1) {
      throw_bad_input(path + "/layers: expected an integer >= 1, got " + std::to_string(stage.layers));
    }
    if (stage.devices.empty()) {
      throw_bad_input(path + "/devices: expected at least one device");
    }
    std::set<DeviceId> in_stage;
    for (std::size_t k = 0; k < stage.devices.size(); ++k) {
      const DeviceId device = stage.devices[k];
      const std::string at = path + "/devices/" + std::to_string(k) + ": ";
      if (!cluster_.contains(device)) {
        throw_bad_input(at + "unknown device " + std::to_string(device.value) + "; the cluster has " +
                        std::to_string(cluster_.device_count()) + " (0 to " +
                        std::to_string(cluster_.device_count() - 1) + ")");
      }
      if (!in_stage.insert(device).second) {
        throw_bad_input(at + "device " + std::to_string(device.value) + " is used twice in this stage");
      }
      if (!used_.insert(device).second) {
        throw_bad_input(at + "device " + std::to_string(device.value) + " is used twice in this task");
      }
    }
    const int contexts = task_.execution.context_parallel;
    if (stage.width() % contexts != 0) {
      throw_bad_input(path + "/devices: context parallelism " + std::to_string(contexts) +
                      " does not divide the stage's " + std::to_string(stage.width()) + " devices");
    }
    check_tensor_parallel(path, task_.tensor_parallel(stage), model_);
  }

  void check_layers(const std::string& stages, const Replica& replica) const {
    const auto layers =
        std::accumulate(replica.stages.begin(), replica.stages.end(), std::int64_t{0},
                        [](std::int64_t sum, const Stage& stage) { return sum + stage.layers; });
    if (layers != model_.layers) {
      throw_bad_input(stages + ": layers sum to " + std::to_string(layers) + ", the model has " +
                      std::to_string(model_.layers));
    }
  }

  std::string path_;
  const TaskPlan& task_;
  const Model& model_;
  const Cluster& cluster_;
  std::set<DeviceId> used_;
};

}  // namespace

void check_plan(const Plan& plan, const Workflow& workflow, const Cluster& cluster) {
  check_names(plan, workflow);
  for (const Task& task : workflow.tasks) {
    TaskCheck check(task.name, plan.tasks.at(task.name), workflow.model_of(task), cluster);
    check.check_layout();
    check.check_execution();
    check.check_offloading();
    check.check_rates(workflow.precision);
    check.check_shares(workflow.sequences());
    check.check_length_ranks(task);
    check.check_micro_batches(task, workflow);
  }
}

}  // namespace sextant
