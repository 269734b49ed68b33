// One inference server for each replica of generation, or for each group of replicas that hold their experts together
// (data-parallel attention): vLLM 0.11 (flags of vllm/engine/arg_utils.py at 99d7eb5d6a51,
// VLLM_PP_LAYER_PARTITION of vllm/envs.py, github.com/vllm-project/vllm) and SGLang 0.5.10 (ServerArgs as
// areal/api/cli_args.py at v1.0.4 passes them, github.com/inclusionAI/AReaL; docs.sglang.io, Server Arguments).
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/json_value.h"
#include "reports/export/launch/launch.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/setting_rows.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr int kFirstPort = 8000, kInitPort = 20000;
constexpr const char* kServed = task_names::kActorGeneration;

struct ServerDialect {
  const char* program;
  std::span<const SettingRow> layout;   // of each server
  std::span<const SettingRow> options;  // of all of them
  const char* fraction;                 // of the GPU's memory
  bool counts_workspace = true;         // `fraction` holds the engine's workspace
  const char* length;                   // tokens of a sequence
  const char* layers = "";              // environment variable with the layers of stages; "": equal ones
  bool spans_nodes = false;             // a server may have GPUs of several nodes
  bool splits_experts = false;          // the rest of the tensor-parallel group splits experts
  bool limits_batch = false;            // to a sequence for each token of a step
  const char* replicas = "";            // of attention, of a server
  const char* shares_experts = "";      // switch of such a server
  bool counts_all_replicas = false;     // its degree of tensor parallelism and its limits are of all of them
};

constexpr std::array kVllmLayout{SettingRow{"tensor-parallel-size", Says::tensor},
                                 SettingRow{"pipeline-parallel-size", Says::stages}};
constexpr std::array kVllmOptions{SettingRow{"enable-expert-parallel", Says::whole_experts, 0},
                                  SettingRow{"enforce-eager", Says::eager, 0},
                                  SettingRow{"no-enable-prefix-caching", Says::own_prompts, 0},
                                  SettingRow{"enable-sleep-mode", Says::sleeps, 0},
                                  SettingRow{"max-num-seqs", Says::decode_sequences},
                                  SettingRow{"max-num-batched-tokens", Says::prefill_tokens}};
constexpr std::array kSglangLayout{SettingRow{"tp-size", Says::tensor}, SettingRow{"pp-size", Says::stages}};
constexpr std::array kSglangOptions{SettingRow{"ep-size", Says::experts},
                                    SettingRow{"disable-cuda-graph", Says::eager, 0},
                                    SettingRow{"disable-radix-cache", Says::own_prompts, 0},
                                    SettingRow{"enable-memory-saver", Says::sleeps, 0},
                                    SettingRow{"max-running-requests", Says::decode_sequences},
                                    SettingRow{"chunked-prefill-size", Says::prefill_tokens}};

constexpr ServerDialect kVllmServer{"vllm serve \"$MODEL_PATH\"",
                                    kVllmLayout,
                                    kVllmOptions,
                                    "gpu-memory-utilization",
                                    true,
                                    "max-model-len",
                                    "VLLM_PP_LAYER_PARTITION",
                                    false,
                                    false,
                                    true,
                                    "data-parallel-size"};
constexpr ServerDialect kSglang{"python3 -m sglang.launch_server --model-path \"$MODEL_PATH\"",
                                kSglangLayout,
                                kSglangOptions,
                                "mem-fraction-static",
                                false,
                                "context-length",
                                "",
                                true,
                                true,
                                false,
                                "dp-size",
                                "enable-dp-attention",
                                true};

// The part of a GPU's memory that the engine takes in addition to its option.
double uncounted_fraction(const ServerDialect& dialect) {
  return dialect.counts_workspace ? 0 : kEngineWorkspaceFraction;
}

// ---- the plan that servers can run ----

