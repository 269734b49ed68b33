// Data that one task makes and another needs, on its way between their devices.
//
// Both tasks hold the sequences of an iteration evenly over their devices. With n devices that make them, m
// devices that need them and B bytes of all sequences,
//   each device that needs them and did not make them gets B / m, from those that made them;
//   where all m devices are among the n, each lacks B / m - B / n, and gets that from the others;
//   where the devices are the same nothing moves.
// The transfers are those of weight_transfer.h, over links of which the network leaves network_efficiency.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "costmodel/problem.h"
#include "costmodel/terms/weight_transfer.h"

namespace sextant::terms {

// s. Both sets ascending and not empty. bytes: of all sequences.
template <typename T>
[[nodiscard]] T data_transfer_s(const Problem<T>& problem, std::span<const DeviceId> made,
                                std::span<const DeviceId> needed, double bytes) {
  const T all_of_it(1.0);
  const double senders = static_cast<double>(made.size()), receivers = static_cast<double>(needed.size());
  if (bytes <= 0) return T(0.0);
  if (!std::includes(made.begin(), made.end(), needed.begin(), needed.end()))
    return Fetching<T>(problem, made, needed, all_of_it).time_s(bytes / receivers);
  if (made.size() == needed.size()) return T(0.0);
  std::vector<DeviceId> others;
  std::set_difference(made.begin(), made.end(), needed.begin(), needed.end(), std::back_inserter(others));
  return Fetching<T>(problem, std::span<const DeviceId>(others), needed, all_of_it)
      .time_s(bytes / receivers - bytes / senders);
}

}  // namespace sextant::terms
