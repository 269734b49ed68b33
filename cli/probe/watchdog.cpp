#include "cli/probe/watchdog.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "cli/shared/exit_codes.h"
#include "core/units.h"
#include "probes/harness/clock.h"

namespace sextant::cli {
namespace {

constexpr double kBeat_s = 1;
// So that rank 0, which hears all, speaks before the others.
constexpr double kPatience_s = 20;

double now_s() { return steady_clock().now_s(); }

std::string names(const Heartbeats& signs, const std::vector<int>& ranks) {
  constexpr std::size_t kMaxNamed = 8;
  std::string text;
  for (std::size_t at = 0; at < std::min(ranks.size(), kMaxNamed); ++at) {
    text += (at == 0 ? "" : ", ") + signs.name_of(ranks[at]);
  }
  return ranks.size() > kMaxNamed ? text + " and " + std::to_string(ranks.size() - kMaxNamed) + " more" : text;
}

// The sentence for the case in which no rank is silent.
std::string describe_the_others(const Heartbeats* signs) {
  if (signs == nullptr || !signs->is_listener()) return "so a rank hangs or is gone";
  const std::vector<int> unheard = signs->unheard();
  if (unheard.empty()) return "although all ranks send heartbeats: one of them hangs in its own work";
  return "so a rank hangs or has ended; no heartbeat was ever received from " + names(*signs, unheard) +
         " (by UDP)";
}

}  // namespace

Watchdog::Watchdog(WatchdogOptions options)
    : options_(std::move(options)), heard_s_(now_s()), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::hear(const std::string& what, bool needs_all) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  needs_all_ = needs_all;
  heard_s_ = now_s();
}

void Watchdog::set_last_words(LastWords last_words) {
  const std::lock_guard lock(mutex_);
  last_words_ = std::move(last_words);
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> beat(std::min(kBeat_s, options_.limit_s / 4));
  while (!is_over_) {
    if (options_.signs != nullptr) {
      options_.signs->say(what_);
      options_.signs->listen(now_s());
    }
    if (const auto fault = find_fault(now_s())) end(*fault);
    changed_.wait_for(lock, beat, [this] { return is_over_; });
  }
}

std::optional<std::map<int, std::string>> Watchdog::find_fault(double now_s) const {
  const double still_s = now_s - heard_s_;
  const bool speaks_first = options_.signs == nullptr || options_.signs->rank() == 0;
  const double limit_s = options_.limit_s + (speaks_first ? 0 : kPatience_s);
  std::map<int, std::string> silent = silent_ranks(now_s);
  if (still_s > limit_s) return silent;
  if (!needs_all_ || silent.empty() || still_s < options_.silence_s) return std::nullopt;
  // Rank 1 speaks where rank 0 cannot.
  if (!speaks_first && !silent.contains(0)) return std::nullopt;
  return silent;
}

std::map<int, std::string> Watchdog::silent_ranks(double now_s) const {
  std::map<int, std::string> silent;
  if (options_.signs == nullptr || !options_.signs->is_listener()) return silent;
  for (const int rank : options_.signs->silent(now_s, options_.silence_s)) {
    silent[rank] = options_.signs->name_of(rank) + " sent no heartbeat for " +
                   format_seconds(options_.signs->silent_s(rank, now_s)) + " (last seen at " +
                   options_.signs->last_words(rank) + ")";
  }
  return silent;
}

void Watchdog::end(const std::map<int, std::string>& silent) const {
  std::string why;
  for (const auto& [rank, of_rank] : silent) why += (why.empty() ? "" : "; ") + of_rank;
  if (why.empty()) {
    why = "no progress for " + format_seconds(options_.limit_s) + ", " + describe_the_others(options_.signs);
  }
  std::fprintf(stderr, "sextant: %s: %s%s\n", what_.c_str(), why.c_str(), options_.hint.c_str());
  try {
    if (last_words_) last_words_(silent);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sextant: %s\n", error.what());
  }
  std::fflush(stdout);
  // The main thread waits inside of the transport and cannot be asked. Launchers end the other ranks.
  std::_Exit(kMachineFailed);
}

}  // namespace sextant::cli
