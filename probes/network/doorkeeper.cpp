#include "probes/network/doorkeeper.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr int kBacklog = 512;
constexpr double kLookAround_s = 0.1;  // ended threads are joined, and the slow shown out, that often

// The bytes that can be received without waiting; 0 if the other end has left, in whatever way.
std::optional<std::size_t> receive_or_leave(const Descriptor& socket, std::span<std::byte> bytes) {
  try {
    return receive_some(socket, bytes);
  } catch (const Error&) {
    return 0;
  }
}

// Whether the few bytes went out at once, as they do on a fresh connection.
bool say(const Descriptor& socket, std::span<const std::byte> bytes) {
  try {
    return send_some(socket, bytes) == bytes.size();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

ProbeListener::ProbeListener(const Secret& secret, const PortRange& ports, Serve serve, DoorkeeperLimits limits)
    : secret_(secret),
      serve_(std::move(serve)),
      limits_(limits),
      listener_(listen_on(ports, kBacklog)),
      port_(port_of(listener_)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.is_open()) throw_machine_failed("out of file descriptors (ulimit -n)");
  thread_ = std::thread([this] { run(); });
}

ProbeListener::~ProbeListener() {
  const std::uint64_t one = 1;
  static_cast<void>(write(wake_.number(), &one, sizeof one) == sizeof one);
  thread_.join();
  for (Served& served : served_) hang_up(served.connection.socket);
  for (Served& served : served_) served.thread.join();
}

Refusals ProbeListener::refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

std::uint64_t ProbeListener::admitted() const {
  const std::lock_guard lock(mutex_);
  return admitted_;
}

void ProbeListener::count(std::uint64_t Refusals::*reason) {
  const std::lock_guard lock(mutex_);
  ++(refusals_.*reason);
}

void ProbeListener::run() {
  while (true) {
    wait_for_something();
    std::uint64_t stop = 0;
    if (read(wake_.number(), &stop, sizeof stop) == sizeof stop) return;
    accept_new();
    hear_pending();
    forget_served();
  }
}

void ProbeListener::wait_for_something() {
  std::vector<pollfd> entries = {{wake_.number(), POLLIN, 0}, {listener_.number(), POLLIN, 0}};
  Deadline until = Deadline::in(kLookAround_s);
  for (const Pending& pending : pending_) {
    entries.push_back({pending.socket.number(), POLLIN, 0});
    until = std::min(until, pending.deadline);
  }
  static_cast<void>(poll(entries.data(), entries.size(), until.left_ms()));
}

void ProbeListener::accept_new() {
  for (Descriptor socket = accept_from(listener_); socket.is_open(); socket = accept_from(listener_)) {
    const Nonce nonce = fresh_nonce();
    if (!say(socket, make_challenge(nonce))) {
      count(&Refusals::left);
      continue;
    }
    if (pending_.size() >= limits_.max_pending) make_room();
    std::string address = peer_address(socket);
    pending_.push_back(
        {std::move(socket), std::move(address), nonce, {}, 0, Deadline::in(limits_.handshake_s)});
  }
}

void ProbeListener::make_room() {
  std::map<std::string_view, int> of_address;
  for (const Pending& pending : pending_) ++of_address[pending.address];
  const auto maximum = std::max_element(of_address.begin(), of_address.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto longest = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const Pending& pending) { return pending.address == maximum->first; });
  pending_.erase(longest);
  count(&Refusals::over_capacity);
}

void ProbeListener::hear_pending() {
  for (auto pending = pending_.begin(); pending != pending_.end();) {
    const bool is_settled = hear(*pending) == Progress::settled;
    pending = is_settled ? pending_.erase(pending) : std::next(pending);
  }
}

ProbeListener::Progress ProbeListener::hear(Pending& pending) {
  const auto rest = std::span(pending.answer).subspan(pending.received);
  const auto received = receive_or_leave(pending.socket, rest);
  if (!received) {
    if (!pending.deadline.is_over()) return Progress::waiting;
    count(&Refusals::too_slow);
    return Progress::settled;
  }
  if (*received == 0) {
    count(&Refusals::left);
    return Progress::settled;
  }
  pending.received += *received;
  const auto begun = std::span<const std::byte>(pending.answer).first(pending.received);
  if (!may_become_answer(begun)) {
    count(&Refusals::malformed);
    return Progress::settled;
  }
  return pending.received == kAnswerBytes ? judge(pending) : Progress::waiting;
}

ProbeListener::Progress ProbeListener::judge(Pending& pending) {
  const HandshakeVerdict verdict = judge_answer(secret_, pending.nonce, pending.answer);
  if (verdict.is_admitted) {
    admit(pending, verdict.admission);
  } else {
    count(verdict.refusal == Refusal::malformed ? &Refusals::malformed : &Refusals::wrong_secret);
  }
  return Progress::settled;
}

void ProbeListener::admit(Pending& pending, const Admission& admission) {
  if (served_.size() >= limits_.max_served) return count(&Refusals::over_capacity);
  if (!say(pending.socket, admission.proof)) return count(&Refusals::left);
  {
    const std::lock_guard lock(mutex_);
    ++admitted_;
  }
  Served& served = served_.emplace_back();
  served.connection = {std::move(pending.socket), admission.key};
  try {
    served.thread = std::thread([this, &served, request = admission.request] {
      try {
        serve_(served.connection, request);
      } catch (const std::exception&) {  // the client sees it: its connection ends
      }
      hang_up(served.connection.socket);
      const std::lock_guard lock(mutex_);
      served.is_done = true;
    });
  } catch (const std::system_error&) {  // no thread to be had: this one is not served, the others are
    served_.pop_back();
    count(&Refusals::over_capacity);
  }
}

void ProbeListener::forget_served() {
  for (auto served = served_.begin(); served != served_.end();) {
    bool is_done = false;
    {
      const std::lock_guard lock(mutex_);
      is_done = served->is_done;
    }
    if (!is_done) {
      ++served;
      continue;
    }
    served->thread.join();
    served = served_.erase(served);
  }
}

Json Refusals::to_json() const {
  return {{"wrong_secret", wrong_secret},
          {"malformed", malformed},
          {"too_slow", too_slow},
          {"left", left},
          {"crowded", over_capacity}};
}

Refusals Refusals::parse(const JsonView& view) {
  view.allow_only({"wrong_secret", "malformed", "too_slow", "left", "crowded"});
  const auto number = [&](const char* key) {
    return static_cast<std::uint64_t>(view.required(key).integer(0));
  };
  return {number("wrong_secret"), number("malformed"), number("too_slow"), number("left"), number("crowded")};
}

}  // namespace sextant::inline probes
