// Buffers of messages between stages: plain C++, for the links (device_link.h) and the memory budget.
#pragma once

#include <cstddef>

#include "sextant/workflow.h"

namespace sextant::gpu {

// Messages of one kind; without buffers none are sent.
struct MessageSizes {
  std::size_t bytes = 0;
  int buffers = 0;
};

struct LinkSizes {
  MessageSizes forward;
  MessageSizes backward;
  MessageSizes tokens;
};

// Sizes for a task's link on a stage. With these no sender waits for a receiver that waits for it:
//   training: a stage sends the activations of micro-batch k + in_flight after it has received the gradient of
//     k, so that k's buffer is free; gradients never wait for a stage that waits;
//   generation: a wave's tokens come back before it is sent on, so the last stage has at most one message for
//     each wave under way and never waits, and the stages before it wait for messages that come.
// `message_bytes`: of the largest message; `in_flight`: micro-batches that the stage keeps.
[[nodiscard]] inline LinkSizes link_sizes(TaskKind kind, int stages, int in_flight, std::size_t message_bytes,
                                          std::size_t token_bytes) {
  LinkSizes sizes;
  if (stages == 1) return sizes;
  constexpr int kOneOnTheWay = 2;
  sizes.forward = {message_bytes, kind == TaskKind::training ? in_flight : kOneOnTheWay};
  if (kind == TaskKind::training) sizes.backward = {message_bytes, kOneOnTheWay};
  if (kind == TaskKind::generation) sizes.tokens = {token_bytes, stages};
  return sizes;
}

}  // namespace sextant::gpu
