#include "probes/fleet/agent.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>

#include "core/json_value.h"
#include "probes/fleet/answers.h"
#include "probes/fleet/device_probe.h"
#include "probes/fleet/messages.h"
#include "probes/network/services.h"
#include "sextant/error.h"
#include "sextant/provenance.h"

namespace sextant::inline probes {
namespace {

constexpr int kEndedAlone = 3;
constexpr double kLastWords_s = 5;  // how long somebody may take to hear them

// Ends without cleanup: threads that still measure end with the process, and so do its children.
[[noreturn]] void leave(int code) { std::_Exit(code); }

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
      const Answers::Heard heard = answers_.attend(std::min(gone, here));
      if (!heard.is_listened_to) leave(kEndedAlone);
      if (heard.has_input) {
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
      if (!host_) throw_bad_input("expected \"start\" as the first command");
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
      throw_bad_input("version mismatch: this host has " + self.tool_version + ", the coordinator " +
                      command.version);
    }
    secret_ = command.secret;
    ports_ = command.ports;
    host_ = std::make_unique<ProbeListener>(
        secret_, ports_,
        [ports = ports_](const Connection& to, const Request& what) { serve_on(ports, to, what); });
    answers_.give(
        {{"is", "ready"}, {"port", host_->port()}, {"version", self.tool_version}, {"host", self.host}});
  }

  void add(const DevicesCommand& command) {
    worker_.add(command.task,
                [this, command] { return probe_devices(options_.device_probe, command).to_json(); });
  }

  void add(const PairCommand& command) {
    worker_.add(command.task, [this, command] { return measure(secret_, ports_, command); });
  }

  [[noreturn]] void stop() {
    answers_.give({{"is", "stopped"}, {"refusals", (host_ ? host_->refusals() : Refusals{}).to_json()}});
    answers_.finish(kLastWords_s);
    leave(EXIT_SUCCESS);
  }

  AgentOptions options_;
  Secret secret_;
  PortRange ports_;
  std::unique_ptr<ProbeListener> host_;
  Answers answers_;  // outlives the worker, which speaks through it
  Worker worker_;
  std::string heard_;
};

}  // namespace

void run_agent(const AgentOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(bugprone-signal-handler): ignoring runs no code
  Agent(options).run();
}

}  // namespace sextant::inline probes
