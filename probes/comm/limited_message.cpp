#include "probes/comm/limited_message.h"

#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "probes/harness/clock.h"

namespace sextant::inline probes {
namespace {

// A waiting rank first polls this long (ranks that arrive together do not pay a nap), then naps.
constexpr double kPollingPhase_s = 50e-6;
constexpr auto kNap = std::chrono::microseconds(100);

void keep_for_good(std::vector<std::byte> bytes) {
  static std::mutex mutex;
  static auto* const kept = new std::list<std::vector<std::byte>>;  // outlives the transport
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(bytes));
}

}  // namespace

LimitedMessage::~LimitedMessage() {
  if (is_given_up_) keep_for_good(std::move(bytes_));
}

bool LimitedMessage::send(Communicator& ranks, int to, int tag, double limit_s) {
  const bool is_sent = ranks.send_within(bytes_, to, tag, limit_s);
  is_given_up_ = is_given_up_ || !is_sent;
  return is_sent;
}

bool LimitedMessage::receive(Communicator& ranks, int from, int tag, double limit_s) {
  const bool has_come = ranks.receive_within(bytes_, from, tag, limit_s);
  is_given_up_ = is_given_up_ || !has_come;
  return has_come;
}

bool send_text(Communicator& ranks, const std::string& text, int to, int tag, double limit_s) {
  const std::uint64_t length = text.size();
  const auto head = std::as_bytes(std::span(&length, 1));
  const auto body = std::as_bytes(std::span(text));
  LimitedMessage first({head.begin(), head.end()});
  LimitedMessage second({body.begin(), body.end()});
  return first.send(ranks, to, tag, limit_s) && second.send(ranks, to, tag + 1, limit_s);
}

bool receive_text(Communicator& ranks, std::string& text, int from, int tag, double limit_s) {
  std::uint64_t length = 0;
  LimitedMessage first(sizeof(length));
  if (!first.receive(ranks, from, tag, limit_s)) return false;
  std::memcpy(&length, first.bytes().data(), sizeof(length));
  LimitedMessage second(length);
  if (!second.receive(ranks, from, tag + 1, limit_s)) return false;
  text.resize(length);
  if (length > 0) std::memcpy(text.data(), second.bytes().data(), length);
  return true;
}

bool wait_for_message(Communicator& ranks, int from, int tag, double limit_s) {
  const double start_s = steady_clock().now_s();
  while (!ranks.has_message(from, tag)) {
    const double waited_s = steady_clock().now_s() - start_s;
    if (waited_s > limit_s) return false;
    if (waited_s > kPollingPhase_s) std::this_thread::sleep_for(kNap);
  }
  return true;
}

}  // namespace sextant::inline probes
