// Ends a job that hangs: if all ranks wait for each other, a stopped or lost rank would block them for
// ever.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "probes/gathering/heartbeats.h"

namespace sextant::cli {

struct WatchdogOptions {
  double limit_s = 600;         // maximum silence of this rank's own work
  double silence_s = 30;        // maximum silence of another rank that all wait for; shorter
  std::string hint = "";        // appended to the message
  Heartbeats* signs = nullptr;  // of all ranks; null: silent ranks are not reported
};

// While it lives, the program ends with exit code 3 after a silence longer than the limit, and reports the
// ranks whose heartbeats are missing.
class Watchdog {
 public:
  explicit Watchdog(WatchdogOptions options);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Reports progress and the next step. `needs_all`: no rank can continue without all the others.
  void hear(const std::string& what, bool needs_all = false);

  // Called before the program ends, on another thread than the hanging one; lost ranks with their reasons.
  using LastWords = std::function<void(const std::map<int, std::string>& lost)>;
  void set_last_words(LastWords last_words);

 private:
  void watch();
  // Returns, by rank, why it blocks the others; nullopt while all is well.
  [[nodiscard]] std::optional<std::map<int, std::string>> find_fault(double now_s) const;
  [[nodiscard]] std::map<int, std::string> silent_ranks(double now_s) const;
  void end(const std::map<int, std::string>& silent) const;

  WatchdogOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "start";
  bool needs_all_ = true;
  double heard_s_ = 0;
  LastWords last_words_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace sextant::cli
