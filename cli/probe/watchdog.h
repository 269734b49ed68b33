// Ends a job that hangs: where all ranks wait for each other, a rank that was stopped or is gone keeps all for
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
  double limit_s = 600;         // most that nothing may be heard from this rank's own work
  double silence_s = 30;        // of another rank that all wait for: sooner than that
  std::string hint = "";        // follows what is said
  Heartbeats* signs = nullptr;  // of all ranks; none: nobody can be named
};

// While it lives, the program ends with exit code 3 once nothing was heard for so long, and says which ranks
// are silent, as far as their signs of life tell.
class Watchdog {
 public:
  explicit Watchdog(WatchdogOptions options);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Something moves: this comes next. `needs_all`: nobody can go on without all the others.
  void hear(const std::string& what, bool needs_all = false);

  // What is done before the program ends, on another thread than the one that hangs; lost ranks and why.
  using LastWords = std::function<void(const std::map<int, std::string>& lost)>;
  void set_last_words(LastWords last_words);

 private:
  void watch();
  // By rank, why it keeps the others; nothing while all is well.
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
