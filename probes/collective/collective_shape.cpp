#include "probes/collective/collective_shape.h"

#include <algorithm>
#include <array>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr std::array<std::string_view, kCollectiveKindCount> kNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "send_receive"};
constexpr double kMinBytes = 8;
constexpr double kStep = 4;

}  // namespace

std::string_view name_of(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

bool CollectiveShape::has_parts() const {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_to_all;
}

std::size_t CollectiveShape::elements() const {
  return has_parts() ? part_elements * static_cast<std::size_t>(ranks) : part_elements;
}

double CollectiveShape::bytes() const { return static_cast<double>(elements() * sizeof(float)); }

int CollectiveShape::buffers() const {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_receive ? 2 : 1;
}

CollectiveShape shape_of(CollectiveKind kind, int ranks, double bytes) {
  SEXTANT_CHECK(ranks > 0);
  CollectiveShape shape{kind, ranks, 1};
  const auto elements = static_cast<std::size_t>(bytes / sizeof(float));
  const std::size_t parts = shape.has_parts() ? static_cast<std::size_t>(ranks) : 1;
  shape.part_elements = std::max<std::size_t>(1, elements / parts);
  return shape;
}

double bus_factor(CollectiveKind kind, int ranks) {
  const double others = (ranks - 1.0) / ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * others;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return others;
    case CollectiveKind::broadcast:
    case CollectiveKind::send_receive:
      break;
  }
  return 1;
}

std::vector<CollectiveShape> shapes_of(CollectiveKind kind, int ranks, std::span<const double> sizes_bytes,
                                       double max_bytes) {
  std::vector<CollectiveShape> shapes;
  for (const double bytes : sizes_bytes) shapes.push_back(shape_of(kind, ranks, std::min(bytes, max_bytes)));
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  return shapes;
}

std::vector<CollectiveShape> collective_shapes(CollectiveKind kind, int ranks, double max_bytes) {
  std::vector<CollectiveShape> shapes;
  for (double bytes = kMinBytes; bytes < max_bytes; bytes *= kStep) {
    shapes.push_back(shape_of(kind, ranks, bytes));
  }
  shapes.push_back(shape_of(kind, ranks, max_bytes));
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  return shapes;
}

}  // namespace sextant::inline probes
