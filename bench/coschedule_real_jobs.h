// Real jobs of the benchmarks on shared pools: processes of `sextant proxy` that ask for permits.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "planner/coschedule/control/permit_server.h"
#include "sextant/cluster.h"

namespace sextant::coschedule {

using Clock = std::chrono::steady_clock;

// Sizes of a workflow that the proxy runs. Small batches of the decoder make rollouts long, more prompts training.
struct ProxyJob {
  std::string name;
  int prompts, response_tokens, decode_batch;
};

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "real-jobs-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// A host with one core.
[[nodiscard]] Cluster one_core();

// The workflow and the plan of the job.
void write_documents(const Folder& folder, const ProxyJob& job);

// A process of `sextant proxy` as a job of the group.
[[nodiscard]] pid_t start(const Folder& folder, const std::string& job, int iterations);
void wait_for(pid_t child, bool is_killed = false);

// A permit server in a thread, until all jobs have left.
class Serving {
 public:
  // The listener is called in the server's thread, before the job gets its answer.
  explicit Serving(const Folder& folder, const Group& group,
                   double patience_s = PermitServerOptions{}.patience_s,
                   const std::function<void(const PhaseRecord&)>& listener = {}) {
    PermitServerOptions options;
    options.ends_when_all_left = true;
    options.patience_s = patience_s;
    options.max_overrun = 0;  // the jobs' bounds are not known
    options.on_event = [this, listener](const PhaseRecord& record) {
      if (listener) listener(record);
      const std::lock_guard lock(mutex_);
      events_.emplace_back(Clock::now(), record);
    };
    log_ = std::async(std::launch::async, [&group, options, socket = folder.file("permits")] {
      return serve_permits(group, socket, options).log;
    });
    while (!std::filesystem::exists(folder.file("permits")))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  [[nodiscard]] std::vector<PhaseRecord> log() { return log_.get(); }
  // Waits for the first such event from a moment on, and returns its time.
  Clock::time_point wait_for_event(Clock::time_point from,
                                   const std::function<bool(const PhaseRecord&)>& is_it) {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      const std::lock_guard lock(mutex_);
      for (const auto& [time, record] : events_) {
        if (time >= from && is_it(record)) return time;
      }
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Clock::time_point, PhaseRecord>> events_;
  std::future<std::vector<PhaseRecord>> log_;
};

// Keeps both cores busy when no job runs there, with a proxy of its own on each that needs no permits.
class IdleWork {
 public:
  IdleWork();
  ~IdleWork();
  IdleWork(const IdleWork&) = delete;
  IdleWork& operator=(const IdleWork&) = delete;

 private:
  [[noreturn]] void work(int core) const;

  Folder folder_;
  std::array<pid_t, 2> children_{};
};

}  // namespace sextant::coschedule
