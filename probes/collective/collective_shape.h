// What collectives are measured, on how much data, and what their bandwidth is: all as nccl-tests has it.
//
// Algorithm bandwidth is bytes / time. Bus bandwidth is that times the factor of each collective, which makes
// it the rate that the slowest link must have had with a perfect algorithm, whatever the number of ranks
// (nccl-tests, doc/PERFORMANCE.md and src/*.cu). Elements are fp32.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace sextant {

enum class CollectiveKind { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_receive };
inline constexpr int kCollectiveKindCount = 6;

[[nodiscard]] std::string_view name_of(CollectiveKind kind);

struct CollectiveShape {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 1;
  std::size_t part_elements = 1;  // what one rank has of the buffer; the whole of it where it has no parts

  // Whether each rank has a part: all-gather, reduce-scatter, all-to-all.
  [[nodiscard]] bool has_parts() const;
  [[nodiscard]] std::size_t elements() const;  // of one buffer
  // nccl-tests' size: one buffer, which for all-gather and reduce-scatter is that of all ranks together.
  [[nodiscard]] double bytes() const;
  // In place has one; all-to-all and send/receive have two, as nothing can be sent and received in one place.
  [[nodiscard]] int buffers() const;

  friend bool operator==(const CollectiveShape&, const CollectiveShape&) = default;
};

// At most `bytes`, but at least one element for each rank.
[[nodiscard]] CollectiveShape shape_of(CollectiveKind kind, int ranks, double bytes);

// All-reduce 2 (n - 1) / n; all-gather, reduce-scatter and all-to-all (n - 1) / n; broadcast and
// send/receive 1.
[[nodiscard]] double bus_factor(CollectiveKind kind, int ranks);

// At most each of these sizes and max_bytes; shapes that come out equal once.
[[nodiscard]] std::vector<CollectiveShape> shapes_of(CollectiveKind kind, int ranks,
                                                     std::span<const double> sizes_bytes, double max_bytes);

// 8 bytes, each four times the one before, and `max_bytes` as the last; shapes that come out equal once.
[[nodiscard]] std::vector<CollectiveShape> collective_shapes(CollectiveKind kind, int ranks, double max_bytes);

}  // namespace sextant
