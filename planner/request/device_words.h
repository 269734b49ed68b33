// Sets of devices as bits, 64 to a word, and their prices.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/objective.h"

namespace sextant {

inline constexpr std::size_t kWordBits = 64;

[[nodiscard]] constexpr std::size_t words_of(std::size_t devices) {
  return (devices + kWordBits - 1) / kWordBits;
}

// The set of these devices as bits; `of_cluster` is the number of devices of the cluster.
[[nodiscard]] inline std::vector<std::uint64_t> device_set(std::span<const std::uint16_t> devices,
                                                           std::size_t of_cluster) {
  std::vector<std::uint64_t> set(words_of(of_cluster));
  for (const std::uint16_t device : devices) set[device / kWordBits] |= std::uint64_t{1} << device % kWordBits;
  return set;
}

// True if the two sets, which have equally many words, have a device in common.
[[nodiscard]] inline bool share(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  for (std::size_t word = 0; word < a.size(); ++word) {
    if ((a[word] & b[word]) != 0) return true;
  }
  return false;
}

// True if all devices of `inner` are in `outer`.
[[nodiscard]] inline bool holds_all(std::span<const std::uint64_t> outer,
                                    std::span<const std::uint64_t> inner) {
  for (std::size_t word = 0; word < outer.size(); ++word) {
    if ((inner[word] & ~outer[word]) != 0) return false;
  }
  return true;
}

class DevicePrices {
 public:
  explicit DevicePrices(const Cluster& cluster) {
    for (int d = 0; d < cluster.device_count(); ++d) {
      const auto& price = cluster.type_of(DeviceId{d}).price_usd_per_hour;
      usd_per_hour_.push_back(price ? price->value : 0.0);
    }
  }

  // Price of a set with this number of words; used(word) returns the devices of a word.
  template <typename Used>
  [[nodiscard]] Rented rented(std::size_t words, const Used& used) const {
    Rented rented;
    for (std::size_t word = 0; word < words; ++word) rent(word, used(word), rented);
    return rented;
  }

 private:
  void rent(std::size_t word, std::uint64_t devices, Rented& rented) const {
    rented.devices += std::popcount(devices);
    for (; devices != 0; devices &= devices - 1)
      rented.usd_per_hour +=
          usd_per_hour_[kWordBits * word + static_cast<std::size_t>(std::countr_zero(devices))];
  }

  std::vector<double> usd_per_hour_;  // by device; zero if no price is known
};

}  // namespace sextant
