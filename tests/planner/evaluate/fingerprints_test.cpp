#include "planner/request/fingerprints.h"

#include <gtest/gtest.h>

#include <random>

namespace sextant {
namespace {

// Longer than the table of positions, so that those after it count too.
constexpr std::size_t kSeats = 9, kLength = 200;

std::vector<std::uint16_t> random_seats(std::mt19937& random) {
  std::vector<std::uint16_t> seats(kLength);
  for (std::uint16_t& seat : seats) seat = static_cast<std::uint16_t>(random() % kSeats);
  return seats;
}

TEST(DeviceClassHashes, SumsFollowTheirSequenceSeatBySeat) {
  std::mt19937 random(1);
  const DeviceClassHashes prints(kSeats);
  std::vector<std::uint16_t> seats = random_seats(random);
  Fingerprint sum = prints.sum(7, seats);
  for (int change = 0; change < 1'000; ++change) {
    const std::size_t p = random() % kLength;
    sum -= prints.at(p, seats[p]);
    seats[p] = static_cast<std::uint16_t>(random() % kSeats);
    sum += prints.at(p, seats[p]);
    ASSERT_EQ(DeviceClassHashes::of_sum(sum), prints.of(7, seats)) << change;
  }
}

TEST(DeviceClassHashes, TellHeadsSeatsAndPositionsApart) {
  std::mt19937 random(2);
  const DeviceClassHashes prints(kSeats);
  const std::vector<std::uint16_t> seats = random_seats(random);
  EXPECT_NE(prints.of(1, seats), prints.of(2, seats));
  for (std::size_t p = 0; p < kLength; ++p) {
    std::vector<std::uint16_t> other = seats;
    other[p] = static_cast<std::uint16_t>((seats[p] + 1) % kSeats);
    EXPECT_NE(prints.of(1, seats), prints.of(1, other)) << p;
    EXPECT_NE(prints.at(p, 0), prints.at((p + 64) % kLength, 0)) << p;
  }
}

}  // namespace
}  // namespace sextant
