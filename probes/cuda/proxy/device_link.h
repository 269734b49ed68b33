// Messages between the stages of one replica, as probes/proxy/link.h: rank i of a stage gets its activations
// whole from rank i mod m of the m before.
//
// A receive waits on the task's stream. A send must not, or two stages that send to each other would
// deadlock (1F1B does that): it copies into a buffer and is sent on a stream of its own, in a group of two
// of its own. With as many buffers as messages in transit (message_buffers) no send waits for an earlier one
// either.
#pragma once

#include <memory>
#include <vector>

#include "probes/cuda/proxy/gpu.h"
#include "probes/cuda/proxy/gpu_collectives.h"
#include "probes/gpu/proxy/link_sizes.h"
#include "probes/proxy/groups.h"

namespace sextant::gpu {

// One rank's end of the messages from one rank to another.
class DeviceChannel {
 public:
  // Collective over the two. The sender has `buffers` buffers of `bytes`.
  DeviceChannel(ProxyGpu& gpu, std::unique_ptr<Communicator> pair, std::size_t bytes, int buffers);
  ~DeviceChannel();
  DeviceChannel(const DeviceChannel&) = delete;
  DeviceChannel& operator=(const DeviceChannel&) = delete;

  void send(const void* data, std::size_t bytes);
  void receive(void* data, std::size_t bytes);
  // Returns when all messages have been sent.
  void finish();

 private:
  struct Staged {
    std::unique_ptr<DeviceBuffer> data;
    cudaEvent_t filled = nullptr;
    cudaEvent_t sent = nullptr;
    bool used = false;
  };
  ProxyGpu& gpu_;
  std::unique_ptr<Communicator> pair_;
  std::unique_ptr<GpuCollectives> collectives_;
  std::size_t bytes_;
  std::unique_ptr<ProxyStream> stream_;  // the sender's
  std::vector<Staged> staged_;
  std::size_t next_ = 0;
};

class DeviceLink {
 public:
  // Collective over the replica.
  DeviceLink(ProxyGpu& gpu, proxy::TaskGroup& group, const LinkSizes& sizes);

  void send_forward(ConstDeviceMatrix activations);
  void receive_forward(DeviceMatrix activations);
  void send_backward(ConstDeviceMatrix gradients);
  void receive_backward(DeviceMatrix gradients);
  // Sends sampled tokens from the last stage to the first, if these differ.
  void send_tokens(const int* tokens, int count);
  void receive_tokens(int* tokens, int count);
  // Returns when all messages have been sent.
  void finish();

 private:
  struct Direction {
    std::vector<std::unique_ptr<DeviceChannel>> out;
    std::unique_ptr<DeviceChannel> in;
    void send(const void* data, std::size_t bytes) const;
  };
  Direction connect(proxy::TaskGroup& group, int stages_on, std::size_t bytes, int buffers);

  ProxyGpu& gpu_;
  Direction forward_;
  Direction backward_;
  Direction tokens_;
};

}  // namespace sextant::gpu
