#include "ask/words/layout_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

constexpr const char* kWeights = "weights";
constexpr const char* kOptimizer = "optimizer";
constexpr const char* kActivations = "activations";
constexpr const char* kNone = "none";

struct Layout {
  std::string option, words;
  std::map<std::string, int> degrees;  // as given; in addition to degrees tokens= and sequences=
  int first = 0, devices = 0;
  std::optional<Recompute> recompute;
  std::optional<std::set<std::string>> offloaded;  // empty: nothing
  double cache_share = 0, cache_bytes = 0;         // KV cache of a GPU, one of both; 0: not given

  [[nodiscard]] int get(const char* name, int otherwise = 1) const {
    const auto found = degrees.find(name);
    return found == degrees.end() ? otherwise : found->second;
  }
};

bool is_engine(const Layout& layout) { return layout.option == "--rollout"; }

constexpr int kMaxDegree = 9'999'999;

// nullopt: not a whole number from 0 to kMaxDegree.
std::optional<int> whole_number(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 7 &&
                         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::optional<int>(std::stoi(text)) : std::nullopt;
}

// The number of "tp=4".
int degree_of(const Layout& layout, const std::string& part) {
  const std::string name = part.substr(0, part.find('='));
  const int minimum = name == "zero" ? 0 : 1, maximum = name == "zero" ? 3 : kMaxDegree;
  const std::optional<int> degree = whole_number(part.substr(std::min(name.size() + 1, part.size())));
  if (!degree || *degree < minimum || *degree > maximum)
    throw_bad_input(layout.option + ": expected a whole number from " + std::to_string(minimum) + " to " +
                    std::to_string(maximum) + " after " + name + "=, got " + in_quotes(part) +
                    "; for example " + layout.option +
                    (is_engine(layout) ? " tp=2,sequences=256" : " fsdp=32,tokens=16384"));
  return *degree;
}

void take_devices(const std::string& part, const std::string& text, const Cluster& cluster, Layout& layout) {
  const std::size_t dash = text.find('-');
  const std::optional<int> first = whole_number(text.substr(0, dash)),
                           last = dash == std::string::npos ? first : whole_number(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= cluster.device_count())
    throw_bad_input(layout.option + ": expected gpus=FIRST-LAST with numbers from 0 to " +
                    std::to_string(cluster.device_count() - 1) + ", got " + in_quotes(part));
  layout.first = *first;
  layout.devices = *last - *first + 1;
}

// The words of an option, for messages.
std::string known_words(const Layout& layout) {
  if (is_engine(layout)) return "tp=, pp=, dp=, ep=, sequences=, offload=, cache= and gpus=";
  const std::string recompute = layout.option == "--train" ? "recompute=, lora=, " : "";
  return "tp=, pp=, dp=, cp=, ep=, fsdp=, zero=, shard=, tokens=, sequences=, " + recompute +
         "offload= and gpus=";
}

void take_recompute(const std::string& part, const std::string& value, Layout& layout) {
  if (layout.option != "--train")
    throw_bad_input(layout.option + ": only training has activations to recompute; " + in_quotes(part));
  if (layout.recompute) throw_bad_input(layout.option + ": recompute is given twice");
  for (const Recompute one : {Recompute::none, Recompute::selective, Recompute::full}) {
    if (value == name_of(one)) layout.recompute = one;
  }
  if (!layout.recompute)
    throw_bad_input(layout.option + ": expected recompute=none, selective or full, got " + in_quotes(part));
}

// "0.5" of a GPU's memory, "20GB" or "20GiB".
void take_cache(const std::string& part, const std::string& value, Layout& layout) {
  if (!is_engine(layout))
    throw_bad_input(layout.option + ": only generation has a KV cache, which --rollout states; " +
                    in_quotes(part));
  if (layout.cache_share > 0 || layout.cache_bytes > 0)
    throw_bad_input(layout.option + ": cache is given twice");
  constexpr double kGb = 1e9, kGib = 1024.0 * 1024 * 1024, kMaxBytes = 1e13;
  double number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  const std::string unit(end, value.data() + value.size());
  const double bytes = unit == "GB" ? std::round(number * kGb) : unit == "GiB" ? std::round(number * kGib) : 0;
  const bool is_share = unit.empty() && number > 0 && number < 1;
  if (fault != std::errc() || !(is_share || (bytes > 0 && bytes < kMaxBytes)))
    throw_bad_input(
        layout.option +
        ": expected cache= with a share of a GPU's memory between 0 and 1, or its size in GB or GiB, got " +
        in_quotes(part) + "; for example cache=0.4 or cache=30GB");
  (is_share ? layout.cache_share : layout.cache_bytes) = is_share ? number : bytes;
}

