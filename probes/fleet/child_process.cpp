#include "probes/fleet/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr std::size_t kMaxComplaints = 2000;              // characters of stderr that are kept
constexpr std::size_t kMaxAtOnce = std::size_t{1} << 20;  // of one that never stops talking
constexpr int kNotStarted = 127;                          // as a shell has it

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_machine_failed("out of file descriptors (ulimit -n)");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void do_not_wait_for(const Descriptor& end) {
  static_cast<void>(fcntl(end.number(), F_SETFL, fcntl(end.number(), F_GETFL) | O_NONBLOCK));
}

// In the child: only what is allowed between fork and exec.
[[noreturn]] void become(const std::vector<char*>& words, pid_t parent, int in, int out, int err, int failed) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNotStarted);  // it was already too late for the signal
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
    _exit(kNotStarted);
  execvp(words.front(), words.data());
  const int error = errno;
  static_cast<void>(write(failed, &error, sizeof error) == sizeof error);
  _exit(kNotStarted);
}

}  // namespace

void drain(Descriptor& end, std::string& text, std::size_t maximum) {
  std::array<char, 65536> chunk{};
  for (std::size_t taken = 0; end.is_open() && taken < kMaxAtOnce;) {
    const ssize_t count = read(end.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return end.close();
    text.append(chunk.data(), static_cast<std::size_t>(count));
    if (text.size() > maximum) text.erase(0, text.size() - maximum);
    taken += static_cast<std::size_t>(count);
  }
}

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe(), failed = make_pipe();
  std::vector<std::string> copies = command;
  std::vector<char*> words;
  words.reserve(copies.size() + 1);
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ < 0) throw_machine_failed("cannot start " + command.front() + ": " + std::strerror(errno));
  if (id_ == 0) {
    become(words, parent, in.read.number(), out.write.number(), err.write.number(), failed.write.number());
  }
  setpgid(id_, id_);  // whoever is first
  failed.write.close();
  int error = 0;
  if (read(failed.read.number(), &error, sizeof error) == sizeof error) {
    waitpid(id_, &status_, 0);
    id_ = -1;
    throw_machine_failed("cannot start " + command.front() + ": " + std::strerror(error));
  }
  input_ = std::move(in.write);
  output_ = std::move(out.read);
  errors_ = std::move(err.read);
  for (const Descriptor* end : {&input_, &output_, &errors_}) do_not_wait_for(*end);
}

ChildProcess::~ChildProcess() {
  kill();
  if (id_ > 0 && !has_ended_) waitpid(id_, &status_, 0);
}

void ChildProcess::kill() {
  if (id_ <= 0) return;
  // The group may outlive the one that was started; the number is not given away while it does or is not
  // reaped.
  if (!has_ended_) ::kill(-id_, SIGKILL);
}

void ChildProcess::say(const std::string& line) {
  unsaid_ += line + "\n";
  flush();
}

void ChildProcess::flush() {
  while (!unsaid_.empty() && input_.is_open()) {
    const ssize_t count = write(input_.number(), unsaid_.data(), unsaid_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) return input_.close();  // it listens no more, which its output will show
    unsaid_.erase(0, static_cast<std::size_t>(count));
  }
}

std::vector<std::string> ChildProcess::hear() {
  drain(errors_, complaints_, kMaxComplaints);
  drain(output_, heard_, kMaxLine);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = heard_.find('\n'); end != std::string::npos; end = heard_.find('\n', begin)) {
    lines.push_back(heard_.substr(begin, end - begin));
    begin = end + 1;
  }
  heard_.erase(0, begin);
  if (is_silent() && !heard_.empty()) lines.push_back(std::exchange(heard_, {}));
  return lines;
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

std::string ChildProcess::last_words() const {
  std::string text = complaints_;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::size_t line = text.find_last_of("\r\n");
  return line == std::string::npos ? text : text.substr(line + 1);
}

void ChildProcess::reap() {
  if (!has_ended_ && id_ > 0 && waitpid(id_, &status_, WNOHANG) == id_) has_ended_ = true;
}

int ChildProcess::exit_code() {
  reap();
  return has_ended_ && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

std::string ChildProcess::how_it_ended() {
  reap();
  if (!has_ended_) return "";
  if (WIFSIGNALED(status_)) return "was ended by signal " + std::to_string(WTERMSIG(status_));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status_));
}

}  // namespace sextant::inline probes
