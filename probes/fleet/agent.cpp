#include "probes/fleet/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string_view>
#include <thread>

#include "core/error.h"
#include "core/json_value.h"
#include "core/provenance.h"
#include "probes/fleet/child_process.h"
#include "probes/fleet/device_report.h"
#include "probes/fleet/messages.h"
#include "probes/network/services.h"

namespace sextant {
namespace {

constexpr int kEndedAlone = 3;
constexpr double kLastWords_s = 5;  // how long somebody may take to hear them

// Nothing is torn down: threads that still measure end with the process, and so do its children.
[[noreturn]] void leave(int code) { std::_Exit(code); }

// Answers of two threads, each line whole. Nobody waits for a coordinator that does not listen: the thread that
// watches whether it is still there writes what its pipe takes.
class Answers {
 public:
  Answers() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_.is_open()) throw_machine_failed("no more file descriptors");
  }

  void give(const Json& answer) {
    {
      const std::lock_guard lock(mutex_);
      unsaid_ += compact(answer) + "\n";
    }
    const std::uint64_t one = 1;
    static_cast<void>(write(wake_.number(), &one, sizeof one) == sizeof one);
  }

  // Waits for input, for what is to be said and to be able to say it, and says it. Whether there is input.
  bool attend(const Deadline& until) {
    const short output = has_more() ? POLLOUT : 0;
    std::array<pollfd, 3> ends{{{STDIN_FILENO, POLLIN, 0},
                                {wake_.number(), POLLIN, 0},
                                {output != 0 ? STDOUT_FILENO : -1, output, 0}}};
    if (poll(ends.data(), ends.size(), until.left_ms()) <= 0) return false;
    std::uint64_t woken = 0;
    static_cast<void>(read(wake_.number(), &woken, sizeof woken) == sizeof woken);
    if (ends[2].revents != 0) say_some();
    return ends[0].revents != 0;
  }

  // The last words, as far as they are heard in time.
  void finish(double limit_s) {
    const Deadline end = Deadline::in(limit_s);
    while (has_more() && !end.is_over()) {
      pollfd output{STDOUT_FILENO, POLLOUT, 0};
      if (poll(&output, 1, end.left_ms()) > 0) say_some();
    }
  }

 private:
  bool has_more() {
    const std::lock_guard lock(mutex_);
    return !unsaid_.empty();
  }

  // A pipe that is ready takes so much without waiting.
  void say_some() {
    const std::lock_guard lock(mutex_);
    const std::string_view rest = std::string_view(unsaid_).substr(said_);
    const ssize_t count = write(STDOUT_FILENO, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
    if (count < 0) leave(kEndedAlone);  // nobody listens any more
    said_ += static_cast<std::size_t>(count);
    if (said_ < unsaid_.size()) return;
    unsaid_.clear();
    said_ = 0;
  }

  Descriptor wake_;
  std::mutex mutex_;
  std::string unsaid_;
  std::size_t said_ = 0;  // bytes of it
};

// Does tasks one after another, beside the thread that listens.
class Worker {
 public:
  explicit Worker(Answers& answers) : answers_(answers), thread_([this] { run(); }) {}

  void add(int task, std::function<Json()> work) {
    const std::lock_guard lock(mutex_);
    tasks_.push({task, std::move(work)});
    is_there_.notify_one();
  }

 private:
  struct Task {
    int number = 0;
    std::function<Json()> work;
  };

  [[noreturn]] void run() {
    while (true) {
      Task task = next();
      try {
        Json result = task.work();
        answers_.give({{"is", "done"}, {"task", task.number}, {"result", std::move(result)}});
      } catch (const std::exception& error) {
        answers_.give({{"is", "failed"}, {"task", task.number}, {"why", error.what()}});
      }
    }
  }

  Task next() {
    std::unique_lock lock(mutex_);
    is_there_.wait(lock, [this] { return !tasks_.empty(); });
    Task task = std::move(tasks_.front());
    tasks_.pop();
    return task;
  }

  Answers& answers_;
  std::mutex mutex_;
  std::condition_variable is_there_;
  std::queue<Task> tasks_;
  std::thread thread_;
};

// A pipe of which a child inherits the end that is written to.
struct SamplesPipe {
  Descriptor read, write;

  SamplesPipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw_machine_failed("no more descriptors");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    static_cast<void>(fcntl(ends[0], F_SETFD, FD_CLOEXEC));
    static_cast<void>(fcntl(ends[0], F_SETFL, O_NONBLOCK));
  }
  // As a child opens it.
  [[nodiscard]] std::string name() const { return "/proc/self/fd/" + std::to_string(write.number()); }
};

// What the probe of the devices prints, and what it writes as samples: through a pipe, for no file is written.
struct Told {
  std::string cluster, samples;
};