// "weights+optimizer", or "none".
void take_offloaded(const std::string& part, const std::string& value, Layout& layout) {
  if (layout.offloaded) throw_bad_input(layout.option + ": offload is given twice");
  layout.offloaded.emplace();
  if (value == kNone) return;
  std::set<std::string> known{kWeights};
  if (layout.option == "--train") known.insert({kOptimizer, kActivations});
  for (std::size_t from = 0; from <= value.size();) {
    const std::size_t plus = std::min(value.find('+', from), value.size());
    const std::string name = value.substr(from, plus - from);
    from = plus + 1;
    if (!known.contains(name))
      throw_bad_input(layout.option + ": expected offload=none" +
                      (known.size() > 1 ? ", or weights, optimizer and activations with \"+\" between them"
                                        : " or weights") +
                      ", got " + in_quotes(part));
    layout.offloaded->insert(name);
  }
}

Layout parse_layout(const std::string& option, const std::string& words, const Cluster& cluster) {
  constexpr std::array<std::string_view, 11> kDegrees{"tp",   "pp",    "dp",     "cp",        "ep",  "fsdp",
                                                      "zero", "shard", "tokens", "sequences", "lora"};
  Layout layout{option, words, {}, 0, cluster.device_count(), {}, {}, 0, 0};
  for (std::size_t from = 0; from <= words.size();) {
    const std::size_t comma = std::min(words.find(',', from), words.size());
    const std::string part = words.substr(from, comma - from);
    from = comma + 1;
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals),
                      value = equals < part.size() ? part.substr(equals + 1) : "";
    if (name == "gpus") {
      take_devices(part, value, cluster, layout);
      continue;
    }
    if (name == "recompute" || name == "offload" || name == "cache") {
      (name == "offload" ? take_offloaded : name == "cache" ? take_cache : take_recompute)(part, value, layout);
      continue;
    }
    if (std::find(kDegrees.begin(), kDegrees.end(), name) == kDegrees.end())
      throw_bad_input(option + ": expected " + known_words(layout) + " with commas between them, got " +
                      in_quotes(part));
    if (is_engine(layout) &&
        (name == "fsdp" || name == "zero" || name == "shard" || name == "cp" || name == "tokens"))
      throw_bad_input(option + ": an engine has no " + name + "; it takes " + known_words(layout));
    if (name == "lora" && option != "--train")
      throw_bad_input(option + ": only training has adapters, which --train states; " + in_quotes(part));
    if (!layout.degrees.emplace(name, degree_of(layout, part)).second)
      throw_bad_input(option + ": " + name + " is given twice");
  }
  if (layout.degrees.contains("tokens") && layout.degrees.contains("sequences"))
    throw_bad_input(option + ": a micro-batch is counted in tokens or in sequences; give tokens or sequences");
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

double smallest_memory(const TaskPlan& plan, const Cluster& cluster) {
  double bytes = std::numeric_limits<double>::infinity();
  for (const DeviceId device : plan.devices())
    bytes = std::min(bytes, cluster.type_of(device).memory_bytes.value);
  return bytes;
}

// The options of the words. Tasks that only score and have the layout of training keep their own options.
void set_options(const Layout& layout, TaskKind kind, const Cluster& cluster, TaskPlan& plan) {
  if (kind == TaskKind::inference && layout.option == "--train") return;
  Execution& execution = plan.execution;
  if (layout.recompute) plan.recompute = *layout.recompute;
  if (layout.offloaded) {
    execution.offload_weights = layout.offloaded->contains(kWeights);
    execution.offload_optimizer = layout.offloaded->contains(kOptimizer);
    execution.offload_activations = layout.offloaded->contains(kActivations);
  }
  const int sequences = layout.get("sequences", 0);
  if (kind == TaskKind::generation) {
    if (sequences > 0) plan.decode_batch_sequences = sequences;
    if (layout.cache_bytes > 0) execution.kv_cache_bytes = layout.cache_bytes;
    if (layout.cache_share > 0)
      execution.kv_cache_bytes = std::floor(layout.cache_share * smallest_memory(plan, cluster));
    return;
  }
  const int tokens = layout.get("tokens", 0);
  if (tokens == 0 && sequences == 0) return;
  plan.unstated.micro_batch = false;
  execution.micro_batches = 0;
  execution.micro_batch_tokens = tokens;
  plan.micro_batch_sequences = std::max(1, sequences);
}

// ---- a plan as words ----

