// Selects the sequences of a wave that decode together at a step, and the rows of their CUDA graph. Plain C++:
// tested without a GPU.
#pragma once

#include <span>
#include <vector>

#include "probes/proxy/workload.h"

namespace sextant::gpu {

struct LiveRows {
  std::vector<int> slots;
  std::vector<int> positions;  // position of the token that the step reads
  [[nodiscard]] int count() const { return static_cast<int>(slots.size()); }
};

// Sequences whose response has more than `step` tokens; the step reads their token `step - 1`. The wave's first
// sequence is in slot `first_slot`.
[[nodiscard]] LiveRows live_rows(const proxy::Workload& workload, proxy::Range wave, int first_slot, int step);

// Returns the graph's batch size: engines keep a graph for some sizes and fill up to the next one: powers of
// two up to 8, then multiples of 8. At most `maximum` if that is not smaller than `rows`.
[[nodiscard]] int graph_rows(int rows, int maximum);

// Fills up to `rows` rows with reads of an unused slot.
void pad_rows(LiveRows& live, int rows, int free_slot);

}  // namespace sextant::gpu
