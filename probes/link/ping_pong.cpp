#include "probes/link/ping_pong.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "probes/harness/random_data.h"

namespace sextant {
namespace {

constexpr int kControlTag = 101;
constexpr int kDataTag = 102;

// What the leader asks for: that many round trips, or 0 to end.
using Request = std::int32_t;

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::vector<std::byte> random_message(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> message(bytes);
  RandomStream random(seed);
  for (std::byte& byte : message) byte = static_cast<std::byte>(random.next() >> 56);
  return message;
}

void request(Communicator& world, int follower, Request round_trips) {
  world.send(bytes_of(round_trips), follower, kControlTag);
  if (round_trips == 0) return;
  // The answer says that the follower is waiting for the first message.
  Request ready = 0;
  world.receive(bytes_of(ready), follower, kControlTag);
}

}  // namespace

ProbeResult lead_ping_pong(Communicator& world, int follower, std::size_t bytes, const ProbeContext& context) {
  const std::vector<std::byte> message =
      random_message(bytes, bytes + static_cast<std::size_t>(world.rank()) + 1);
  std::vector<std::byte> answer(bytes);
  const auto batch = [&](int round_trips) {
    request(world, follower, round_trips);
    const double start_s = context.clock->now_s();
    for (int trip = 0; trip < round_trips; ++trip) {
      world.send(message, follower, kDataTag);
      world.receive(answer, follower, kDataTag);
    }
    return context.clock->now_s() - start_s;
  };
  // The pair decides by its leader alone.
  ProbeResult result =
      time_result("link/" + std::to_string(bytes), 0.5, take_samples(context.sampling, batch, *context.clock));
  std::fill(answer.begin(), answer.end(), std::byte{0});
  batch(1);
  request(world, follower, 0);
  result.work = static_cast<double>(bytes);
  result.rank = world.rank();
  result.peer = follower;
  if (answer == message) return result;
  return failed_result(std::move(result), "the message came back changed");
}

void follow_ping_pong(Communicator& world, int leader, std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  for (;;) {
    Request round_trips = 0;
    world.receive(bytes_of(round_trips), leader, kControlTag);
    if (round_trips == 0) return;
    world.send(bytes_of(round_trips), leader, kControlTag);
    for (Request trip = 0; trip < round_trips; ++trip) {
      world.receive(message, leader, kDataTag);
      world.send(message, leader, kDataTag);
    }
  }
}

}  // namespace sextant
