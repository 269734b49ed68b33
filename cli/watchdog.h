// Ends a job that hangs: where all ranks wait for each other, a rank that was stopped or is gone keeps all for
// ever.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace sextant::cli {

// While it lives, the program ends with exit code 3 once nothing was heard for `limit_s`; `hint` follows what
// is said.
class Watchdog {
 public:
  Watchdog(double limit_s, std::string hint);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Something moves: this comes next.
  void hear(const std::string& what);

 private:
  void watch();

  double limit_s_;
  std::string hint_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "start";
  unsigned heard_ = 0;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace sextant::cli
