// Collectives between the GPUs of several ranks, one GPU per rank: everything is queued on a stream and works
// on device memory.
//
// One implementation is linked: NCCL (gpu_collectives.cpp), or in tests the ranks' communicator with emulated
// device memory. Every rank of a group must queue the same collectives in the same order. A send may block its
// stream until the receiver has come (device_link.h gives it a stream of its own).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "probes/comm/communicator.h"
#include "probes/cuda/proxy/kernels/kernels.h"

namespace sextant::gpu {

class GpuCollectives {
 public:
  GpuCollectives() = default;
  virtual ~GpuCollectives() = default;
  GpuCollectives(const GpuCollectives&) = delete;
  GpuCollectives& operator=(const GpuCollectives&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // Sums in place; the result is bitwise equal on all ranks.
  virtual void all_reduce_sum(Bf16* values, std::size_t count, cudaStream_t stream) = 0;
  // `all` holds size() times `bytes`, by rank. Bytes are multiples of 4.
  virtual void all_gather(const void* mine, std::size_t bytes, void* all, cudaStream_t stream) = 0;
  virtual void broadcast(void* data, std::size_t bytes, int root, cudaStream_t stream) = 0;
  virtual void send(const void* data, std::size_t bytes, int to, cudaStream_t stream) = 0;
  virtual void receive(void* data, std::size_t bytes, int from, cudaStream_t stream) = 0;
};

// Collective over `ranks`, each with its GPU current; `ranks` outlives the result. Null for one rank, which has
// no peers. Throws Error(machine) if the library cannot be loaded or the ranks do not join.
[[nodiscard]] std::unique_ptr<GpuCollectives> make_gpu_collectives(Communicator& ranks);

// Throws Error(machine) if a group of this process was aborted because another rank or the network failed: the
// results of its GPU since then are invalid. Call it after a wait.
void check_gpu_collectives();

// "NCCL 2.28.3".
[[nodiscard]] std::string gpu_collectives_version();

}  // namespace sextant::gpu
