#include "probes/link/ping_pong.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "core/units.h"
#include "probes/comm/limited_message.h"
#include "probes/harness/random_data.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// The request of the leader: a number of round trips and their bytes; zero trips end the session.
struct TransferRequest {
  std::int64_t round_trips = 0;
  std::int64_t bytes = 0;
};

// Tags of a line, after its first.
constexpr int kReady = 1;
constexpr int kData = 2;

std::vector<std::byte> random_message(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> message(bytes);
  RandomStream random(seed);
  for (std::byte& byte : message) byte = static_cast<std::byte>(random.next() >> 56);
  return message;
}

LimitedMessage message_of(const TransferRequest& request) {
  const auto bytes = std::as_bytes(std::span(&request, 1));
  return LimitedMessage({bytes.begin(), bytes.end()});
}

class Leader {
 public:
  Leader(Communicator& world, const PairLine& line) : world_(world), line_(line) {}

  void request(const TransferRequest& request) {
    check(message_of(request).send(world_, line_.peer, line_.tag, line_.limit_s));
    if (request.round_trips == 0) return;
    // The answer says that the follower is waiting for the first message.
    LimitedMessage ready(1);
    check(ready.receive(world_, line_.peer, line_.tag + kReady, line_.limit_s));
  }

  void trip(LimitedMessage& message, LimitedMessage& answer) {
    check(message.send(world_, line_.peer, line_.tag + kData, line_.limit_s));
    check(answer.receive(world_, line_.peer, line_.tag + kData, line_.limit_s));
  }

 private:
  void check(bool did_answer) const {
    if (did_answer) return;
    throw_machine_failed(line_.peer_name + " did not answer within " + format_seconds(line_.limit_s));
  }

  Communicator& world_;
  const PairLine& line_;
};

ProbeResult lead_point(Communicator& world, const PairLine& line, std::size_t bytes,
                       const ProbeContext& context) {
  LimitedMessage message(random_message(bytes, bytes + static_cast<std::size_t>(world.rank()) + 1));
  auto answer = std::make_unique<LimitedMessage>(bytes);
  Leader leader(world, line);
  const auto batch = [&](int round_trips) {
    leader.request({round_trips, static_cast<std::int64_t>(bytes)});
    const double start_s = context.clock->now_s();
    for (int trip = 0; trip < round_trips; ++trip) leader.trip(message, *answer);
    return context.clock->now_s() - start_s;
  };
  // The pair decides by its leader alone.
  const auto agreement = [&](bool mine) { return mine || (line.should_stop && line.should_stop()); };
  ProbeResult result = time_result("link/" + std::to_string(bytes), 0.5,
                                   take_samples(context.sampling, batch, *context.clock, agreement));
  answer = std::make_unique<LimitedMessage>(bytes);  // of zeros
  batch(1);
  if (answer->bytes() == message.bytes()) return result;
  return failed_result(std::move(result), "the message came back changed");
}

}  // namespace

std::vector<ProbeResult> lead_ping_pong(Communicator& world, const PairLine& line,
                                        const std::vector<std::size_t>& message_bytes,
                                        const ProbeContext& context) {
  std::vector<ProbeResult> points;
  const auto add = [&](std::size_t bytes, ProbeResult point) {
    point.work = static_cast<double>(bytes);
    point.rank = world.rank();
    point.peer = line.peer;
    points.push_back(std::move(point));
  };
  for (const std::size_t bytes : message_bytes) {
    try {
      add(bytes, lead_point(world, line, bytes, context));
    } catch (const Error& error) {
      add(bytes, failed_result(waived_result("link/" + std::to_string(bytes), "s", ""), error.what()));
      return points;
    }
    if (line.should_stop && line.should_stop()) {
      points.clear();
      break;
    }
  }
  // A peer that does not receive this ends by its own timeout.
  static_cast<void>(message_of({}).send(world, line.peer, line.tag, line.limit_s));
  return points;
}

bool follow_ping_pong(Communicator& world, const PairLine& line) {
  auto message = std::make_unique<LimitedMessage>(std::size_t{0});
  for (;;) {
    TransferRequest request;
    LimitedMessage asked(sizeof(request));
    if (!asked.receive(world, line.peer, line.tag, line.limit_s)) return false;
    std::memcpy(&request, asked.bytes().data(), sizeof(request));
    if (request.round_trips == 0) return true;
    const auto bytes = static_cast<std::size_t>(request.bytes);
    if (message->bytes().size() != bytes) message = std::make_unique<LimitedMessage>(bytes);
    LimitedMessage ready(1);
    if (!ready.send(world, line.peer, line.tag + kReady, line.limit_s)) return false;
    for (std::int64_t trip = 0; trip < request.round_trips; ++trip) {
      if (!message->receive(world, line.peer, line.tag + kData, line.limit_s)) return false;
      if (!message->send(world, line.peer, line.tag + kData, line.limit_s)) return false;
    }
  }
}

}  // namespace sextant::inline probes
