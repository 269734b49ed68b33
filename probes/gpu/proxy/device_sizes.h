// Sizes of buffers shared by the tasks and the memory budget. Plain C++.
#pragma once

#include <algorithm>
#include <cstddef>

#include "probes/gpu/proxy/attention_layout.h"
#include "probes/proxy/model/shard.h"

namespace sextant::gpu {

// Rows for which logits are computed at a time.
inline constexpr int kHeadRows = 4096;

// Elements of the scores that attention holds at a time if they are not kept: at least those of one group of
// query heads on the longest sequence, otherwise at most 512 MiB.
[[nodiscard]] inline std::size_t score_elements(const proxy::LayerShape& shape, const AttentionLimits& limits) {
  constexpr std::size_t kEnough = std::size_t{256} << 20;
  const auto longest = static_cast<std::size_t>(limits.longest);
  const std::size_t group = longest * longest * static_cast<std::size_t>(shape.heads_per_kv_head());
  return std::max(group, std::min(limits.squares * static_cast<std::size_t>(shape.heads), kEnough));
}

}  // namespace sextant::gpu
