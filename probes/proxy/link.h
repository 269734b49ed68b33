// Messages between the stages of one replica. A stage's ranks hold equal activations, so with m ranks before
// and n after, rank i of the n receives all of them from rank i mod m.
#pragma once

#include <span>

#include "probes/comm/communicator.h"
#include "probes/proxy/groups.h"
#include "sextant/plan.h"

namespace sextant::proxy {

class StageLink {
 public:
  // `world` carries the messages with tags 4 * task .. 4 * task + 3. Keeps a reference to `replica`.
  StageLink(Communicator& world, const Replica& replica, const Position& position, int task);

  // Sending does not wait for the receiver, so that forward and backward steps in any order cannot deadlock.
  void send_forward(std::span<const float> activations);
  void receive_forward(std::span<float> activations);
  void send_backward(std::span<const float> gradients);
  void receive_backward(std::span<float> gradients);
  // Sends sampled tokens from the last stage to the first, if these differ.
  void send_tokens(std::span<const int> tokens);
  void receive_tokens(std::span<int> tokens);
  // Waits until all messages have been sent.
  void finish();

 private:
  void send(std::span<const std::byte> bytes, int to_stage, int kind);
  void receive(std::span<std::byte> bytes, int from_stage, int kind);
  [[nodiscard]] const std::vector<DeviceId>& devices(int stage) const;

  Communicator* world_;
  const Replica* replica_;
  Position position_;
  int tag_;
};

}  // namespace sextant::proxy