// The options that every server has, and those of the plan that flags say.
Execution served_options(const Execution& plan, int width, int replicas, const ServerDialect& dialect) {
  Execution out;
  out.packed = out.continuous_batching = out.fused_attention = true;
  out.cuda_graphs = plan.cuda_graphs;
  out.shared_prompts = plan.shared_prompts;
  out.prefill_chunk_tokens = plan.prefill_chunk_tokens;
  out.kv_cache_bytes = plan.kv_cache_bytes;
  out.offload_weights = plan.offload_weights;
  if (replicas > 1) {
    out.expert_parallel = replicas * width;
    out.expert_tensor_parallel = 1;
    return out;
  }
  if (plan.expert_parallel <= 1 || width == 1) return out;
  out.expert_parallel =
      dialect.splits_experts && width % plan.expert_parallel == 0 ? plan.expert_parallel : width;
  out.expert_tensor_parallel = width / out.expert_parallel;
  return out;
}

std::string changed_options(const Execution& before, const Execution& after) {
  const Json a = before.to_json(), b = after.to_json();
  std::string out;
  for (const Json& all : {a, b}) {
    for (const auto& [member, value] : all.items()) {
      if (a.value(member, Json()) == b.value(member, Json()) || out.find(member) != std::string::npos) continue;
      out += (out.empty() ? "" : ", ") + member;
    }
  }
  return out;
}

TrainerTask as_task(const TaskPlan& plan, const Replica& replica) {
  TrainerTask task;
  task.options = plan;
  task.pipeline_parallel = replica.pipeline_parallel();
  task.tensor_parallel = replica.stages.front().width();
  for (const Stage& stage : replica.stages) task.stage_layers.push_back(stage.layers);
  return task;
}

// Replicas of attention of each server: those that hold their experts together if they are alike and divide into such
// groups of one stage, otherwise one.
int replicas_of_server(const TaskPlan& task) {
  const TrainerTask first = as_task(task, task.replicas.front());
  const int replicas = attention_replicas(first);
  const bool are_alike = std::all_of(task.replicas.begin(), task.replicas.end(), [&](const Replica& replica) {
    return replica.pipeline_parallel() == 1 && replica.stages.front().width() == first.tensor_parallel;
  });
  return are_alike && task.data_parallel() % replicas == 0 ? replicas : 1;
}

// The replica that stands for a server: its GPUs, those of all its replicas, are one stage.
Replica server_of(const TaskPlan& task, std::size_t number, int replicas) {
  const auto first = task.replicas.begin() + static_cast<std::ptrdiff_t>(number) * replicas;
  Replica server = *first;
  for (auto replica = first + 1; replica != first + replicas; ++replica) {
    const std::vector<DeviceId>& more = replica->stages.front().devices;
    server.stages.front().devices.insert(server.stages.front().devices.end(), more.begin(), more.end());
  }
  return server;
}

const Model& served_model(const Workflow& workflow) { return workflow.model_of(workflow.task(kServed)); }

void take_options(const ServerDialect& dialect, const LaunchProblem& problem, LaunchScript& script) {
  TaskPlan& task = script.plan.tasks.at(kServed);
  int width = task.replicas.front().stages.front().width();
  for (const Replica& replica : task.replicas) width = std::min(width, replica.stages.front().width());
  const Execution before = task.execution;
  task.execution = served_options(before, width, replicas_of_server(task), dialect);
  if (const std::string changed = changed_options(before, task.execution); !changed.empty())
    script.unsaid.push_back({changed + ": as a server has it", script.plan});
  const TaskPlan limits = task;
  const std::vector<int> sequences = replica_sequences(task, problem.workflow.sequences());
  if (task.decode_batch_sequences == 0)
    task.decode_batch_sequences = *std::max_element(sequences.begin(), sequences.end());
  constexpr int kUsualChunk = 8192;
  if (task.execution.prefill_chunk_tokens == 0) task.execution.prefill_chunk_tokens = kUsualChunk;
  if (task.execution.kv_cache_bytes == 0) {
    constexpr double kUsualFraction = 0.9;
    const Replica& first = task.replicas.front();
    task.execution.kv_cache_bytes =
        kv_cache_bytes_of(kUsualFraction, as_task(task, first), served_model(problem.workflow),
                          problem.workflow.precision, smallest_memory_bytes(first.devices(), problem.cluster));
  }
  if (!(task == limits)) script.unsaid.push_back({"limits that the plan leaves open are stated", script.plan});
  const int decoded = task.decode_batch_sequences;
  if (dialect.limits_batch) keep_batch_within_step(task);
  if (task.decode_batch_sequences != decoded)
    script.unsaid.push_back({"vLLM decodes no more sequences together than a step has tokens", script.plan});
}

