#include "planner/verify/layout_rules.h"

#include <cstdint>
#include <map>

namespace sextant::inline planner {
namespace {

std::string device_named(DeviceId device) { return "device " + std::to_string(device.value); }

class LayoutRules {
 public:
  explicit LayoutRules(const PlannedTask& task) : task_(task) {}

  std::vector<Violation> run() {
    if (task_.plan.replicas.empty()) add(task_.name(), rules::kEveryTaskletPlaced, "the task has no replica");
    for (std::size_t i = 0; i < task_.plan.replicas.size(); ++i) look_at_replica(i);
    return std::move(found_);
  }

 private:
  void add(const std::string& where, const char* rule, const std::string& message) {
    found_.push_back({where, rule, message});
  }

  void look_at_replica(std::size_t i) {
    const std::vector<Stage>& stages = task_.plan.replicas[i].stages;
    std::int64_t layers = 0;
    for (std::size_t j = 0; j < stages.size(); ++j) {
      layers += stages[j].layers;
      look_at_stage(place_of(task_.name(), i, j), stages[j]);
    }
    if (layers != task_.model().layers) {
      add(place_of(task_.name(), i), rules::kLayers,
          "the stages hold " + std::to_string(layers) + " layers, the model has " +
              std::to_string(task_.model().layers));
    }
  }

  void look_at_stage(const std::string& where, const Stage& stage) {
    if (stage.layers < 1) {
      add(where, rules::kLayers, "holds " + std::to_string(stage.layers) + " layers, expected at least one");
    }
    if (stage.devices.empty()) {
      add(where, rules::kEveryTaskletPlaced, "its tasklets are on no device");
      return;
    }
    for (const DeviceId device : stage.devices) look_at_device(where, device);
    look_at_degrees(where, stage);
  }

  void look_at_device(const std::string& where, DeviceId device) {
    const int devices = task_.cluster.device_count();
    if (device.value < 0 || device.value >= devices) {
      add(where, rules::kEveryTaskletPlaced,
          device_named(device) + " does not exist, the cluster has " + std::to_string(devices));
      return;
    }
    const auto [holder, is_free] = holder_of_.emplace(device, where);
    if (is_free) return;
    add(where, rules::kOneTaskletADevice,
        device_named(device) + " already holds a tasklet of this task, of " + holder->second);
  }

  void look_at_degrees(const std::string& where, const Stage& stage) {
    const int width = static_cast<int>(stage.devices.size()), contexts = task_.execution().context_parallel;
    if (width % contexts != 0) {
      add(where, rules::kContextParallel,
          "context parallelism " + std::to_string(contexts) + " does not divide its " + std::to_string(width) +
              " devices");
      return;
    }
    look_at_tensor_parallel(where, width / contexts);
  }

  void look_at_tensor_parallel(const std::string& where, int degree) {
    const Model& model = task_.model();
    expect_divides(where, degree, model.heads, "heads");
    const bool whole = model.kv_heads % degree == 0, repeated = degree % model.kv_heads == 0;
    if (!whole && !repeated) {
      add(where, rules::kTensorParallel,
          "tensor parallelism " + std::to_string(degree) + " neither divides the model's " +
              std::to_string(model.kv_heads) + " key-value heads nor is a multiple of them");
    }
    if (model.linear_attention)
      expect_divides(where, degree, model.linear_attention->key_heads, "key heads of linear attention");
    if (model.experts) {
      expect_divides(where, degree, model.experts->intermediate, "intermediate dimensions of an expert");
    } else {
      expect_divides(where, degree, model.intermediate, "intermediate dimensions");
    }
  }

  void expect_divides(const std::string& where, int degree, int count, const std::string& what) {
    if (count % degree == 0) return;
    add(where, rules::kTensorParallel,
        "tensor parallelism " + std::to_string(degree) + " does not divide the model's " +
            std::to_string(count) + " " + what);
  }

  const PlannedTask& task_;
  std::map<DeviceId, std::string> holder_of_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> task_violations(const Plan& plan, const Workflow& workflow) {
  std::vector<Violation> found;
  for (const Task& task : workflow.tasks) {
    if (plan.tasks.count(task.name) == 0) {
      found.push_back({task.name, rules::kEveryTaskletPlaced, "the plan does not have this task"});
    }
  }
  for (const auto& [name, layout] : plan.tasks) {
    bool is_known = false;
    for (const Task& task : workflow.tasks) is_known = is_known || task.name == name;
    if (!is_known) {
      found.push_back({name, rules::kEveryTaskletPlaced, "the workflow does not have this task"});
    }
  }
  return found;
}

std::vector<Violation> layout_violations(const PlannedTask& task) { return LayoutRules(task).run(); }

}  // namespace sextant::inline planner
