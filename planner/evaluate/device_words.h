// Sets of devices as bits, 64 to a word, and what the devices of a set cost.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "planner/objective.h"

namespace sextant {

inline constexpr std::size_t kWordBits = 64;

[[nodiscard]] constexpr std::size_t words_of(std::size_t devices) {
  return (devices + kWordBits - 1) / kWordBits;
}

// Of sets of as many words: a device is in both.
[[nodiscard]] inline bool share(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  for (std::size_t word = 0; word < a.size(); ++word) {
    if ((a[word] & b[word]) != 0) return true;
  }
  return false;
}

class DevicePrices {
 public:
  explicit DevicePrices(const Cluster& cluster) {
    for (int d = 0; d < cluster.device_count(); ++d) {
      const auto& price = cluster.type_of(DeviceId{d}).price_usd_per_hour;
      usd_per_hour_.push_back(price ? price->value : 0.0);
    }
  }

  // Adds the devices of one word of a set.
  void rent(std::size_t word, std::uint64_t devices, Rented& rented) const {
    rented.devices += std::popcount(devices);
    for (; devices != 0; devices &= devices - 1)
      rented.usd_per_hour +=
          usd_per_hour_[kWordBits * word + static_cast<std::size_t>(std::countr_zero(devices))];
  }

 private:
  std::vector<double> usd_per_hour_;  // by device; zero where no price is known
};

}  // namespace sextant
