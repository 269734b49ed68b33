#include "probes/fleet/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
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
#include "probes/fleet/messages.h"
#include "probes/network/services.h"

namespace sextant {
namespace {

constexpr int kEndedAlone = 3;

// Nothing is torn down: threads that still measure end with the process, and so do its children.
[[noreturn]] void leave(int code) { std::_Exit(code); }

// Answers of two threads, each line whole.
class Answers {
 public:
  void give(const Json& answer) {
    const std::lock_guard lock(mutex_);
    std::string line = compact(answer) + "\n";
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t count = write(STDOUT_FILENO, rest.data(), rest.size());
      if (count < 0) leave(kEndedAlone);  // nobody listens any more
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  std::mutex mutex_;
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

Json probe_devices(std::vector<std::string> probe, const DevicesCommand& command) {
  probe.insert(probe.end(), command.options.begin(), command.options.end());
  ChildProcess child(probe);
  child.close_input();
  const Deadline deadline = Deadline::in(command.limit_s);
  std::string text;
  while (!child.is_silent()) {
    if (deadline.is_over()) throw_machine_failed("the probe of the devices took longer than it may");
    std::array<pollfd, 2> ends{{{child.output().number(), POLLIN, 0}, {child.errors().number(), POLLIN, 0}}};
    static_cast<void>(poll(ends.data(), ends.size(), deadline.left_ms()));
    for (const std::string& line : child.hear()) text += line + "\n";
  }
  while (child.how_it_ended().empty() && !deadline.is_over()) std::this_thread::yield();
  if (child.exit_code() != 0) {
    throw_machine_failed("the probe of the devices " + child.how_it_ended() + ": " + child.last_words());
  }
  return parse_json(text);
}

Json measure(const Secret& secret, const PairCommand& command) {
  return measure_pair(command.to, secret, command.options, Deadline::in(command.limit_s)).to_json();
}

class Agent {
 public:
  explicit Agent(AgentOptions options) : options_(std::move(options)), worker_(answers_) {}

  [[noreturn]] void run() {
    Deadline gone = Deadline::in(kGoneAfter_s);
    Deadline here = Deadline::in(kSayHereEvery_s);
    while (true) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&input, 1, std::min(gone, here).left_ms());
      if (ready > 0) {
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
      leave(kEndedAlone);
    }
  }

  void start(const StartCommand& command) {
    const Provenance self = current_provenance();
    if (command.version != self.tool_version) {
      throw_bad_input("this host has " + self.tool_version + ", the coordinator " + command.version);
    }
    secret_ = command.secret;
    host_ = std::make_unique<Doorkeeper>(secret_, command.ports, serve);
    answers_.give(
        {{"is", "ready"}, {"port", host_->port()}, {"version", self.tool_version}, {"host", self.host}});
  }

  void add(const DevicesCommand& command) {
    worker_.add(command.task, [this, command] { return probe_devices(options_.device_probe, command); });
  }

  void add(const PairCommand& command) {
    worker_.add(command.task, [this, command] { return measure(secret_, command); });
  }

  [[noreturn]] void stop() {
    answers_.give({{"is", "stopped"}, {"refusals", to_json(host_ ? host_->refusals() : Refusals{})}});
    leave(EXIT_SUCCESS);
  }

  AgentOptions options_;
  Secret secret_;
  std::unique_ptr<Doorkeeper> host_;
  Answers answers_;
  Worker worker_;
  std::string heard_;
};

}  // namespace

void run_agent(const AgentOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(bugprone-signal-handler): ignoring runs no code
  Agent(options).run();
}

}  // namespace sextant
