#include "probes/proxy/session.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>

#include "probes/proxy/checks.h"
#include "probes/proxy/engine.h"
#include "probes/proxy/exchange.h"
#include "sextant/error.h"
#include "sextant/run.h"

namespace sextant::inline probes {
namespace {

using namespace proxy;

// Indices of tasks by the longest chain of tasks before them.
std::vector<std::vector<std::size_t>> phases_of(const Workflow& workflow) {
  std::map<std::string, std::size_t> level;
  std::vector<std::vector<std::size_t>> phases;
  for (std::size_t i = 0; i < workflow.tasks.size(); ++i) {
    std::size_t mine = 0;
    for (const std::string& before : workflow.tasks[i].after) mine = std::max(mine, level.at(before) + 1);
    level[workflow.tasks[i].name] = mine;
    phases.resize(std::max(phases.size(), mine + 1));
    phases[mine].push_back(i);
  }
  return phases;
}

void check(const Cluster& cluster, const Workflow& workflow, const Plan& plan, int ranks,
           const EngineLimits& limits) {
  check_workflow(workflow, limits);
  check_plan(plan, workflow, cluster);
  check_runnable(workflow, plan, ranks, limits);
}

}  // namespace

class ProxySession::State {
 public:
  State(Communicator& world, const Cluster& cluster, const Workflow& workflow, const Plan& plan, unsigned seed,
        TaskEngine& engine);
  Sample iterate(PhaseGate* gate);
  [[nodiscard]] TaskWork* work(const std::string& task);
  [[nodiscard]] const Rollout& latest() const { return rollout_; }

 private:
  [[nodiscard]] const TaskPlan& plan_of(std::size_t task) const {
    return plan_.tasks.at(workflow_.tasks[task].name);
  }
  [[nodiscard]] bool has_kind(const std::vector<std::size_t>& phase, TaskKind kind) const;
  void make_tasks(unsigned seed);
  void make_weight_transfer();
  void run_task(std::size_t task, Rollout& rollout);
  void run_synchronous();
  // Runs a phase on all ranks, with the gate if there is one.
  void gated(IterationPhase phase, const std::function<void()>& action);
  void run_overlapped();
  void run_phases_after_generation(Communicator& everyone);
  void sync_weights();
  // Seconds that `action` took after all ranks of the group had arrived.
  static double timed(Communicator& group, const std::function<void()>& action);

