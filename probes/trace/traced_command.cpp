#include "probes/trace/traced_command.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sextant/error.h"

extern char** environ;

namespace sextant::trace {
namespace {

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

volatile sig_atomic_t child_process = 0;

void pass_on(int signal_number) {
  if (child_process > 0) kill(child_process, signal_number);
}

// While the program runs, signals are for it.
class SignalsOfChild {
 public:
  SignalsOfChild() {
    struct sigaction ignore = {}, forward = {};
    ignore.sa_handler = SIG_IGN;
    forward.sa_handler = pass_on;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGTERM, &forward, &terminate_);
  }
  ~SignalsOfChild() {
    child_process = 0;
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  SignalsOfChild(const SignalsOfChild&) = delete;
  SignalsOfChild& operator=(const SignalsOfChild&) = delete;

 private:
  struct sigaction interrupt_ = {}, terminate_ = {};
};

pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGTERM);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw_machine_failed(command[0] + " cannot be started: " + std::strerror(error));
  return child;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> tracing_environment(const Settings& settings,
                                                                     const std::string& library) {
  std::vector<std::pair<std::string, std::string>> variables{{"CUDA_INJECTION64_PATH", library},
                                                             {"NVTX_INJECTION64_PATH", library},
                                                             {setting_names::kFolder, settings.folder}};
  const auto add = [&](const char* name, bool is_asked, const std::string& value) {
    if (is_asked) variables.emplace_back(name, value);
  };
  add(setting_names::kSeconds, settings.max_seconds > 0, number(settings.max_seconds));
  add(setting_names::kSteps, settings.max_steps > 0, std::to_string(settings.max_steps));
  add(setting_names::kStepRange, !settings.step_range.empty(), settings.step_range);
  add(setting_names::kBytes, true, std::to_string(settings.max_bytes));
  add(setting_names::kRangeBytes, true, std::to_string(settings.max_range_bytes));
  add(setting_names::kWaitingBuffers, true, std::to_string(settings.max_waiting_buffers));
  add(setting_names::kFlush, true, number(settings.flush_s));
  add(setting_names::kSlowdown, settings.max_slowdown > 0, number(settings.max_slowdown));
  add(setting_names::kWindow, settings.window_s > 0, number(settings.window_s));
  add(setting_names::kEvery, settings.every_s > 0, number(settings.every_s));
  add(setting_names::kGraphNodes, settings.graph_nodes, "1");
  add(setting_names::kDevice, !settings.device, "0");
  add(setting_names::kCupti, !settings.cupti.empty(), settings.cupti);
  return variables;
}

CommandEnd run_traced(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& variables) {
  if (command.empty()) throw_bad_input("no command to trace");
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  const SignalsOfChild signals;
  child_process = start(command);
  int status = 0;
  while (waitpid(child_process, &status, 0) < 0) {
    if (errno != EINTR) throw_machine_failed(std::string("waiting for the command: ") + std::strerror(errno));
  }
  constexpr int kKilled = 128;  // as shells tell it
  if (WIFSIGNALED(status)) return {kKilled + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace sextant::trace
