// The measured collectives, their sizes and their bandwidths: all as nccl-tests defines them.
//
// Algorithm bandwidth is bytes / time. Bus bandwidth is that times the factor of each collective, which makes
// it the rate that the slowest link must have had with a perfect algorithm, for any number of ranks
// (nccl-tests, doc/PERFORMANCE.md and src/*.cu). Elements are fp32.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace sextant::inline probes {

enum class CollectiveKind { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_receive };
inline constexpr int kCollectiveKindCount = 6;

[[nodiscard]] std::string_view name_of(CollectiveKind kind);

struct CollectiveShape {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 1;
  std::size_t part_elements = 1;  // one rank's part of the buffer; all of it if there are no parts

  // Whether each rank has a part: all-gather, reduce-scatter, all-to-all.
  [[nodiscard]] bool has_parts() const;
  [[nodiscard]] std::size_t elements() const;  // of one buffer
  // Returns nccl-tests' size: one buffer; for all-gather and reduce-scatter that of all ranks together.
  [[nodiscard]] double bytes() const;
  // Returns 1 in place; 2 for all-to-all and send/receive, which cannot send and receive in one buffer.
  [[nodiscard]] int buffers() const;

  friend bool operator==(const CollectiveShape&, const CollectiveShape&) = default;
};

// Returns the largest shape of at most `bytes`, but at least one element per rank.
[[nodiscard]] CollectiveShape shape_of(CollectiveKind kind, int ranks, double bytes);

// All-reduce 2 (n - 1) / n; all-gather, reduce-scatter and all-to-all (n - 1) / n; broadcast and
// send/receive 1.
[[nodiscard]] double bus_factor(CollectiveKind kind, int ranks);

// Returns a shape of at most each of these sizes and max_bytes, without duplicates.
[[nodiscard]] std::vector<CollectiveShape> shapes_of(CollectiveKind kind, int ranks,
                                                     std::span<const double> sizes_bytes, double max_bytes);

// Sizes are 8 bytes, each four times the one before, and `max_bytes` as the last; without duplicate shapes.
[[nodiscard]] std::vector<CollectiveShape> collective_shapes(CollectiveKind kind, int ranks, double max_bytes);

}  // namespace sextant::inline probes