std::string offload_words(const Execution& execution, TaskKind kind) {
  std::string words;
  const auto add = [&](bool is_so, const char* name) {
    if (is_so) words += (words.empty() ? "" : "+") + std::string(name);
  };
  add(execution.offload_weights, kWeights);
  add(execution.offload_optimizer && kind == TaskKind::training, kOptimizer);
  add(execution.offload_activations && kind == TaskKind::training, kActivations);
  return ",offload=" + (words.empty() ? kNone : words);
}

// "fsdp=8", "tp=4,pp=2,dp=2,zero=1"
std::string degree_words(const TaskPlan& plan, const UniformLayout& layout, TaskKind kind) {
  const Execution& execution = plan.execution;
  std::string words;
  const auto add = [&](const char* name, int degree, int neutral) {
    if (degree != neutral) words += "," + std::string(name) + "=" + std::to_string(degree);
  };
  add("tp", layout.tensor_parallel / execution.context_parallel, 1);
  add("pp", layout.pipeline_parallel, 1);
  add("cp", execution.context_parallel, 1);
  add("ep", execution.expert_parallel, 1);
  constexpr int kShardsWeights = 3;
  const bool is_fsdp = kind != TaskKind::generation && execution.zero_stage == kShardsWeights;
  add(is_fsdp ? "fsdp" : "dp", layout.data_parallel, 0);
  if (kind == TaskKind::training && !is_fsdp) add("zero", execution.zero_stage, -1);
  add("shard", execution.sharded_over, 0);
  return words.substr(1);
}

// "34.012": as many digits as it needs.
std::string gigabytes(double bytes) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), bytes / 1e9).ptr;
  return {text.data(), end};
}

std::optional<std::string> words_of(const TaskPlan& plan, TaskKind kind, const Cluster& cluster) {
  const std::optional<UniformLayout> layout = uniform_layout(plan.replicas);
  if (!layout) return std::nullopt;
  std::string words = degree_words(plan, *layout, kind);
  if (kind == TaskKind::generation) {
    if (plan.decode_batch_sequences > 0) words += ",sequences=" + std::to_string(plan.decode_batch_sequences);
    if (plan.execution.kv_cache_bytes > 0) words += ",cache=" + gigabytes(plan.execution.kv_cache_bytes) + "GB";
  } else if (plan.execution.micro_batch_tokens > 0) {
    words += ",tokens=" + std::to_string(plan.execution.micro_batch_tokens);
  } else {
    words += ",sequences=" + std::to_string(plan.micro_batch_sequences);
  }
  if (kind == TaskKind::training) words += ",recompute=" + std::string(name_of(plan.recompute));
  if (kind == TaskKind::training && plan.execution.lora_rank > 0)
    words += ",lora=" + std::to_string(plan.execution.lora_rank);
  words += offload_words(plan.execution, kind);
  const int count = layout->data_parallel * layout->pipeline_parallel * layout->tensor_parallel;
  if (count < cluster.device_count())
    words +=
        ",gpus=" + std::to_string(layout->first.value) + "-" + std::to_string(layout->first.value + count - 1);
  return words;
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
    const bool has_options = task.kind != TaskKind::inference || layout.option != "--train";
    const bool has_batch = layout.degrees.contains("tokens") || layout.degrees.contains("sequences");
    const bool has_order = uniform.data_parallel > 1 && uniform.pipeline_parallel > 1;
    of_task.unstated = {.micro_batch = !(has_options && has_batch && task.kind != TaskKind::generation),
                        .decode_batch = !(has_options && has_batch && task.kind == TaskKind::generation),
                        .recompute = !(has_options && layout.recompute),
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
    if (layout.degrees.contains("shard")) execution.sharded_over = layout.get("shard");
    if (task.kind == TaskKind::training) execution.lora_rank = layout.get("lora", execution.lora_rank);
    set_options(layout, task.kind, cluster, plan.tasks.at(task.name));
  }
}

std::optional<LayoutOptions> words_of_plan(const Plan& plan, const Workflow& workflow, const Cluster& cluster) {
  LayoutOptions layouts;
  std::map<TaskKind, const TaskPlan*> first;
  for (const Task& task : workflow.tasks) {
    const TaskPlan& planned = plan.tasks.at(task.name);
    const TaskPlan& of_first = *first.emplace(task.kind, &planned).first->second;
    if (planned.replicas != of_first.replicas) return std::nullopt;
    const auto words = words_of(of_first, task.kind, cluster);
    std::string& of_kind = task.kind == TaskKind::generation ? layouts.rollout
                           : task.kind == TaskKind::training ? layouts.train
                                                             : layouts.inference;
    if (!words) return std::nullopt;
    of_kind = *words;
  }
  return layouts;
}

}  // namespace sextant::inline ask