void take_layout(const ServerDialect& dialect, const LaunchProblem& problem, LaunchScript& script) {
  TaskPlan& task = script.plan.tasks.at(kServed);
  const TaskPlan before = task;
  const double rounding = 1.0 / problem.workflow.sequences(), share = 1.0 / task.data_parallel();
  bool is_unequal = false;
  for (Replica& replica : task.replicas) {
    is_unequal = is_unequal || std::abs(replica.batch_share - share) > rounding;
    replica.batch_share = share;
    replica.length_rank = 0;
  }
  if (is_unequal)
    script.unsaid.push_back(
        {"a router gives the servers their requests: equal parts are assumed", script.plan});
  if (std::string_view(dialect.layers).empty()) {
    const TaskPlan shares = task;
    for (Replica& replica : task.replicas) {
      int total = 0;
      for (const Stage& stage : replica.stages) total += stage.layers;
      const std::vector<int> layers =
          dealt_stages(total, replica.pipeline_parallel(), StageRule::differ_by_one);
      for (std::size_t i = 0; i < layers.size(); ++i) replica.stages[i].layers = layers[i];
    }
    if (!(task == shares)) script.unsaid.push_back({"stages have equal layers", script.plan});
  }
}

// Why a server cannot have the replica's GPUs; empty: it can.
std::string placement_refusal(const Replica& replica, std::size_t number, const ServerDialect& dialect,
                              const Cluster& cluster) {
  const std::vector<DeviceId> devices = replica.devices();
  const std::vector<NodeGpus> nodes = gpus_by_node(devices, cluster);
  const std::string name = "Replica " + std::to_string(number) + " of " + kServed;
  const int width = replica.stages.front().width();
  for (const Stage& stage : replica.stages) {
    if (stage.width() != width)
      return name + " has stages of different widths, and a server has one tensor-parallel size";
  }
  if (nodes.size() == 1) return "";
  if (!dialect.spans_nodes)
    return name + " has GPUs of several nodes, which vLLM takes by Ray without saying which: sglang says them";
  const int count = static_cast<int>(nodes.size()), stages = replica.pipeline_parallel();
  if (stages % count != 0 && count % stages != 0)  // srt/entrypoints/engine.py
    return name + " has " + std::to_string(stages) + " stages on " + std::to_string(count) +
           " nodes, and a server has whole stages on a node or whole nodes for a stage";
  std::vector<DeviceId> in_order;
  for (const NodeGpus& one : nodes) {
    if (one.gpus.size() != nodes.front().gpus.size())
      return name + " has unequal numbers of GPUs on its nodes, and a server has equal ones";
    const std::vector<DeviceId> of_node = devices_on(one.node, one.list(), cluster);
    in_order.insert(in_order.end(), of_node.begin(), of_node.end());
  }
  return in_order == devices ? ""
                             : name + " takes turns between its nodes, and a server takes one after the other";
}

// ---- writing ----

std::string flags_of(const TrainerSettings& settings) {
  std::string out;
  for (const TrainerSetting& one : settings.all()) {
    if (one.value == Json(false)) continue;
    out += " --" + one.key + (one.value == Json(true) ? "" : " " + one.value.dump());
  }
  return out;
}

