#include <gtest/gtest.h>

#include <array>

#include "probes/comm/communicator.h"
#include "sextant/error.h"

namespace sextant {
namespace {

TEST(SerialCommunicator, IsOneRank) {
  const auto world = make_serial_communicator();
  EXPECT_EQ(world->rank(), 0);
  EXPECT_EQ(world->size(), 1);
  EXPECT_EQ(world->hosts().size(), 1U);
}

TEST(SerialCommunicator, ReducesToItsOwnValues) {
  const auto world = make_serial_communicator();
  std::array<float, 2> values{3, -4};
  world->all_reduce_sum(std::span<float>(values));
  world->all_reduce_max(std::span<float>(values));
  EXPECT_EQ(values, (std::array<float, 2>{3, -4}));
}

TEST(SerialCommunicator, GathersAndBroadcastsItsOwnValues) {
  const auto world = make_serial_communicator();
  const std::array<double, 2> mine{1, 2};
  std::array<double, 2> all{};
  world->all_gather(std::span<const double>(mine), std::span<double>(all));
  world->broadcast(std::as_writable_bytes(std::span(all)), 0);
  EXPECT_EQ(all, mine);
}

TEST(SerialCommunicator, RefusesMessagesToOtherRanks) {
  const auto world = make_serial_communicator();
  std::array<std::byte, 1> bytes{};
  EXPECT_THROW(world->send(bytes, 1, 0), Error);
  EXPECT_THROW(world->send_buffered(bytes, 1, 0), Error);
  EXPECT_THROW(world->receive(bytes, 1, 0), Error);
  EXPECT_THROW(world->broadcast(bytes, 1), Error);
}

TEST(SerialCommunicator, SplitsOffItselfOrNothing) {
  const auto world = make_serial_communicator();
  const auto part = world->split(5, 0);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->size(), 1);
  EXPECT_EQ(world->split(-1, 0), nullptr);
}

TEST(CommunicatorSession, IsSerialWithoutLauncher) {
  int argc = 0;
  char** argv = nullptr;
  const CommunicatorSession session(&argc, &argv);
  EXPECT_FALSE(transport_description().empty());
}

}  // namespace
}  // namespace sextant
