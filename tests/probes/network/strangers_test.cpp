// Connections without the secret, a thousand times each: none is accepted, nothing crashes, authenticated ones
// do not wait, and each is counted under its reason.
#include <gtest/gtest.h>

#include <list>
#include <thread>

#include "probes/harness/random_data.h"
#include "probes/network/doorkeeper.h"
#include "probes/network/round_trips.h"
#include "probes/network/services.h"
#include "sextant/error.h"
#include "tests/probes/patience.h"

namespace sextant {
namespace {

constexpr int kTries = 1000;

class StrangersTest : public ::testing::Test {
 protected:
  explicit StrangersTest(DoorkeeperLimits limits = {}) : host_(secret_, {}, serve, limits) {}

  // A connection with the secret is served at once.
  void expect_service() {
    RoundTripOptions options;
    options.min_samples = 8;
    options.budget_s = 0.02;
    EXPECT_GT(measure_round_trips(endpoint_, secret_, options, deadline_).count, 0);
    ++let_in_;
  }

  // Waits until so many strangers were counted.
  void expect_refused(std::uint64_t count, std::uint64_t Refusals::*reason) {
    while (host_.refusals().total() < count && !deadline_.is_over()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(host_.refusals().*reason, count);
    EXPECT_EQ(host_.refusals().total(), count);
    EXPECT_EQ(host_.admitted(), let_in_);
  }

  // The other end has closed.
  void expect_shown_out(const Descriptor& socket) {
    std::byte one{};
    EXPECT_THROW(receive_all(socket, {&one, 1}, deadline_), Error);
  }

  [[nodiscard]] Descriptor knock(Challenge& challenge) {
    Descriptor socket = connect_to(endpoint_, deadline_);
    receive_all(socket, challenge, deadline_);
    return socket;
  }

  Secret secret_ = Secret::fresh();
  ProbeListener host_;
  Endpoint endpoint_{"127.0.0.1", host_.port()};
  Deadline deadline_ = Deadline::in(kPatience_s);
  std::uint64_t let_in_ = 0;
};

TEST_F(StrangersTest, WrongSecrets) {
  for (int i = 0; i < kTries; ++i) {
    EXPECT_THROW(static_cast<void>(request_service(endpoint_, Secret::fresh(), {Service::echo, 1}, deadline_)),
                 Error);
  }
  expect_service();
  expect_refused(kTries, &Refusals::wrong_secret);
}

// Records what a client that was let in sent, and says the same again.
TEST_F(StrangersTest, RecordedAnswers) {
  // The client speaks to a relay that keeps its answer.
  Descriptor relay = listen_on({}, 8);
  const Endpoint through{"127.0.0.1", port_of(relay)};
  Answer recorded{};
  std::thread middle([&] {
    static_cast<void>(wait_until_readable(relay, deadline_));
    const Descriptor client = accept_from(relay);
    Challenge challenge{};
    const Descriptor server = knock(challenge);
    send_all(client, challenge, deadline_);
    receive_all(client, recorded, deadline_);
    send_all(server, recorded, deadline_);
    Mac proof{};
    receive_all(server, proof, deadline_);
    send_all(client, proof, deadline_);
  });
  static_cast<void>(request_service(through, secret_, {Service::echo, 1}, deadline_));
  middle.join();
  ++let_in_;
  for (int i = 0; i < kTries; ++i) {
    Challenge challenge{};
    const Descriptor socket = knock(challenge);
    send_all(socket, recorded, deadline_);
    expect_shown_out(socket);
  }
  expect_service();
  expect_refused(kTries, &Refusals::wrong_secret);
}

TEST_F(StrangersTest, Garbage) {
  RandomStream random(7);
  for (int i = 0; i < kTries; ++i) {
    std::vector<std::byte> garbage(static_cast<std::size_t>(1 + random.below(2000)));
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random.next() >> 56);
    garbage.front() = std::byte{'G'};
    Challenge challenge{};
    const Descriptor socket = knock(challenge);
    try {
      send_all(socket, garbage, deadline_);
    } catch (const Error&) {  // shown out before it had said all
    }
    expect_shown_out(socket);
  }
  expect_service();
  expect_refused(kTries, &Refusals::malformed);
}

TEST_F(StrangersTest, ThoseWhoLeaveInTheMiddle) {
  for (int i = 0; i < kTries; ++i) {
    Challenge challenge{};
    const Descriptor socket = knock(challenge);
    send_all(socket, bytes_of(std::string_view("SXT1").substr(0, static_cast<std::size_t>(i % 5))), deadline_);
  }
  expect_service();
  expect_refused(kTries, &Refusals::left);
}

class HastyStrangersTest : public StrangersTest {
 protected:
  HastyStrangersTest() : StrangersTest({0.3, std::size_t{2} * kTries, 16}) {}
};

// All at once, and none says anything.
TEST_F(HastyStrangersTest, HalfOpenConnections) {
  std::list<Descriptor> silent;
  for (int i = 0; i < kTries; ++i) {
    Challenge challenge{};
    silent.push_back(knock(challenge));
  }
  expect_service();
  expect_refused(kTries, &Refusals::too_slow);
  for (const Descriptor& socket : silent) expect_shown_out(socket);
}

// A byte now and then does not win time.
TEST_F(HastyStrangersTest, SlowConnections) {
  std::list<Descriptor> slow;
  for (int i = 0; i < kTries; ++i) {
    Challenge challenge{};
    slow.push_back(knock(challenge));
  }
  for (const char letter : std::string_view("SXT1")) {
    for (const Descriptor& socket : slow) {
      try {
        static_cast<void>(send_some(socket, bytes_of({&letter, 1})));
      } catch (const Error&) {  // shown out already
      }
    }
  }
  expect_service();
  expect_refused(kTries, &Refusals::too_slow);
}

class CrowdedTest : public StrangersTest {
 protected:
  CrowdedTest() : StrangersTest({kPatience_s, 8, 16}) {}
};

// More than there is room for: who has waited longest goes, and who knows the secret gets in.
TEST_F(CrowdedTest, ACrowdKeepsNobodyOut) {
  std::list<Descriptor> silent;
  for (int i = 0; i < kTries; ++i) {
    Challenge challenge{};
    silent.push_back(knock(challenge));
    if (i % 100 == 0) expect_service();
  }
  expect_service();
  EXPECT_GE(host_.refusals().over_capacity, static_cast<std::uint64_t>(kTries - 8));
  EXPECT_EQ(host_.refusals().total(), host_.refusals().over_capacity);
  EXPECT_EQ(host_.admitted(), let_in_);
}

// Authenticated connections are limited too.
TEST(ProbeListener, ServesNoMoreThanItsLimit) {
  const Secret secret = Secret::fresh();
  ProbeListener host(secret, {}, serve, {kPatience_s, 8, 4});
  const Endpoint endpoint{"127.0.0.1", host.port()};
  std::list<Connection> served;
  for (int i = 0; i < 4; ++i) {
    served.push_back(
        request_service(endpoint, secret, {Service::echo, kPatience_s}, Deadline::in(kPatience_s)));
  }
  EXPECT_THROW(
      static_cast<void>(request_service(endpoint, secret, {Service::echo, 1}, Deadline::in(kPatience_s))),
      Error);
  EXPECT_EQ(host.refusals().over_capacity, 1U);
}

}  // namespace
}  // namespace sextant