Told listen_to(ChildProcess& child, Descriptor& samples, const Deadline& deadline) {
  Told told;
  // Something that it started may still hold the pipe when it has ended.
  while (!child.is_silent() || (samples.is_open() && child.how_it_ended().empty())) {
    if (deadline.is_over()) throw_machine_failed("the probe of the devices took longer than it may");
    // A negative number is left out by poll.
    std::array<pollfd, 3> ends{{{child.output().number(), POLLIN, 0},
                                {child.errors().number(), POLLIN, 0},
                                {samples.number(), POLLIN, 0}}};
    static_cast<void>(poll(ends.data(), ends.size(), deadline.left_ms()));
    for (const std::string& line : child.hear()) told.cluster += line + "\n";
    drain(samples, told.samples, kMostLine);
  }
  drain(samples, told.samples, kMostLine);
  return told;
}

Json probe_devices(std::vector<std::string> probe, const DevicesCommand& command) {
  SamplesPipe samples;
  probe.insert(probe.end(), command.options.begin(), command.options.end());
  probe.insert(probe.end(), {"--samples", samples.name()});
  ChildProcess child(probe);
  child.close_input();
  samples.write.close();
  const Deadline deadline = Deadline::in(command.limit_s);
  const Told told = listen_to(child, samples.read, deadline);
  while (child.how_it_ended().empty() && !deadline.is_over()) std::this_thread::yield();
  if (child.exit_code() != 0) {
    throw_machine_failed("the probe of the devices " + child.how_it_ended() + ": " + child.last_words());
  }
  return read_device_report(told.cluster, told.samples, kMostLine / 2).to_json();
}

Json measure(const Secret& secret, const PortRange& ports, const PairCommand& command) {
  return measure_pair(command.to, secret, command.options, Deadline::in(command.limit_s), ports).to_json();
}

class Agent {
 public:
  explicit Agent(AgentOptions options) : options_(std::move(options)), worker_(answers_) {}

  [[noreturn]] void run() {
    Deadline gone = Deadline::in(kGoneAfter_s);
    Deadline here = Deadline::in(kSayHereEvery_s);
    while (true) {
      if (answers_.attend(std::min(gone, here))) {
        hear();
        gone = Deadline::in(kGoneAfter_s);
      }
      if (gone.is_over()) leave(kEndedAlone);
      if (!here.is_over()) continue;
      answers_.give({{"is", "here"}});
      here = Deadline::in(kSayHereEvery_s);
    }
  }

 private:
  void hear() {
    std::array<char, 65536> chunk{};
    const ssize_t count = read(STDIN_FILENO, chunk.data(), chunk.size());
    if (count <= 0) leave(kEndedAlone);  // the coordinator has gone
    heard_.append(chunk.data(), static_cast<std::size_t>(count));
    for (std::size_t end = heard_.find('\n'); end != std::string::npos; end = heard_.find('\n')) {
      const std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      follow(line);
    }
  }

  void follow(const std::string& line) {
    try {
      const Json json = parse_json(line);
      const JsonView view(json);
      const std::string what = view.required("do").text();
      if (what == "start") return start(parse_start(view));
      if (what == "stop") return stop();
      if (what == "wait") return;
      if (!host_) throw_bad_input("nothing is done before \"start\"");
      if (what == "devices") return add(parse_devices(view));
      if (what == "pair") return add(parse_pair(view));
      throw_bad_input("unknown command " + what);
    } catch (const std::exception& error) {
      answers_.give({{"is", "failed"}, {"task", -1}, {"why", error.what()}});
      answers_.finish(kLastWords_s);
      leave(kEndedAlone);
    }
  }

  void start(const StartCommand& command) {
    const Provenance self = current_provenance();
    if (command.version != self.tool_version) {
      throw_bad_input("this host has " + self.tool_version + ", the coordinator " + command.version);
    }
    secret_ = command.secret;
    ports_ = command.ports;
    host_ = std::make_unique<Doorkeeper>(
        secret_, ports_,
        [ports = ports_](const Connection& to, const Request& what) { serve_on(ports, to, what); });
    answers_.give(
        {{"is", "ready"}, {"port", host_->port()}, {"version", self.tool_version}, {"host", self.host}});
  }

  void add(const DevicesCommand& command) {
    worker_.add(command.task, [this, command] { return probe_devices(options_.device_probe, command); });
  }

  void add(const PairCommand& command) {
    worker_.add(command.task, [this, command] { return measure(secret_, ports_, command); });
  }

  [[noreturn]] void stop() {
    answers_.give({{"is", "stopped"}, {"refusals", to_json(host_ ? host_->refusals() : Refusals{})}});
    answers_.finish(kLastWords_s);
    leave(EXIT_SUCCESS);
  }

  AgentOptions options_;
  Secret secret_;
  PortRange ports_;
  std::unique_ptr<Doorkeeper> host_;
  Answers answers_;  // outlives the worker, which speaks through it
  Worker worker_;
  std::string heard_;
};

}  // namespace

void run_agent(const AgentOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(bugprone-signal-handler): ignoring runs no code
  Agent(options).run();
}

}  // namespace sextant
