// Memory bandwidth of one core.
//
// Bytes are counted as in STREAM (McCalpin, 1995): the bytes that the program reads and writes, without the
// lines that a cache fetches before it overwrites them. Per element of 8 bytes: copy 16, triad 24, read 8.
#pragma once

#include <vector>

#include "probes/harness/environment.h"
#include "probes/harness/probe_context.h"
#include "probes/harness/probe_result.h"

namespace sextant::inline probes {

// Sizes of one array.
struct MemorySizes {
  double main_bytes = 0;            // far beyond the last-level cache
  double second_level_bytes = 0;    // half the second-level cache; 0: unknown, not measured
  double last_level_bytes = 0;      // half of this rank's part of the last-level cache; 0: unknown
  bool is_far_beyond_cache = true;  // main_bytes is at least four times the last-level cache
};

// Returns four times the last-level cache and at least 64 MiB, but at most 1 GiB and a quarter of the limit
// (three arrays exist at once). Unknown caches count as 64 MiB. `ranks` share the host.
[[nodiscard]] MemorySizes choose_memory_sizes(const EnvironmentFacts& facts, int ranks, double limit_bytes);

// "memory/copy", "memory/triad", "memory/read" from main memory, then "memory/read/llc" and "memory/read/l2".
[[nodiscard]] std::vector<ProbeResult> measure_memory(const MemorySizes& sizes, const ProbeContext& context);

}  // namespace sextant::inline probes
