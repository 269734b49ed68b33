#include "probes/gathering/liveness_barrier.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

#include "core/json_value.h"
#include "core/units.h"
#include "probes/comm/kept_communicators.h"
#include "probes/comm/limited_message.h"
#include "probes/harness/clock.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr int kLeader = 0;
// Tags: what is told (two), orders (two), then one for each distance in any().
constexpr int kTold = 0;
constexpr int kOrder = 2;
constexpr int kStep = 4;

constexpr char kText = 't';
constexpr char kHere = 'h';  // at the meeting

constexpr auto kNap = std::chrono::microseconds(200);

double now_s() { return steady_clock().now_s(); }

}  // namespace

LivenessBarrier::LivenessBarrier(Communicator& world, Limits limits, OnText on_text)
    : limits_(limits),
      on_text_(std::move(on_text)),
      ranks_(world.split(0, world.rank())),
      hosts_(world.hosts()) {
  const auto size = static_cast<std::size_t>(ranks_->size());
  heard_s_.assign(size, now_s());
  has_come_.assign(size, false);
}

LivenessBarrier::~LivenessBarrier() {
  if (!lost_.empty() || !is_in_step_) keep_for_good(std::move(ranks_));
}

std::string LivenessBarrier::name_of(int rank) const {
  return "rank " + std::to_string(rank) + " on " + hosts_[static_cast<std::size_t>(rank)];
}

void LivenessBarrier::tell(const std::string& text) {
  if (ranks_->rank() != kLeader) return send(kText, text);
  if (!text.empty() && on_text_) on_text_(kLeader, text);
  attend();
}

void LivenessBarrier::send(char kind, const std::string& text) {
  const std::string message = kind + text;
  const std::uint64_t length = message.size();
  ranks_->send_buffered(std::as_bytes(std::span(&length, 1)), kLeader, kTold);
  ranks_->send_buffered(std::as_bytes(std::span(message)), kLeader, kTold + 1);
}

// Without waiting.
void LivenessBarrier::attend() {
  for (int rank = 1; rank < ranks_->size(); ++rank) {
    std::string message;
    while (!lost_.contains(rank) && ranks_->has_message(rank, kTold)) {
      if (receive_text(*ranks_, message, rank, kTold, limits_.message_s)) {
        hear(rank, message);
      } else {
        lost_[rank] = name_of(rank) + " stopped in the middle of a message";
      }
    }
  }
}

void LivenessBarrier::hear(int rank, const std::string& message) {
  heard_s_[static_cast<std::size_t>(rank)] = now_s();
  if (message.front() == kHere) has_come_[static_cast<std::size_t>(rank)] = true;
  if (message.size() > 1 && on_text_) on_text_(rank, message.substr(1));
}

// After the k-th exchange each rank knows of the 2^k ranks before it.
bool LivenessBarrier::any(bool mine) {
  const int size = ranks_->size();
  int tag = kStep;
  for (int distance = 1; distance < size && is_in_step_; distance *= 2, ++tag) {
    const std::array<std::byte, 1> said = {std::byte{mine}};
    LimitedMessage to_next({said.begin(), said.end()});
    LimitedMessage from_last(1);
    is_in_step_ = to_next.send(*ranks_, (ranks_->rank() + distance) % size, tag, limits_.silence_s) &&
                  from_last.receive(*ranks_, (ranks_->rank() - distance + size) % size, tag, limits_.silence_s);
    if (is_in_step_) {
      mine = mine || from_last.bytes().front() != std::byte{0};
    } else {
      show();  // it was waiting all the time
    }
  }
  return mine;
}

void LivenessBarrier::begin_phase(Limits limits, OnText on_text, std::map<int, std::string> lost) {
  limits_ = limits;
  on_text_ = std::move(on_text);
  lost_ = std::move(lost);
  heard_s_.assign(heard_s_.size(), now_s());
}

void LivenessBarrier::suspect(int rank, double within_s) { suspects_s_[rank] = now_s() + within_s; }

void LivenessBarrier::meet(const std::string& what) {
  static_cast<void>(meet("sent nothing for " + format_seconds(limits_.silence_s) + " while " + what,
                         [] { return std::string(); }));
}

std::string LivenessBarrier::meet(const std::string& is_silent, const std::function<std::string()>& order) {
  if (ranks_->rank() != kLeader) {
    send(kHere, "");
    return wait_for_order();
  }
  wait_for_all(is_silent);
  std::string given = order();
  send_order(given);
  return given;
}

void LivenessBarrier::wait_for_all(const std::string& is_silent) {
  for (const int rank : std::exchange(deaf_, {})) lost_[rank] = name_of(rank) + " does not accept messages";
  // Ranks that worked as long as rank 0 have not had the time to report.
  const double soonest_s = now_s() + limits_.silence_s / 2;
  const auto latest_s = [&](int rank) {
    const double late_s = std::max(heard_s_[static_cast<std::size_t>(rank)] + limits_.silence_s, soonest_s);
    const auto suspect_s = suspects_s_.find(rank);
    return suspect_s == suspects_s_.end() ? late_s : std::min(late_s, suspect_s->second);
  };
  for (bool waits = true; waits;) {
    attend();
    waits = false;
    for (int rank = 1; rank < ranks_->size(); ++rank) {
      if (lost_.contains(rank) || has_come_[static_cast<std::size_t>(rank)]) continue;
      if (now_s() > latest_s(rank)) {
        lost_[rank] = name_of(rank) + " " + is_silent;
      } else {
        waits = true;
      }
    }
    if (waits) std::this_thread::sleep_for(kNap);
  }
  has_come_.assign(has_come_.size(), false);
  suspects_s_.clear();
}

void LivenessBarrier::send_order(const std::string& order) {
  Json lost = Json::array();
  for (const auto& [rank, why] : lost_) lost.push_back({{"rank", rank}, {"why", why}});
  const std::string text = Json{{"order", order}, {"lost", lost}}.dump();
  for (int rank = 1; rank < ranks_->size(); ++rank) {
    if (lost_.contains(rank)) continue;
    if (!send_text(*ranks_, text, rank, kOrder, limits_.message_s)) deaf_.insert(rank);
  }
  heard_s_.assign(heard_s_.size(), now_s());
}

std::string LivenessBarrier::wait_for_order() {
  std::string text;
  if (!wait_for_message(*ranks_, kLeader, kOrder, limits_.longest_s) ||
      !receive_text(*ranks_, text, kLeader, kOrder, limits_.message_s)) {
    throw_machine_failed(name_of(kLeader) + ", which collects the results, does not respond");
  }
  lost_.clear();
  const Json json = parse_json(text);
  for (const Json& one : json["lost"]) lost_[one["rank"].get<int>()] = one["why"].get<std::string>();
  return json["order"].get<std::string>();
}

}  // namespace sextant::inline probes
