#include "tests/reports/export/random_trainer_plans.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace sextant::test {
namespace {

constexpr int kGpusPerNode = 8;
constexpr double kGpuBytes = 80e9;

template <typename T>
const T& any_of(const std::vector<T>& values, std::mt19937& random) {
  return values[random() % values.size()];
}

const std::vector<FrameworkProfile>& shipped() {
  static const std::vector<FrameworkProfile> all =
      load_framework_profiles(std::filesystem::path(SEXTANT_SOURCE_DIR) / "data" / "frameworks");
  return all;
}

Model random_model(bool has_experts, bool value_head) {
  Model model;
  model.name = value_head ? "judge-7b" : "Qwen/Qwen3-7B";
  model.layers = 32;
  model.hidden = 4096;
  model.intermediate = 11008;
  model.heads = model.kv_heads = 32;
  model.head_dim = 128;
  model.vocabulary = 128000;
  model.value_head = value_head;
  if (has_experts) model.experts = Experts{64, 8, 1024, 0, 0};
  return model;
}

const TaskProfile& kind_profile(const FrameworkProfile& profile, TaskKind kind) {
  return profile.tasks.at(kind);
}

// The options of one of the profile's executions.
TaskPlan random_options(const FrameworkProfile& profile, const Workflow& workflow, TaskKind kind,
                        std::mt19937& random) {
  const TaskProfile& choices = kind_profile(profile, kind);
  TaskPlan out = default_options(profile, kind);
  out.execution = any_of(choices.executions, random);
  if (!workflow.models.at("actor").experts) {
    out.execution.expert_parallel = 1;
    out.execution.expert_tensor_parallel = default_options(profile, kind).execution.expert_tensor_parallel;
  }
  if (kind == TaskKind::training) out.recompute = any_of(choices.recompute, random);
  if (kind == TaskKind::generation) {
    const double fraction =
        choices.kv_memory_fractions.empty() ? 0.5 : any_of(choices.kv_memory_fractions, random);
    out.execution.kv_cache_bytes = fraction * kGpuBytes;
  }
  return out;
}

// A number that divides `of`, at most `maximum` unless that is 0.
int random_divisor(int of, int maximum, std::mt19937& random) {
  std::vector<int> divisors;
  for (int i = 1; i <= of && (maximum == 0 || i <= maximum); ++i) {
    if (of % i == 0) divisors.push_back(i);
  }
  return any_of(divisors, random);
}

std::vector<int> random_stages(StageRule rule, int stages, int layers, std::mt19937& random) {
  if (rule == StageRule::even_but_ends && stages > 2 && random() % 2 == 0) {
    const int inner = layers / stages + 1;
    std::vector<int> out(static_cast<std::size_t>(stages), inner);
    const int ends = layers - inner * (stages - 2);
    out.front() = ends / 2;
    out.back() = ends - ends / 2;
    if (out.front() > 0) return out;
  }
  return even_stages(layers, stages);
}

}  // namespace

const FrameworkProfile& shipped_profile(const std::string& name) {
  const FrameworkProfile* found = find_profile(shipped(), name);
  if (found == nullptr) throw std::invalid_argument("no profile " + name);
  return *found;
}

Cluster gpu_cluster(int nodes) {
  DeviceType type;
  type.memory_bytes = assumed(kGpuBytes);
  type.memory_bytes_per_s = assumed(3.35e12);
  type.flop_per_s = {{Precision::bf16, assumed(989e12)}};
  type.host_bytes_per_s = assumed(50e9);
  std::vector<Node> all;
  for (int i = 0; i < nodes; ++i)
    all.push_back({"node-" + std::to_string(i), "r", "z", "h100", kGpusPerNode, std::nullopt, std::nullopt});
  const LinkRate inside{assumed(5e-6), assumed(450e9)}, outside{assumed(17e-6), assumed(50e9)};
  return Cluster("test", {{"h100", type}}, all,
                 {{LinkLevel::within_node, inside}, {LinkLevel::within_zone, outside}});
}

Workflow random_workflow(const FrameworkProfile& profile, std::mt19937& random) {
  Workflow workflow;
  workflow.name = "random";
  std::vector<Algorithm> algorithms(profile.algorithms.begin(), profile.algorithms.end());
  if (algorithms.empty()) algorithms = {Algorithm::grpo};
  workflow.algorithm = any_of(algorithms, random);
  std::vector<Mode> modes;
  for (const auto& [mode, sets] : profile.same_devices) modes.push_back(mode);
  workflow.mode = any_of(modes, random);
  workflow.staleness = workflow.mode == Mode::synchronous ? 0 : workflow.mode == Mode::one_step_off ? 1 : 2;
  const bool has_experts = random() % 3 == 0;
  const bool has_critic = workflow.algorithm == Algorithm::ppo;
  const bool has_judge = has_critic ? random() % 2 == 0 : random() % 4 == 0;
  workflow.models["actor"] = random_model(has_experts, false);
  workflow.models["reference"] = workflow.models["actor"];
  if (has_judge) workflow.models["reward"] = random_model(false, true);
  if (has_critic) workflow.models["critic"] = random_model(false, true);
  const GraphOptions graph{random() % 3 != 0, random() % 3 != 0};
  workflow.tasks = has_critic ? ppo_tasks(graph, has_judge) : grpo_tasks(has_judge, graph);
  workflow.prompts = 128;
  workflow.responses_per_prompt = 8;
  workflow.mini_batches = any_of(std::vector<int>{1, 2, 4}, random);
  workflow.prompt_tokens = fixed_length(1000);
  workflow.response_tokens = fixed_length(3000);
  return workflow;
}

