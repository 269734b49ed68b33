#include "probes/proxy/link.h"

namespace sextant::proxy {
namespace {

enum Kind { kForward, kBackward, kTokens, kKinds = 4 };

}  // namespace

StageLink::StageLink(Communicator& world, const Replica& replica, const Position& position, int task)
    : world_(&world), replica_(&replica), position_(position), tag_(task * kKinds) {}

void StageLink::send_forward(std::span<const float> activations) {
  send(std::as_bytes(activations), position_.stage + 1, kForward);
}
void StageLink::receive_forward(std::span<float> activations) {
  receive(std::as_writable_bytes(activations), position_.stage - 1, kForward);
}
void StageLink::send_backward(std::span<const float> gradients) {
  send(std::as_bytes(gradients), position_.stage - 1, kBackward);
}
void StageLink::receive_backward(std::span<float> gradients) {
  receive(std::as_writable_bytes(gradients), position_.stage + 1, kBackward);
}
void StageLink::send_tokens(std::span<const int> tokens) { send(std::as_bytes(tokens), 0, kTokens); }
void StageLink::receive_tokens(std::span<int> tokens) {
  receive(std::as_writable_bytes(tokens), replica_->pipeline_parallel() - 1, kTokens);
}
void StageLink::finish() { world_->finish_sends(); }

const std::vector<DeviceId>& StageLink::devices(int stage) const {
  return replica_->stages[static_cast<std::size_t>(stage)].devices;
}

void StageLink::send(std::span<const std::byte> bytes, int to_stage, int kind) {
  const auto mine = static_cast<std::size_t>(position_.shard);
  const auto& receivers = devices(to_stage);
  for (std::size_t i = mine; i < receivers.size(); i += devices(position_.stage).size()) {
    world_->send_buffered(bytes, receivers[i].value, tag_ + kind);
  }
}

void StageLink::receive(std::span<std::byte> bytes, int from_stage, int kind) {
  const auto& senders = devices(from_stage);
  const std::size_t sender = static_cast<std::size_t>(position_.shard) % senders.size();
  world_->receive(bytes, senders[sender].value, tag_ + kind);
}

}  // namespace sextant::proxy