LaunchScript write_servers(const Plan& plan, const LaunchProblem& problem, const ServerDialect& dialect) {
  const Workflow& workflow = problem.workflow;
  LaunchScript script;
  script.plan = plan;
  if (!workflow.has_task(kServed)) {
    script.refusal = "A server generates, and the workflow has no generation";
    return script;
  }
  TaskPlan& task = script.plan.tasks.at(kServed);
  task.unstated = {};
  const int replicas = replicas_of_server(task);
  const std::size_t servers = task.replicas.size() / static_cast<std::size_t>(replicas);
  for (std::size_t i = 0; i < servers && script.refusal.empty(); ++i)
    script.refusal = placement_refusal(server_of(task, i, replicas), i, dialect, problem.cluster);
  if (!script.refusal.empty()) return script;
  task.micro_batch_sequences = 1;
  task.recompute = Recompute::none;
  take_layout(dialect, problem, script);
  take_options(dialect, problem, script);
  TrainerSettings options;
  options.begin_group("Options of all servers");
  TrainerTask common = as_task(task, task.replicas.front());
  if (dialect.counts_all_replicas) common.options.decode_batch_sequences *= replicas;
  if (dialect.counts_all_replicas) common.options.execution.prefill_chunk_tokens *= replicas;
  write_rows(dialect.options, "", common, options);
  if (replicas > 1 && !std::string_view(dialect.shares_experts).empty())
    options.set(dialect.shares_experts, true);
  options.set(dialect.length, max_prompt_tokens(workflow) + max_response_tokens(workflow));
  // Both take the data type of the checkpoint otherwise.
  if (!precision_to_state(workflow).empty()) options.set("dtype", precision_to_state(workflow));
  std::vector<NodeId> nodes;
  std::vector<std::string> lines;
  for (std::size_t number = 0; number < servers; ++number) {
    const Replica replica = server_of(task, number, replicas);
    TrainerTask server = as_task(task, task.replicas[number * static_cast<std::size_t>(replicas)]);
    TrainerSettings own;
    TrainerTask layout = server;
    if (dialect.counts_all_replicas) layout.tensor_parallel *= replicas;
    write_rows(dialect.layout, "", layout, own);
    if (replicas > 1) own.set(dialect.replicas, replicas);
    const double fraction = engine_memory_fraction(server, served_model(workflow), workflow.precision,
                                                   smallest_memory_bytes(replica.devices(), problem.cluster)) -
                            uncounted_fraction(dialect);
    constexpr double kDigits = 1000;
    own.set(dialect.fraction, std::round(fraction * kDigits) / kDigits);
    const std::vector<NodeGpus> parts = gpus_by_node(replica.devices(), problem.cluster);
    int rank = 0;
    for (const NodeGpus& part : parts) {
      TrainerSettings at = own;
      std::string address;
      if (parts.size() > 1) {
        at.set("nnodes", static_cast<int>(parts.size()));
        at.set("node-rank", rank++);
        address =
            " --dist-init-addr " +
            quoted_for_shell(
                as_comment(problem.cluster.nodes()[static_cast<std::size_t>(parts.front().node.value)].name) +
                ":" + std::to_string(kInitPort + static_cast<int>(number)));
      }
      std::string layers;
      if (has_uneven_ends(server)) {
        for (const int count : server.stage_layers)
          layers += (layers.empty() ? "" : ",") + std::to_string(count);
        layers = std::string(dialect.layers) + "=" + layers + " ";
      }
      const auto known = std::find(nodes.begin(), nodes.end(), part.node);
      const auto index = static_cast<std::size_t>(known - nodes.begin());
      if (known == nodes.end()) {
        nodes.push_back(part.node);
        lines.emplace_back();
      }
      lines[index] += "    " + (std::string_view(dialect.layers).empty() ? "" : layers) + "serve " +
                      part.list() + " " + std::to_string(kFirstPort + static_cast<int>(number)) + flags_of(at) +
                      address + "\n";
    }
  }
  script.variables.push_back(model_variable("MODEL_PATH", "the model", workflow, "actor"));
  script.variables.push_back(node_variable());
  script.notes.emplace_back("Run it on every node. Server n answers on port 8000 + n of its first node.");
  script.body = flag_arguments(options) +
                "\n# serve GPUS PORT OPTIONS...\nserve() {\n  CUDA_VISIBLE_DEVICES=\"$1\" " + dialect.program +
                " --host 0.0.0.0 --port \"$2\" \"${arguments[@]}\" \"${@:3}\" &\n}\n\n" +
                case_of_nodes(nodes, lines, problem.cluster) + "wait\n";
  return script;
}

// ---- reading ----

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