// Engines hold whole experts on all GPUs of one replica or of several.
void fit_experts(const TrainerProblem& problem, int replicas, TrainerTask& engine) {
  Execution& execution = engine.options.execution;
  if (execution.expert_parallel == 1) return;
  execution.expert_tensor_parallel = 1;
  const bool may_share = problem.profile.family != "nemo-rl" || problem.workflow.mode == Mode::synchronous ||
                         execution.expert_parallel == engine.tensor_parallel;
  const bool fits = execution.expert_parallel % engine.tensor_parallel == 0 &&
                    replicas * engine.tensor_parallel % execution.expert_parallel == 0;
  if (may_share && fits) return;
  execution.expert_parallel = 1;
  execution.expert_tensor_parallel = 0;
}

Plan random_sayable_plan(const TrainerProblem& problem, std::mt19937& random) {
  const Workflow& workflow = problem.workflow;
  const int gpus = problem.cluster.device_count();
  const bool is_apart = workflow.mode != Mode::synchronous;
  TrainerConfig config;
  config.plan = "random plan " + std::to_string(random() % 100);
  GpuPool all{"trainer", gpus / kGpusPerNode, kGpusPerNode, {}};
  for (int i = 0; i < gpus; ++i) all.devices.push_back(DeviceId{i});
  config.pools = {all};
  if (is_apart) {
    const auto half = all.devices.begin() + gpus / 2;
    GpuPool trainer{"trainer", 1, 1, {all.devices.begin(), half}},
        rollout{"rollout", 1, 1, {half, all.devices.end()}};
    config.pools = {trainer, rollout};
  }
  for (const Task& task : workflow.tasks) {
    const TaskProfile& limits = kind_profile(problem.profile, task.kind);
    TrainerTask& out = config.tasks[task.name];
    out.options = random_options(problem.profile, workflow, task.kind, random);
    out.pool = is_apart && task.kind == TaskKind::generation ? 1 : 0;
    int left = static_cast<int>(config.pools[static_cast<std::size_t>(out.pool)].devices.size());
    int& context = out.options.execution.context_parallel;
    if (left % context != 0) context = 1;
    left /= context;
    out.tensor_parallel = random_divisor(std::min(left, 8), limits.max_tensor_parallel, random);
    left /= out.tensor_parallel;
    out.pipeline_parallel = random_divisor(std::min(left, 8), limits.max_pipeline_parallel, random);
    left /= out.pipeline_parallel;
    if (task.kind == TaskKind::generation) fit_experts(problem, left, out);
    if (int& over = out.options.execution.sharded_over;
        over > 0 && (over >= left * context || left * context % over != 0))
      over = 0;
    const std::vector<std::string>& equal = problem.profile.equal_stages;
    const bool is_equal = std::count(equal.begin(), equal.end(), task.name) > 0;
    out.stage_layers =
        random_stages(is_equal ? StageRule::even : limits.stages, out.pipeline_parallel, 32, random);
  }
  return plan_of(config, workflow, problem.profile);
}

Plan random_odd_plan(const TrainerProblem& problem, std::mt19937& random) {
  const Workflow& workflow = problem.workflow;
  const int gpus = problem.cluster.device_count();
  Plan plan;
  plan.name = "odd";
  for (const Task& task : workflow.tasks) {
    std::vector<int> numbers(static_cast<std::size_t>(gpus));
    std::iota(numbers.begin(), numbers.end(), 0);
    if (random() % 2 == 0) std::shuffle(numbers.begin(), numbers.end(), random);
    const bool is_generation = task.kind == TaskKind::generation;
    std::size_t next = is_generation || workflow.mode == Mode::synchronous ? 0 : numbers.size() / 2;
    const std::size_t end =
        is_generation && workflow.mode != Mode::synchronous ? numbers.size() / 2 : numbers.size();
    if (workflow.mode != Mode::synchronous) std::sort(numbers.begin(), numbers.end());
    TaskPlan& out = plan.tasks[task.name];
    out = random_options(any_of(shipped(), random), workflow, task.kind, random);
    out.execution.context_parallel = 1;
    const TaskProfile& limits = kind_profile(problem.profile, task.kind);
    do {
      Replica replica;
      const int width = random_divisor(4, limits.max_tensor_parallel, random);
      const int stages = random_divisor(2, limits.max_pipeline_parallel, random);
      if (next + static_cast<std::size_t>(width * stages) > end) break;
      for (int stage = 0; stage < stages; ++stage) {
        Stage& added = replica.stages.emplace_back();
        added.layers = stages == 1 ? 32 : stage == 0 ? 14 : 18;
        for (int i = 0; i < width; ++i) added.devices.push_back(DeviceId{numbers[next++]});
      }
      out.replicas.push_back(std::move(replica));
    } while (random() % 8 != 0);
    if (int& over = out.execution.sharded_over; over > 0 && out.data_parallel() % over != 0) over = 0;
    if (out.replicas.empty()) out.replicas.push_back({1, {{32, {DeviceId{numbers[next]}}}}});
    double shares = 0;
    for (Replica& replica : out.replicas)
      shares += replica.batch_share = 1.0 + static_cast<double>(random() % 3);
    for (Replica& replica : out.replicas) replica.batch_share /= shares;
  }
  return plan;
}

}  // namespace sextant::test
