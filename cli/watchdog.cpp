#include "cli/watchdog.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cli/exit_codes.h"
#include "core/units.h"

namespace sextant::cli {

Watchdog::Watchdog(double limit_s, std::string hint)
    : limit_s_(limit_s), hint_(std::move(hint)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::hear(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    what_ = what;
    ++heard_;
  }
  changed_.notify_all();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    const unsigned before = heard_;
    const std::chrono::duration<double> limit(limit_s_);
    if (changed_.wait_for(lock, limit, [&] { return is_over_ || heard_ != before; })) continue;
    std::fprintf(stderr, "sextant: %s: nothing has moved for %s, so a rank hangs or is gone%s\n", what_.c_str(),
                 format_seconds(limit_s_).c_str(), hint_.c_str());
    // The main thread waits inside of the transport and cannot be asked. Launchers end the other ranks.
    std::_Exit(kMachineFailed);
  }
}

}  // namespace sextant::cli