void read_servers(std::string_view script, const LaunchProblem& problem, Plan& plan,
                  const ServerDialect& dialect) {
  const Model& model = served_model(problem.workflow);
  TrainerTask task;
  task.options.execution.packed = task.options.execution.continuous_batching =
      task.options.execution.fused_attention = true;
  std::map<int, std::map<int, std::vector<DeviceId>>> devices;  // by server and by its node
  std::map<int, TrainerTask> servers;
  double fraction = 0;
  int replicas = 1;  // of attention, of each server
  for (const NodeLine& line : lines_of_nodes(script, problem.cluster)) {
    const std::vector<std::string> words = words_of(line.text);
    const auto serve = std::find(words.begin(), words.end(), "serve");
    if (words.end() - serve < 3)
      throw_bad_input("expected \"serve GPUS PORT\", got \"" + std::string(line.text) + "\"");
    int port = 0;
    (void)std::from_chars(serve[2].data(), serve[2].data() + serve[2].size(), port);
    const std::vector<DeviceId> of_node = devices_on(line.node, serve[1], problem.cluster);
    const TrainerSettings own = read_flags(line.text);
    devices[port - kFirstPort][own.integer("node-rank", 0)] = of_node;
    TrainerTask& server = servers[port - kFirstPort];
    read_rows(dialect.layout, "", own, server);
    replicas = own.count(dialect.replicas, 1);
    if (dialect.counts_all_replicas) server.tensor_parallel = std::max(1, server.tensor_parallel / replicas);
    server.stage_layers = dealt_stages(model.layers, server.pipeline_parallel, StageRule::differ_by_one);
    const std::string& first = words.front();
    if (serve != words.begin() && first.find('=') != std::string::npos)
      server.stage_layers = listed_numbers(first.substr(first.find('=') + 1), server.pipeline_parallel, first);
    if (servers.size() == 1) fraction = own.number(dialect.fraction, 0);
  }
  if (servers.empty()) throw_bad_input("the script has no server");
  task.tensor_parallel = servers.begin()->second.tensor_parallel;
  task.pipeline_parallel = servers.begin()->second.pipeline_parallel;
  for (const auto& [number, server] : servers)
    task.tensor_parallel = std::min(task.tensor_parallel, server.tensor_parallel);
  read_rows(dialect.options, "", read_flags(script), task);
  Execution& execution = task.options.execution;
  if (dialect.counts_all_replicas) {
    task.options.decode_batch_sequences /= replicas;
    execution.prefill_chunk_tokens /= replicas;
  }
  if (replicas > 1) {
    execution.expert_parallel = replicas * task.tensor_parallel;
    execution.expert_tensor_parallel = 1;
  } else if (dialect.splits_experts && execution.expert_parallel > 1)
    execution.expert_tensor_parallel = std::max(1, task.tensor_parallel / execution.expert_parallel);
  TaskPlan& out = plan.tasks[kServed];
  out = task.options;
  for (const auto& [number, server] : servers) {
    std::vector<DeviceId> all;
    for (const auto& [rank, of_node] : devices.at(number))
      all.insert(all.end(), of_node.begin(), of_node.end());
    const std::vector<Replica> one = replicas_on(all, server.stage_layers, server.tensor_parallel, false);
    if (one.size() != static_cast<std::size_t>(replicas))
      throw_bad_input("server " + std::to_string(number) + " has GPUs of another number than its sizes");
    out.replicas.insert(out.replicas.end(), one.begin(), one.end());
  }
  for (Replica& replica : out.replicas) replica.batch_share = 1.0 / static_cast<double>(out.replicas.size());
  const Replica& first = out.replicas.front();
  out.execution.kv_cache_bytes =
      kv_cache_bytes_of(fraction + uncounted_fraction(dialect), as_task(out, first), model,
                        problem.workflow.precision, smallest_memory_bytes(first.devices(), problem.cluster));
}

}  // namespace

LaunchDialect vllm_launch() {
  return {
      "vllm", "0.11",
      [](const Plan& plan, const LaunchProblem& problem) { return write_servers(plan, problem, kVllmServer); },
      [](std::string_view script, const LaunchProblem& problem, Plan& plan) {
        read_servers(script, problem, plan, kVllmServer);
      }};
}

LaunchDialect sglang_launch() {
  return {"sglang", "0.5.10",
          [](const Plan& plan, const LaunchProblem& problem) { return write_servers(plan, problem, kSglang); },
          [](std::string_view script, const LaunchProblem& problem, Plan& plan) {
            read_servers(script, problem, plan, kSglang);
          }};
}

}  // namespace sextant::inline reports
