#include "probes/gpu/proxy/decode_batch.h"

#include <algorithm>

namespace sextant::gpu {

LiveRows live_rows(const proxy::Workload& workload, proxy::Range wave, int first_slot, int step) {
  LiveRows live;
  for (int i = wave.begin; i < wave.end; ++i) {
    if (workload.response(i) <= step) continue;
    live.slots.push_back(first_slot + i - wave.begin);
    live.positions.push_back(workload.prompt(i) + step - 1);
  }
  return live;
}

int graph_rows(int rows, int maximum) {
  int size = 1;
  while (size < rows && size < 8) size *= 2;
  if (rows > 8) size = (rows + 7) / 8 * 8;
  return std::max(rows, std::min(size, maximum));
}

void pad_rows(LiveRows& live, int rows, int free_slot) {
  const auto count = static_cast<std::size_t>(rows);
  if (live.slots.size() >= count) return;
  live.slots.resize(count, free_slot);
  live.positions.resize(count, 0);
}

}  // namespace sextant::gpu
