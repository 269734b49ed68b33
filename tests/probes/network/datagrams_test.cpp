#include "probes/network/datagrams.h"

#include <gtest/gtest.h>

#include "core/json_value.h"

namespace sextant {
namespace {

// Sent every 10 ms; both ways take `there_s` and `back_s`, the other's clock is 5 s ahead.
ReturnedDatagram datagram(int number, double there_s, double back_s) {
  const double sent_s = number * 0.01;
  return {static_cast<std::uint64_t>(number), sent_s, sent_s + 5 + there_s, sent_s + 5 + there_s + 0.001,
          sent_s + there_s + 0.001 + back_s};
}

TEST(DatagramLoss, TellsTheTwoWaysApart) {
  std::vector<ReturnedDatagram> returned;
  returned.reserve(60);
  for (int i = 0; i < 60; ++i) returned.push_back(datagram(i, 0.02, 0.03));
  const DatagramLoss loss = summarise(100, 80, returned);
  EXPECT_DOUBLE_EQ(loss.lost_there_fraction, 0.2);
  EXPECT_DOUBLE_EQ(loss.lost_back_fraction, 0.25);
  EXPECT_NEAR(loss.median_s, 0.05, 1e-9);  // without the time that the other host had it
  EXPECT_NEAR(loss.jitter_there_s, 0, 1e-9);
  EXPECT_NEAR(loss.jitter_back_s, 0, 1e-9);
}

TEST(DatagramLoss, WithoutTheServersWordAllIsLostOnTheWayThere) {
  const DatagramLoss loss = summarise(4, -1, {datagram(0, 0.1, 0.1)});
  EXPECT_DOUBLE_EQ(loss.lost_there_fraction, 0.75);
  EXPECT_DOUBLE_EQ(loss.lost_back_fraction, 0);
}

// RFC 3550: every transit differs from the one before by 4 ms, so the jitter tends to 4 ms.
TEST(DatagramLoss, JitterIsTheSmoothedDifferenceOfTransits) {
  std::vector<ReturnedDatagram> returned;
  returned.reserve(400);
  for (int i = 0; i < 400; ++i) returned.push_back(datagram(i, i % 2 == 0 ? 0.020 : 0.024, 0.01));
  const DatagramLoss loss = summarise(400, 400, returned);
  EXPECT_NEAR(loss.jitter_there_s, 0.004, 1e-6);
  EXPECT_NEAR(loss.jitter_back_s, 0, 1e-9);
  returned.resize(2);
  EXPECT_NEAR(summarise(2, 2, returned).jitter_there_s, 0.004 / 16, 1e-9);
}

// A burst of losses and a slow moment show when they were.
TEST(DatagramLoss, IsToldOverTime) {
  std::vector<ReturnedDatagram> returned;
  for (int i = 0; i < 50; ++i) {
    if (i < 20 || i >= 35) returned.push_back(datagram(i, i < 40 ? 0.02 : 0.05, 0.03));
  }
  std::swap(returned.front(), returned.back());  // they may overtake each other
  const DatagramLoss loss = summarise(50, 50, returned);
  ASSERT_EQ(loss.over_time.size(), 3U);
  EXPECT_EQ(loss.over_time[0].returned, 20);
  EXPECT_EQ(loss.over_time[1].returned, 5);
  EXPECT_EQ(loss.over_time[2].sent, 10);
  EXPECT_NEAR(loss.over_time[1].median_s.value_or(0), 0.05, 1e-9);
  EXPECT_NEAR(loss.over_time[2].median_s.value_or(0), 0.08, 1e-9);
  EXPECT_NEAR(loss.over_time[0].jitter_s.value_or(1), 0, 1e-9);
  EXPECT_FALSE(summarise(20, 0, {}).over_time.front().median_s.has_value());
}

TEST(DatagramLoss, GoesThroughJson) {
  const DatagramLoss loss = summarise(10, 9, {datagram(0, 0.1, 0.2), datagram(1, 0.11, 0.2)});
  const Json json = loss.to_json();
  EXPECT_EQ(DatagramLoss::parse(JsonView(json)), loss);
}

}  // namespace
}  // namespace sextant
