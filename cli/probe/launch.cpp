#include "cli/probe/launch.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "core/this_program.h"
#include "probes/comm/communicator.h"
#include "sextant/error.h"

extern char** environ;

namespace sextant::cli {
namespace {

// Settings without which Open MPI does not start as root, in a container, or with more ranks than it counts
// cores. They are environment variables, so other MPI libraries ignore them. Ranks pin themselves.
constexpr std::string_view kLauncherEnvironment[][2] = {
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
    {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
    {"PRTE_MCA_hwloc_default_binding_policy", "none"},
};

// Whether a process of ours may read another's memory, which Open MPI 4 takes for granted between ranks: where
// a container forbids it, Open MPI fails in mid-message. Without it messages go through shared buffers, and a
// sender that computes lets its receiver wait.
bool may_read_other_processes() {
  const int secret = 42;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) return false;
  if (child == 0) {
    int seen = 0;
    iovec local{&seen, sizeof seen}, remote{const_cast<int*>(&secret), sizeof secret};
    const bool read = process_vm_readv(parent, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof seen);
    _exit(read && seen == secret ? 0 : 1);
  }
  int status = 1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void prepare_launcher_environment() {
  for (const auto& [name, value] : kLauncherEnvironment) setenv(name.data(), value.data(), 0);
  if (!may_read_other_processes()) setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

std::string find_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::filesystem::path file = std::filesystem::path(rest.substr(0, colon)) / program;
    if (access(file.c_str(), X_OK) == 0) return file.string();
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return "";
}

std::string launcher() {
  const char* chosen = std::getenv("SEXTANT_LAUNCHER");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  for (const char* program : {"mpirun", "mpiexec"}) {
    if (std::string found = find_on_path(program); !found.empty()) return found;
  }
  return "";
}

int spawn_and_wait(std::vector<std::string> command, Output output) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (output == Output::discarded) {
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw_machine_failed("cannot start " + command[0] + ": " + std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR)
      throw_machine_failed(std::string("waiting for ") + command[0] + ": " + std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int usable_ranks(int wanted) {
  if (!has_multi_rank_transport() || launcher().empty()) return 1;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int cpus = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  return std::clamp(wanted, 1, std::max(1, cpus));
}

void run_on_ranks(int ranks, const std::vector<std::string>& arguments, Output output) {
  std::vector<std::string> command;
  if (ranks > 1) {
    prepare_launcher_environment();
    command = {launcher(), "-n", std::to_string(ranks)};
  }
  command.push_back(this_program().string());
  command.insert(command.end(), arguments.begin(), arguments.end());
  const int code = spawn_and_wait(command, output);
  if (code != 0) {
    throw_machine_failed("sextant " + (arguments.empty() ? "" : arguments[0]) + " failed with exit code " +
                         std::to_string(code));
  }
}

}  // namespace sextant::cli
