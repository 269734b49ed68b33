#include "tests/cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace sextant::test {
namespace {

constexpr std::chrono::seconds kDeadline{120};

// Without these Open MPI refuses to start as root or with more ranks than cores, and fails in containers that
// forbid reading another process's memory.
constexpr const char* kLauncherEnvironment[][2] = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                                   {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                                   {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                                   {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};

// The reading end stays here, the writing end goes to the child.
class Pipe {
 public:
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    read_ = ends[0];
    write_ = ends[1];
  }
  ~Pipe() {
    close(read_);
    close_writing();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int reading() const { return read_; }
  [[nodiscard]] int writing() const { return write_; }
  void close_writing() {
    if (write_ >= 0) close(write_);
    write_ = -1;
  }

 private:
  int read_ = -1;
  int write_ = -1;
};

pid_t start(std::vector<std::string> command, const Pipe& out, const Pipe& err) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.writing(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.writing(), STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error("cannot start " + command[0] + ": " + std::strerror(failed));
  return child;
}

// Appends what has come; false at the end of the stream.
bool drain(int descriptor, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t got = read(descriptor, buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

// Until both streams end; false when the deadline came first.
bool read_both(const Pipe& out, const Pipe& err, Printed& printed) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  std::array<pollfd, 2> streams{{{out.reading(), POLLIN, 0}, {err.reading(), POLLIN, 0}}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (poll(streams.data(), streams.size(), static_cast<int>(left.count())) <= 0) continue;
    if (streams[0].revents != 0 && !drain(streams[0].fd, printed.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !drain(streams[1].fd, printed.err)) streams[1].fd = -1;
  }
  return true;
}

std::string read_proc(pid_t process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool listens_for_interrupts(pid_t process) {
  const std::string status = read_proc(process, "status");
  const std::size_t caught = status.find("SigCgt:");
  if (caught == std::string::npos) return false;
  const std::uint64_t signals = std::stoull(status.substr(caught + 7), nullptr, 16);
  return (signals >> (SIGINT - 1) & 1U) != 0;
}

// The CPU time of all its threads so far.
double cpu_seconds(pid_t process) {
  const std::string stat = read_proc(process, "stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  constexpr int kBefore = 11;  // fields between the name and the time in user mode
  for (int i = 0; i < kBefore; ++i) fields >> skipped;
  double user = 0, kernel = 0;
  fields >> user >> kernel;
  return (user + kernel) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void interrupt_when_working(pid_t process, double cpu_s) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!listens_for_interrupts(process) || cpu_seconds(process) < cpu_s) {
    if (read_proc(process, "stat").find(") Z ") != std::string::npos) {
      ADD_FAILURE() << "it ended before it could be interrupted";
      return;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "it does not listen for interrupts";
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(process, SIGINT);
}

Printed run(const std::vector<std::string>& command, const std::function<void(pid_t)>& meanwhile = {}) {
  Pipe out, err;
  const pid_t child = start(command, out, err);
  out.close_writing();
  err.close_writing();
  if (meanwhile) meanwhile(child);
  Printed printed;
  if (!read_both(out, err, printed)) {
    ADD_FAILURE() << command[0] << " does not end; stderr so far: " << printed.err;
    kill(child, SIGTERM);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  printed.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  for (const std::string* text : {&printed.out, &printed.err}) {
    EXPECT_EQ(text->find_first_of("\r\033"), std::string::npos) << *text;
  }
  return printed;
}

}  // namespace

Printed run_sextant(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{SEXTANT_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run(command);
}

Printed interrupt_sextant(const std::vector<std::string>& arguments, double cpu_s) {
  std::vector<std::string> command{SEXTANT_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run(command, [cpu_s](pid_t child) { interrupt_when_working(child, cpu_s); });
}

namespace {

// A launcher that does not end by itself (LauncherReaper), or breaks off in its own library after a rank has
// ended all, as Open MPI 4.1's now and then does: then its exit code is the one that it had said it would have.
Printed as_launcher_said(Printed printed, bool was_reaped = false) {
  const std::string code = "\nwith errorcode ";
  const std::size_t said = printed.err.find(code);
  const bool broke_off =
      printed.exit_code == 128 + SIGSEGV && printed.err.find("PMIx_server_finalize") != std::string::npos;
  if ((broke_off || was_reaped) && said != std::string::npos)
    printed.exit_code = std::stoi(printed.err.substr(said + code.size()));
  return printed;
}

}  // namespace

Printed run_on_ranks(int ranks, const std::vector<std::string>& arguments) {
  for (const auto& [name, value] : kLauncherEnvironment) setenv(name, value, 0);
  std::vector<std::string> command{SEXTANT_LAUNCHER, "-n", std::to_string(ranks), SEXTANT_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return as_launcher_said(run(command));
}

namespace {

// Ends a launcher that stays behind when all its ranks have gone: Open MPI 4.1's now and then waits for its own
// library for ever (PMIx_server_finalize) after it was interrupted.
class LauncherReaper {
 public:
  explicit LauncherReaper(pid_t launcher) : thread_([this, launcher] { watch(launcher); }) {}
  ~LauncherReaper() {
    is_over_ = true;
    thread_.join();
  }
  LauncherReaper(const LauncherReaper&) = delete;
  LauncherReaper& operator=(const LauncherReaper&) = delete;

  [[nodiscard]] bool has_reaped() const { return has_reaped_; }

 private:
  // Whether ranks have not ended: the launcher need not have waited for them.
  static bool has_ranks(pid_t launcher) {
    std::istringstream children(read_proc(launcher, "task/" + std::to_string(launcher) + "/children"));
    for (pid_t child = 0; children >> child;) {
      if (read_proc(child, "stat").find(") Z ") == std::string::npos) return true;
    }
    return false;
  }

  void watch(pid_t launcher) {
    constexpr auto kPatience = std::chrono::seconds(10);
    auto seen = std::chrono::steady_clock::now();
    while (!is_over_) {
      const auto now = std::chrono::steady_clock::now();
      if (has_ranks(launcher)) seen = now;
      if (now - seen > kPatience) {
        kill(launcher, SIGKILL);
        has_reaped_ = true;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  std::atomic<bool> is_over_ = false, has_reaped_ = false;
  std::thread thread_;
};

}  // namespace

Printed run_on_hosts(const std::vector<std::string>& hosts, const std::vector<std::string>& arguments,
                     const std::function<void(pid_t)>& meanwhile) {
  for (const auto& [name, value] : kLauncherEnvironment) setenv(name, value, 0);
  std::vector<std::string> command{SEXTANT_LAUNCHER};
  for (const std::string& host : hosts) {
    if (command.size() > 1) command.emplace_back(":");
    command.insert(command.end(), {"-n", "1", "env", "SEXTANT_HOST_NAME=" + host, SEXTANT_PROGRAM});
    command.insert(command.end(), arguments.begin(), arguments.end());
  }
  std::optional<LauncherReaper> reaper;
  Printed printed = run(command, [&](pid_t launcher) {
    if (meanwhile) meanwhile(launcher);
    reaper.emplace(launcher);
  });
  return as_launcher_said(std::move(printed), reaper && reaper->has_reaped());
}

bool wait_for_text(const std::string& file, const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < deadline) {
    std::ifstream stream(file);
    std::stringstream all;
    all << stream.rdbuf();
    if (all.str().find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << file << " never had " << text;
  return false;
}

pid_t process_of_host(pid_t launcher, const std::string& host) {
  const std::string children = read_proc(launcher, "task/" + std::to_string(launcher) + "/children");
  std::istringstream stream(children);
  for (pid_t child = 0; stream >> child;) {
    // Each variable ends with a zero.
    if (read_proc(child, "environ").find("SEXTANT_HOST_NAME=" + host + std::string(1, '\0')) !=
        std::string::npos) {
      return child;
    }
  }
  ADD_FAILURE() << "no rank on " << host << " among " << children;
  return 0;
}

EnvironmentVariable::EnvironmentVariable(const std::string& name, const std::string& value) : name_(name) {
  setenv(name.c_str(), value.c_str(), 1);
}
EnvironmentVariable::~EnvironmentVariable() { unsetenv(name_.c_str()); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace sextant::test