  Communicator& world_;
  TaskEngine& engine_;
  const Workflow workflow_;
  const Plan plan_;
  const Workload workload_;
  std::vector<std::vector<std::size_t>> phases_;
  std::optional<std::size_t> generation_;  // index of the task
  std::optional<std::size_t> training_;
  std::unique_ptr<Communicator> others_;             // overlapped: all ranks that do not generate
  std::vector<std::unique_ptr<TaskGroup>> groups_;   // by task
  std::vector<std::unique_ptr<TaskWork>> works_;     // by task, null when not mine
  std::unique_ptr<WeightTransfer> weight_transfer_;  // null when the workflow has none
  Rollout rollout_;
  Rollout next_;  // overlapped: being generated
  bool has_previous_ = false;
  unsigned rollout_seed_;
  PhaseGate* gate_ = nullptr;      // of the present iteration
  std::vector<double> elapsed_s_;  // by task; weight sync; iteration
};

ProxySession::State::State(Communicator& world, const Cluster& cluster, const Workflow& workflow,
                           const Plan& plan, unsigned seed, TaskEngine& engine)
    : world_(world),
      engine_(engine),
      workflow_((check(cluster, workflow, plan, world.size(), engine.limits()), workflow)),
      plan_(plan),
      workload_(make_workload(workflow, seed)),
      phases_(phases_of(workflow)),
      rollout_(workload_),
      next_(workload_),
      rollout_seed_(seed),
      elapsed_s_(workflow.tasks.size() + 2) {
  engine_.prepare(workflow_, plan_, workload_);
  make_tasks(seed);
  if (generation_ && training_) make_weight_transfer();
  if (workflow_.mode != Mode::synchronous) {
    others_ = world_.split(works_[*generation_] == nullptr ? 0 : -1, world_.rank());
  }
}

void ProxySession::State::make_tasks(unsigned seed) {
  for (std::size_t i = 0; i < workflow_.tasks.size(); ++i) {
    const Task& task = workflow_.tasks[i];
    if (task.kind == TaskKind::generation) generation_ = i;
    if (task.kind == TaskKind::training && task.model == "actor") training_ = i;
    groups_.push_back(std::make_unique<TaskGroup>(world_, plan_of(i)));
    const TaskSetup setup{world_,          workflow_,           task, plan_of(i), workload_,
                          *groups_.back(), static_cast<int>(i), seed};
    works_.push_back(setup.group.takes_part() ? engine_.make_task(setup) : nullptr);
  }
}

void ProxySession::State::make_weight_transfer() {
  const std::size_t from = *training_;
  const std::size_t to = *generation_;
  weight_transfer_ = engine_.make_weight_transfer({world_, workflow_.model_of(workflow_.tasks[from]),
                                                   plan_of(from), plan_of(to), *groups_[from], *groups_[to],
                                                   works_[from].get(), works_[to].get()});
}

double ProxySession::State::timed(Communicator& group, const std::function<void()>& action) {
  group.wait_quietly();
  group.barrier();
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool ProxySession::State::has_kind(const std::vector<std::size_t>& phase, TaskKind kind) const {
  return std::any_of(phase.begin(), phase.end(),
                     [&](std::size_t task) { return workflow_.tasks[task].kind == kind; });
}

void ProxySession::State::run_task(std::size_t task, Rollout& rollout) {
  if (works_[task] == nullptr) return;
  elapsed_s_[task] = timed(groups_[task]->everyone(), [&] { works_[task]->run(rollout); });
}

void ProxySession::State::run_phases_after_generation(Communicator& everyone) {
  for (const auto& phase : phases_) {
    for (const std::size_t task : phase) {
      if (task != generation_) run_task(task, rollout_);
    }
    if (has_kind(phase, TaskKind::inference)) exchange_scores(everyone, workflow_, workload_, rollout_);
  }
}

void ProxySession::State::gated(IterationPhase phase, const std::function<void()>& action) {
  if (gate_ == nullptr) return action();
  gate_->begin(phase);
  world_.wait_quietly();
  world_.barrier();
  action();
  world_.wait_quietly();
  world_.barrier();
  gate_->end(phase);
}

void ProxySession::State::run_synchronous() {
  gated(IterationPhase::rollout, [&] {
    start_rollout(workflow_, workload_, rollout_seed_++, rollout_);
    if (generation_) {
      run_task(*generation_, rollout_);
      exchange_tokens(world_, workload_, rollout_);
    } else {
      make_up_responses(workflow_, workload_, rollout_);
    }
  });
  gated(IterationPhase::training, [&] {
    compute_advantages(workflow_, workload_, rollout_);
    run_phases_after_generation(world_);
  });
}

void ProxySession::State::run_overlapped() {
  start_rollout(workflow_, workload_, rollout_seed_++, next_);
  if (works_[*generation_] != nullptr) {
    run_task(*generation_, next_);
  } else {
    compute_advantages(workflow_, workload_, rollout_);
    run_phases_after_generation(*others_);
  }
  exchange_tokens(world_, workload_, next_);
  std::swap(rollout_, next_);
}

void ProxySession::State::sync_weights() {
  if (weight_transfer_ == nullptr || !weight_transfer_->takes_part()) return;
  elapsed_s_[workflow_.tasks.size()] = timed(weight_transfer_->everyone(), [&] { weight_transfer_->run(); });
}

ProxySession::Sample ProxySession::State::iterate(PhaseGate* gate) {
  const bool overlaps = workflow_.mode != Mode::synchronous;
  if (gate != nullptr && overlaps)
    throw_bad_input("workflow " + workflow_.name + ": only phases of a synchronous workflow wait for permits");
  gate_ = gate;
  if (overlaps && !has_previous_) {
    // The pipeline of iterations starts with rollouts that nobody timed.
    start_rollout(workflow_, workload_, rollout_seed_++, rollout_);
    run_task(*generation_, rollout_);
    exchange_tokens(world_, workload_, rollout_);
    has_previous_ = true;
  }
  std::fill(elapsed_s_.begin(), elapsed_s_.end(), 0.0);
  elapsed_s_.back() = timed(world_, [&] {
    overlaps ? run_overlapped() : run_synchronous();
    if (weight_transfer_ != nullptr) gated(IterationPhase::sync, [&] { sync_weights(); });
  });
  world_.wait_quietly();
  world_.all_reduce_max(std::span(elapsed_s_));

  Sample sample;
  sample.iteration_s = elapsed_s_.back();
  for (std::size_t i = 0; i < workflow_.tasks.size(); ++i) {
    sample.tasks_s[workflow_.tasks[i].name] = elapsed_s_[i];
  }
  if (weight_transfer_ != nullptr) sample.tasks_s[kWeightSync] = elapsed_s_[workflow_.tasks.size()];
  return sample;
}

TaskWork* ProxySession::State::work(const std::string& task) {
  for (std::size_t i = 0; i < works_.size(); ++i) {
    if (workflow_.tasks[i].name == task) return works_[i].get();
  }
  return nullptr;
}

ProxySession::ProxySession(Communicator& world, const Cluster& cluster, const Workflow& workflow,
                           const Plan& plan, unsigned seed, TaskEngine* engine)
    : own_engine_(engine == nullptr ? make_host_engine() : nullptr),
      state_(std::make_unique<State>(world, cluster, workflow, plan, seed,
                                     engine == nullptr ? *own_engine_ : *engine)) {}
ProxySession::~ProxySession() = default;

ProxySession::Sample ProxySession::iterate(PhaseGate* gate) { return state_->iterate(gate); }

TaskWork* ProxySession::work(const std::string& task) { return state_->work(task); }

double ProxySession::generated_token_sum() const {
  const auto& tokens = state_->latest().sampled;
  return std::accumulate(tokens.begin(), tokens.end(), 0.0);
}

}  // namespace sextant::inline probes
