// Collectives of GPUs of several ranks on emulated devices: their memory is the process's, so the ranks'
// communicator moves it. A send returns at once; that real ones wait for the receiver is not emulated.
#include <stdexcept>
#include <vector>

#include "probes/cuda/proxy/gpu_collectives.h"

namespace sextant::gpu {
namespace {

class EmulatedCollectives final : public GpuCollectives {
 public:
  explicit EmulatedCollectives(Communicator& ranks) : ranks_(ranks) {}

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }

  void all_reduce_sum(Bf16* values, std::size_t count, cudaStream_t) override {
    check(values, count * sizeof(Bf16));
    emulated_queue([=, this] {
      std::vector<float> sum(count);
      for (std::size_t i = 0; i < count; ++i) sum[i] = __bfloat162float(values[i]);
      ranks_.all_reduce_sum(std::span<float>(sum));
      for (std::size_t i = 0; i < count; ++i) values[i] = __float2bfloat16(sum[i]);
    });
  }
  void all_gather(const void* mine, std::size_t bytes, void* all, cudaStream_t) override {
    check(mine, bytes);
    check(all, bytes * static_cast<std::size_t>(size()));
    if (bytes % sizeof(float) != 0) throw std::logic_error("bytes that are no multiple of 4");
    const std::size_t count = bytes / sizeof(float);
    emulated_queue([=, this] {
      ranks_.all_gather(std::span(static_cast<const float*>(mine), count),
                        std::span(static_cast<float*>(all), count * static_cast<std::size_t>(size())));
    });
  }
  void broadcast(void* data, std::size_t bytes, int root, cudaStream_t) override {
    check(data, bytes);
    emulated_queue([=, this] { ranks_.broadcast(as_bytes(data, bytes), root); });
  }
  void send(const void* data, std::size_t bytes, int to, cudaStream_t) override {
    check(data, bytes);
    emulated_queue(
        [=, this] { ranks_.send_buffered(std::span(static_cast<const std::byte*>(data), bytes), to, kTag); });
  }
  void receive(void* data, std::size_t bytes, int from, cudaStream_t) override {
    check(data, bytes);
    emulated_queue([=, this] { ranks_.receive(as_bytes(data, bytes), from, kTag); });
  }

 private:
  static constexpr int kTag = 7;
  static std::span<std::byte> as_bytes(void* data, std::size_t bytes) {
    return {static_cast<std::byte*>(data), bytes};
  }
  static void check(const void* data, std::size_t bytes) {
    if (!emulated_device_memory(data, bytes)) throw std::logic_error("a message beyond device memory");
  }
  Communicator& ranks_;
};

}  // namespace

std::unique_ptr<GpuCollectives> make_gpu_collectives(Communicator& ranks) {
  if (ranks.size() == 1) return nullptr;
  return std::make_unique<EmulatedCollectives>(ranks);
}

void check_gpu_collectives() {}

std::string gpu_collectives_version() { return "emulated"; }

}  // namespace sextant::gpu
