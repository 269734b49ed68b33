#include "bench/coschedule_real_jobs.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"
#include "tests/probes/cores.h"

extern char** environ;

namespace sextant::coschedule {

Cluster one_core() { return test::host_of_cores("pools", 1); }

void write_documents(const Folder& folder, const ProxyJob& job) {
  Workflow workflow;
  workflow.name = job.name;
  workflow.algorithm = Algorithm::grpo;
  workflow.tasks = grpo_tasks(false);
  Model model;
  model.name = "actor";
  model.layers = 2;
  model.hidden = 128;
  model.intermediate = 384;
  model.heads = 4;
  model.kv_heads = 4;
  model.head_dim = 32;
  model.vocabulary = 256;
  for (const Task& task : workflow.tasks) {
    model.name = task.model;
    workflow.models[task.model] = model;
  }
  workflow.prompts = job.prompts;
  workflow.responses_per_prompt = 2;
  workflow.prompt_tokens = fixed_length(16);
  workflow.response_tokens = fixed_length(job.response_tokens);
  workflow.precision = Precision::fp32;
  Plan plan;
  plan.name = job.name;
  for (const Task& task : workflow.tasks) {
    TaskPlan layout;
    layout.replicas = expand_layout({1, 1, 1, DeviceId{0}}, model.layers);
    layout.micro_batch_sequences = 2;
    layout.decode_batch_sequences = job.decode_batch;
    plan.tasks[task.name] = layout;
  }
  save_document(folder.file(job.name + "-workflow.json"), workflow);
  save_document(folder.file(job.name + "-plan.json"), plan);
}

pid_t start(const Folder& folder, const std::string& job, int iterations) {
  const std::string workflow = folder.file(job + "-workflow.json"), plan = folder.file(job + "-plan.json");
  const std::vector<std::string> words{SEXTANT_PROGRAM,
                                       "proxy",
                                       "--cluster",
                                       folder.file("cluster.json"),
                                       "--workflow",
                                       workflow,
                                       "--plan",
                                       plan,
                                       "--out",
                                       folder.file(job + "-runs.json"),
                                       "--warmup",
                                       "0",
                                       "--min-iterations",
                                       std::to_string(iterations),
                                       "--max-iterations",
                                       std::to_string(iterations),
                                       "--budget",
                                       "600",
                                       "--permits",
                                       folder.file("permits"),
                                       "--permit-job",
                                       job,
                                       "--rollout-cores",
                                       "0",
                                       "--training-cores",
                                       "1"};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, SEXTANT_PROGRAM, &files, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error("cannot start sextant proxy");
  return child;
}

void wait_for(pid_t child, bool is_killed) {
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!is_killed && status != 0) throw std::runtime_error("a job failed");
}

IdleWork::IdleWork() {
  save_document(folder_.file("cluster.json"), one_core());
  write_documents(folder_, {"idle", 3, 64, 2});
  for (std::size_t core = 0; core < children_.size(); ++core) {
    children_[core] = ::fork();
    if (children_[core] == 0) work(static_cast<int>(core));
  }
}

IdleWork::~IdleWork() {
  for (const pid_t child : children_) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

void IdleWork::work(int core) const {
  constexpr int kLowestPriority = 19;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  ::sched_setaffinity(0, sizeof set, &set);
  ::setpriority(PRIO_PROCESS, 0, kLowestPriority);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  const std::string cluster = folder_.file("cluster.json"), workflow = folder_.file("idle-workflow.json"),
                    plan = folder_.file("idle-plan.json"), out = folder_.file("idle-" + std::to_string(core));
  ::execl(SEXTANT_PROGRAM, SEXTANT_PROGRAM, "proxy", "--cluster", cluster.c_str(), "--workflow",
          workflow.c_str(), "--plan", plan.c_str(), "--out", out.c_str(), "--spread", "0", "--max-iterations",
          "1000000", "--budget", "100000", nullptr);
  ::_exit(1);
}

}  // namespace sextant::coschedule
