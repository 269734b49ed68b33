#include "probes/cuda/proxy/device_link.h"

#include "sextant/error.h"

namespace sextant::gpu {

using namespace proxy;

DeviceChannel::DeviceChannel(ProxyGpu& gpu, std::unique_ptr<Communicator> pair, std::size_t bytes, int buffers)
    : gpu_(gpu), pair_(std::move(pair)), collectives_(make_gpu_collectives(*pair_)), bytes_(bytes) {
  if (pair_->rank() != 0) return;
  stream_ = std::make_unique<ProxyStream>(gpu.device());
  staged_.resize(static_cast<std::size_t>(buffers));
  for (Staged& staged : staged_) {
    if (bytes > 0) staged.data = std::make_unique<DeviceBuffer>(bytes);
    check_cuda(cudaEventCreateWithFlags(&staged.filled, cudaEventDisableTiming), "creating an event");
    check_cuda(cudaEventCreateWithFlags(&staged.sent, cudaEventDisableTiming), "creating an event");
  }
}

DeviceChannel::~DeviceChannel() {
  for (Staged& staged : staged_) {
    if (staged.filled != nullptr) static_cast<void>(cudaEventDestroy(staged.filled));
    if (staged.sent != nullptr) static_cast<void>(cudaEventDestroy(staged.sent));
  }
}

void DeviceChannel::send(const void* data, std::size_t bytes) {
  SEXTANT_CHECK(bytes <= bytes_);
  if (bytes == 0) return;
  Staged& staged = staged_[next_];
  next_ = (next_ + 1) % staged_.size();
  const cudaStream_t from = gpu_.stream();
  if (staged.used) check_cuda(cudaStreamWaitEvent(from, staged.sent, 0), "waiting for a message");
  staged.used = true;
  check_cuda(cudaMemcpyAsync(staged.data->data(), data, bytes, cudaMemcpyDeviceToDevice, from),
             "copying a message");
  check_cuda(cudaEventRecord(staged.filled, from), "copying a message");
  check_cuda(cudaStreamWaitEvent(stream_->get(), staged.filled, 0), "sending a message");
  collectives_->send(staged.data->data(), bytes, 1, stream_->get());
  check_cuda(cudaEventRecord(staged.sent, stream_->get()), "sending a message");
}

void DeviceChannel::receive(void* data, std::size_t bytes) {
  if (bytes > 0) collectives_->receive(data, bytes, 0, gpu_.stream());
}

void DeviceChannel::finish() {
  if (stream_ == nullptr) return;
  check_cuda(cudaStreamSynchronize(stream_->get()), "sending messages");
  check_gpu_collectives();
}

void DeviceLink::Direction::send(const void* data, std::size_t bytes) const {
  for (const auto& channel : out) channel->send(data, bytes);
}

DeviceLink::DeviceLink(ProxyGpu& gpu, TaskGroup& group, const LinkSizes& sizes) : gpu_(gpu) {
  const int stages = group.my_replica().pipeline_parallel();
  if (sizes.forward.buffers > 0) forward_ = connect(group, 1, sizes.forward.bytes, sizes.forward.buffers);
  if (sizes.backward.buffers > 0) backward_ = connect(group, -1, sizes.backward.bytes, sizes.backward.buffers);
  if (sizes.tokens.buffers > 0) tokens_ = connect(group, 1 - stages, sizes.tokens.bytes, sizes.tokens.buffers);
}

// All messages that go so many stages on. Every rank of the replica goes through the same pairs in the same
// order, as joining them is collective.
DeviceLink::Direction DeviceLink::connect(TaskGroup& group, int stages_on, std::size_t bytes, int buffers) {
  const auto& stages = group.my_replica().stages;
  const Position& mine = group.position();
  Direction direction;
  for (int from = 0; from < static_cast<int>(stages.size()); ++from) {
    const int to = from + stages_on;
    if (to < 0 || to >= static_cast<int>(stages.size())) continue;
    const int senders = stages[static_cast<std::size_t>(from)].width();
    for (int receiver = 0; receiver < stages[static_cast<std::size_t>(to)].width(); ++receiver) {
      const bool sends = mine.stage == from && mine.shard == receiver % senders;
      const bool receives = mine.stage == to && mine.shard == receiver;
      std::unique_ptr<Communicator> pair = group.replica().split(sends || receives ? 0 : -1, sends ? 0 : 1);
      if (pair == nullptr) continue;
      auto channel = std::make_unique<DeviceChannel>(gpu_, std::move(pair), bytes, buffers);
      if (sends) direction.out.push_back(std::move(channel));
      if (receives) direction.in = std::move(channel);
    }
  }
  return direction;
}

void DeviceLink::send_forward(ConstDeviceMatrix activations) {
  forward_.send(activations.data, activations.size() * sizeof(Bf16));
}
void DeviceLink::receive_forward(DeviceMatrix activations) {
  forward_.in->receive(activations.data, activations.size() * sizeof(Bf16));
}
void DeviceLink::send_backward(ConstDeviceMatrix gradients) {
  backward_.send(gradients.data, gradients.size() * sizeof(Bf16));
}
void DeviceLink::receive_backward(DeviceMatrix gradients) {
  backward_.in->receive(gradients.data, gradients.size() * sizeof(Bf16));
}
void DeviceLink::send_tokens(const int* tokens, int count) {
  tokens_.send(tokens, static_cast<std::size_t>(count) * sizeof(int));
}
void DeviceLink::receive_tokens(int* tokens, int count) {
  tokens_.in->receive(tokens, static_cast<std::size_t>(count) * sizeof(int));
}

void DeviceLink::finish() {
  for (const Direction* direction : {&forward_, &backward_, &tokens_}) {
    for (const auto& channel : direction->out) channel->finish();
  }
}

}  // namespace sextant::gpu
