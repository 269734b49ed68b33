// Strong types for numbers of devices, nodes and ranks, so that a rank is never passed as a device.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace sextant {

template <typename Tag>
struct Id {
  int value = 0;
  friend constexpr auto operator<=>(const Id&, const Id&) = default;  // NOLINT(modernize-use-nullptr)
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
};

using DeviceId = Id<struct DeviceTag>;  // 0 .. devices - 1, in the order of the cluster's nodes
using NodeId = Id<struct NodeTag>;      // 0 .. nodes - 1
using Rank = Id<struct RankTag>;        // MPI rank in the world communicator

}  // namespace sextant

template <typename Tag>
struct std::hash<sextant::Id<Tag>> {
  std::size_t operator()(const sextant::Id<Tag>& id) const noexcept { return std::hash<int>{}(id.value); }
};
