// Sets of devices as bits, 64 to a word, and their prices.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/objective.h"

namespace sextant::inline planner {

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
      const DeviceId device{d};
      const Node& node = cluster.nodes()[cluster.node_of(device).index()];
      const auto& price = cluster.type_of(device).price_usd_per_hour;
      const double usd_per_hour = price ? price->value : 0.0;
      usd_per_hour_.push_back(node.rented_whole ? node.devices * usd_per_hour : usd_per_hour);
      paid_with_.push_back(node.rented_whole ? cluster.node_of(device).value : -1 - d);
    }
  }

  // Price of a set with this number of words; used(word) returns the devices of a word.
  template <typename Used>
  [[nodiscard]] Rented rented(std::size_t words, const Used& used) const {
    Rented rented;
    int paid = kNone;  // with what the device before was paid
    for (std::size_t word = 0; word < words; ++word) rent(word, used(word), paid, rented);
    return rented;
  }

 private:
  static constexpr int kNone = std::numeric_limits<int>::min();

  void rent(std::size_t word, std::uint64_t devices, int& paid, Rented& rented) const {
    rented.devices += std::popcount(devices);
    for (; devices != 0; devices &= devices - 1) {
      const std::size_t device = kWordBits * word + static_cast<std::size_t>(std::countr_zero(devices));
      if (paid_with_[device] != paid) rented.usd_per_hour += usd_per_hour_[device];
      paid = paid_with_[device];
    }
  }

  // The price of each device, or of its node if that is rented whole; zero if no price is known.
  std::vector<double> usd_per_hour_;
  std::vector<int> paid_with_;  // the node that is rented whole, or a number of the device's own
};

}  // namespace sextant::inline planner
