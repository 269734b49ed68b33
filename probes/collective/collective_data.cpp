#include "probes/collective/collective_data.h"

#include <array>

namespace sextant {
namespace {

// A prime, so that no part or rank has the same numbers as another.
constexpr std::size_t kPeriod = 251;
constexpr std::size_t kPlaceStep = 7;
constexpr std::size_t kRankStep = 13;
constexpr int kMiddle = 125;

float value(int rank, std::size_t index) {
  const std::size_t place =
      (index % kPeriod * kPlaceStep + static_cast<std::size_t>(rank) * kRankStep) % kPeriod;
  return static_cast<float>(static_cast<int>(place) - kMiddle);
}

// Sums over the ranks, by index modulo the period.
std::array<float, kPeriod> sums(int ranks) {
  std::array<float, kPeriod> all{};
  for (std::size_t index = 0; index < kPeriod; ++index) {
    for (int rank = 0; rank < ranks; ++rank) all[index] += value(rank, index);
  }
  return all;
}

int before(int rank, int ranks) { return (rank + ranks - 1) % ranks; }

}  // namespace

void fill_input(const CollectiveShape& shape, int rank, std::size_t first, std::span<float> chunk) {
  const std::size_t part = shape.part_elements;
  for (std::size_t at = 0; at < chunk.size(); ++at) {
    const std::size_t index = first + at;
    switch (shape.kind) {
      case CollectiveKind::all_gather:
        chunk[at] = index / part == static_cast<std::size_t>(rank) ? value(rank, index % part) : 0;
        break;
      case CollectiveKind::broadcast:
        chunk[at] = rank == 0 ? value(0, index) : 0;
        break;
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::all_to_all:
      case CollectiveKind::send_receive:
        chunk[at] = value(rank, index);
    }
  }
}

std::size_t count_wrong(const CollectiveShape& shape, int rank, std::size_t first,
                        std::span<const float> chunk) {
  const std::array<float, kPeriod> summed = sums(shape.ranks);
  const std::size_t part = shape.part_elements;
  const auto mine = static_cast<std::size_t>(rank);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < chunk.size(); ++at) {
    const std::size_t index = first + at;
    const std::size_t owner = index / part;
    float expected = 0;
    switch (shape.kind) {
      case CollectiveKind::all_reduce:
        expected = summed[index % kPeriod];
        break;
      case CollectiveKind::all_gather:
        expected = value(static_cast<int>(owner), index % part);
        break;
      case CollectiveKind::reduce_scatter:
        if (owner != mine) continue;
        expected = summed[index % kPeriod];
        break;
      case CollectiveKind::broadcast:
        expected = value(0, index);
        break;
      case CollectiveKind::all_to_all:
        expected = value(static_cast<int>(owner), mine * part + index % part);
        break;
      case CollectiveKind::send_receive:
        expected = value(before(rank, shape.ranks), index);
        break;
    }
    if (chunk[at] != expected) ++wrong;
  }
  return wrong;
}

}  // namespace sextant
