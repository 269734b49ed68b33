#include "probes/network/socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "probes/network/doorkeeper.h"
#include "probes/network/services.h"
#include "sextant/error.h"
#include "tests/probes/patience.h"

namespace sextant {
namespace {

// Two ends of one connection.
struct Streams {
  Descriptor listener = listen_on({}, 8);
  Descriptor client = connect_to({"127.0.0.1", port_of(listener)}, Deadline::in(kPatience_s));
  Descriptor server;

  Streams() {
    static_cast<void>(wait_until_readable(listener, Deadline::in(kPatience_s)));
    server = accept_from(listener);
  }
};

TEST(Socket, DatagramsKeepToTheRangeOfPorts) {
  const Streams streams;
  const std::uint16_t free = port_of(datagram_socket_beside(streams.server));
  const Descriptor first = datagram_socket_beside(streams.server, {free, free});
  EXPECT_EQ(port_of(first), free);
  // It is taken now.
  EXPECT_THROW(static_cast<void>(datagram_socket_beside(streams.server, {free, free})), Error);
}

// A name is looked up within the deadline, whatever its servers do.
TEST(Socket, ANameIsLookedUpInTime) {
  const Deadline deadline = Deadline::in(0);
  try {
    static_cast<void>(connect_to({"name-that-takes-longer.invalid", 1}, deadline));
    FAIL() << "connected";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("name-that-takes-longer.invalid"), std::string::npos);
  }
}

TEST(Socket, ANameIsFound) {
  const Descriptor listener = listen_on({}, 8);
  EXPECT_TRUE(connect_to({"localhost", port_of(listener)}, Deadline::in(kPatience_s)).is_open());
}

// From another address of this host.
Descriptor knock_from(const char* address, std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in from{};
  from.sin_family = AF_INET;
  inet_pton(AF_INET, address, &from.sin_addr);
  sockaddr_in to = from;
  to.sin_port = htons(port);
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  if (bind(socket.number(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) return {};
  if (connect(socket.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return {};
  return socket;
}

// Whoever comes often is shown out, not who came first.
TEST(ProbeListener, ACrowdOfOneAddressShowsOutItsOwn) {
  constexpr int kStrangers = 200;
  const Secret secret = Secret::fresh();
  ProbeListener host(secret, {}, serve, {kPatience_s, 8, 8});
  const Deadline deadline = Deadline::in(kPatience_s);
  const Descriptor quiet = knock_from("127.0.0.2", host.port());
  ASSERT_TRUE(quiet.is_open()) << "127.0.0.2 is an address of this host on Linux";
  Challenge challenge{};
  receive_all(quiet, challenge, deadline);
  std::vector<Descriptor> crowd;
  for (int i = 0; i < kStrangers; ++i) {
    crowd.push_back(connect_to({"127.0.0.1", host.port()}, deadline));
    receive_all(crowd.back(), challenge, deadline);
  }
  EXPECT_GE(host.refusals().over_capacity, static_cast<std::uint64_t>(kStrangers - 8));
  // Still there: nothing to be read, and no end.
  std::byte one{};
  EXPECT_EQ(recv(quiet.number(), &one, 1, MSG_DONTWAIT), -1);
}

}  // namespace
}  // namespace sextant
