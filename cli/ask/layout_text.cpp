#include "cli/ask/layout_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "core/text.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct Layout {
  std::string option, words;
  std::map<std::string, int> degrees;  // as given
  int first = 0, devices = 0;

  [[nodiscard]] int get(const char* name, int otherwise = 1) const {
    const auto found = degrees.find(name);
    return found == degrees.end() ? otherwise : found->second;
  }
};

int number_of(const Layout& layout, const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 7 &&
                         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) throw_bad_input(layout.option + ": expected a whole number, got " + in_quotes(text));
  return std::stoi(text);
}

void take_devices(const std::string& text, const Cluster& cluster, Layout& layout) {
  const std::size_t dash = text.find('-');
  layout.first = number_of(layout, text.substr(0, dash));
  const int last = dash == std::string::npos ? layout.first : number_of(layout, text.substr(dash + 1));
  layout.devices = last - layout.first + 1;
  if (layout.devices < 1 || last >= cluster.device_count())
    throw_bad_input(layout.option + ": expected gpus=FIRST-LAST with numbers from 0 to " +
                    std::to_string(cluster.device_count() - 1) + ", got " + in_quotes(text));
}

Layout parse_layout(const std::string& option, const std::string& words, const Cluster& cluster) {
  constexpr std::array<std::string_view, 7> kDegrees{"tp", "pp", "dp", "cp", "ep", "fsdp", "zero"};
  Layout layout{option, words, {}, 0, cluster.device_count()};
  for (std::size_t from = 0; from <= words.size();) {
    const std::size_t comma = std::min(words.find(',', from), words.size());
    const std::string part = words.substr(from, comma - from);
    from = comma + 1;
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals),
                      value = equals < part.size() ? part.substr(equals + 1) : "";
    if (name == "gpus") {
      take_devices(value, cluster, layout);
      continue;
    }
    if (std::find(kDegrees.begin(), kDegrees.end(), name) == kDegrees.end())
      throw_bad_input(
          option + ": expected tp=, pp=, dp=, cp=, ep=, fsdp=, zero= and gpus= with commas between them, got " +
          in_quotes(part));
    const int degree = number_of(layout, value);
    if (degree < (name == "zero" ? 0 : 1) || (name == "zero" && degree > 3))
      throw_bad_input(option + ": " + in_quotes(part) + " is out of range");
    if (option == "--rollout" && (name == "fsdp" || name == "zero" || name == "cp"))
      throw_bad_input(option + ": an engine has no " + name + "; it takes tp=, pp=, dp=, ep= and gpus=");
    if (!layout.degrees.emplace(name, degree).second) throw_bad_input(option + ": " + name + " is given twice");
  }
  return layout;
}

UniformLayout uniform_of(const Layout& layout) {
  const int width = layout.get("tp") * layout.get("cp"), stages = layout.get("pp");
  const double model_parallel = static_cast<double>(width) * stages;
  const int replicas = layout.get("fsdp", layout.get("dp", 0));
  if (layout.degrees.contains("fsdp") && layout.degrees.contains("dp"))
    throw_bad_input(layout.option + ": fsdp is data parallelism; give fsdp or dp");
  const double needed = replicas > 0 ? replicas * model_parallel : 0;
  if (replicas > 0 ? needed != layout.devices
                   : layout.devices % static_cast<int>(std::min(model_parallel, 1e6)) != 0)
    throw_bad_input(
        layout.option + ": " + in_quotes(layout.words) + " does not fill " + std::to_string(layout.devices) +
        " GPUs: " +
        (replicas > 0 ? "it needs " + std::to_string(static_cast<long>(needed)) : "no multiple of them") +
        "; gpus=FIRST-LAST gives it a part of the cluster");
  return {replicas > 0 ? replicas : layout.devices / static_cast<int>(model_parallel), stages, width,
          DeviceId{layout.first}};
}

std::string words_for(const LayoutOptions& layouts, TaskKind kind, std::string& option) {
  if (kind == TaskKind::generation) {
    option = "--rollout";
    return layouts.rollout;
  }
  option = kind == TaskKind::training || layouts.inference.empty() ? "--train" : "--inference";
  return option == "--train" ? layouts.train : layouts.inference;
}

Layout layout_for(const LayoutOptions& layouts, TaskKind kind, const Cluster& cluster) {
  std::string option;
  const std::string words = words_for(layouts, kind, option);
  if (words.empty())
    throw_bad_input(option + ": the layout of " + (kind == TaskKind::generation ? "generation" : "training") +
                    " is missing");
  return parse_layout(option, words, cluster);
}

}  // namespace

Plan plan_from_words(const LayoutOptions& layouts, const Workflow& workflow, const Cluster& cluster) {
  Plan plan;
  plan.name = "as asked";
  for (const Task& task : workflow.tasks) {
    const Layout layout = layout_for(layouts, task.kind, cluster);
    const UniformLayout uniform = uniform_of(layout);
    const int layers = workflow.model_of(task).layers;
    if (uniform.pipeline_parallel > layers)
      throw_bad_input(layout.option + ": more stages than the " + std::to_string(layers) +
                      " layers of the model");
    TaskPlan& of_task = plan.tasks[task.name];
    of_task.replicas = expand_layout(uniform, layers);
    const bool has_order = uniform.data_parallel > 1 && uniform.pipeline_parallel > 1;
    of_task.unstated = {.micro_batch = true,
                        .decode_batch = true,
                        .recompute = true,
                        .execution = true,
                        .outermost = has_order};
  }
  return plan;
}

void set_degrees(const LayoutOptions& layouts, const Workflow& workflow, const Cluster& cluster, Plan& plan) {
  for (const Task& task : workflow.tasks) {
    const Layout layout = layout_for(layouts, task.kind, cluster);
    Execution& execution = plan.tasks.at(task.name).execution;
    execution.context_parallel = layout.get("cp");
    if (layout.degrees.contains("ep")) {
      execution.expert_parallel = layout.get("ep");
      execution.expert_tensor_parallel = execution.expert_parallel > 1 ? 1 : 0;
    }
    if (layout.degrees.contains("fsdp")) execution.zero_stage = 3;
    if (layout.degrees.contains("zero")) execution.zero_stage = layout.get("zero");
  }
}

}  // namespace sextant::cli
