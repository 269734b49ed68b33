// GPUs and sensors under a test's control.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probes/gpu/gpu_devices.h"
#include "probes/gpu/libraries/gpu_sensors.h"
#include "sextant/error.h"
#include "tests/probes/harness/fake_clock.h"

namespace sextant {

// Works at a fixed rate, or takes a fixed time, on a clock of its own.
class FakeOperation final : public GpuOperation {
 public:
  FakeOperation(FakeClock& clock, double work, double took_s, bool is_right)
      : clock_(clock), work_(work), took_s_(took_s), is_right_(is_right) {}
  [[nodiscard]] double work() const override { return work_; }
  [[nodiscard]] double run_s(int repeats, const WhileRunning& while_running) override {
    if (while_running) while_running();
    clock_.advance(repeats * took_s_);
    return repeats * took_s_;
  }
  [[nodiscard]] bool is_right() override { return is_right_; }
  [[nodiscard]] std::string how() const override { return "fake"; }

 private:
  FakeClock& clock_;
  double work_;
  double took_s_;
  bool is_right_;
};

// Rates are given by the members; an operation listed in `broken` is waived, throws or gives wrong data.
class FakeGpus final : public GpuDevices {
 public:
  explicit FakeGpus(FakeClock& clock, int count = 1) : clock_(clock), count_(count) {}

  [[nodiscard]] std::string absence() const override { return absence_; }
  [[nodiscard]] std::string versions() const override { return "driver 1.0"; }
  [[nodiscard]] std::vector<GpuFacts> list() const override {
    std::vector<GpuFacts> gpus;
    for (int index = 0; index < count_; ++index) {
      GpuFacts gpu;
      gpu.index = index;
      gpu.name = "NVIDIA H200";
      gpu.bus_id = "0000:0" + std::to_string(first_ + index) + ":00.0";
      gpu.memory_bytes = gpu.free_memory_bytes = 141e9;
      gpu.last_level_cache_bytes = 50e6;
      gpu.compute_capability = compute_capability_;
      gpus.push_back(gpu);
    }
    return gpus;
  }

  [[nodiscard]] GpuOperationOrReason make(int gpu, const GpuWork& work) override {
    return std::visit([&](const auto& one) { return made(gpu, one); }, work);
  }

  std::string absence_;
  std::string throws_;  // operations whose name begins with it throw
  std::string wrong_;   // operations whose name begins with it leave wrong data
  int first_ = 0;       // index on the host of the first visible GPU
  int broken_gpu_ = 0;
  double engine_bytes_per_s_ = 200e9;
  int compute_capability_ = 90;
  std::string no_peer_kernels_;  // the reason, if there are none
  std::size_t bytes_ = 0;
  int heads_ = 0;

 private:
  [[nodiscard]] GpuOperationOrReason made(int gpu, const GpuGemm& work) {
    if (work.precision == Precision::fp8) return {nullptr, "no fp8 here"};
    return rate(gpu, "gemm/" + std::string(name_of(work.precision)), work.shape.flop(), 1e14);
  }
  [[nodiscard]] GpuOperationOrReason made(int gpu, const GpuMemory& work) {
    bytes_ = work.bytes;
    const bool is_deep =
        work.access == GpuMemoryAccess::read_deep || work.access == GpuMemoryAccess::copy_kernel_deep;
    return rate(gpu, "memory", static_cast<double>(work.bytes), is_deep ? 4e12 : 3e12);
  }
  [[nodiscard]] GpuOperationOrReason made(int gpu, const GpuDecode& work) {
    heads_ = work.shape.heads;
    return rate(gpu, "decode", work.shape.kv_bytes(), 2e12);
  }
  [[nodiscard]] GpuOperationOrReason made(int gpu, const GpuPrefill& work) {
    return rate(gpu, "prefill", work.shape.causal_flop(), 3e14);
  }
  [[nodiscard]] GpuOperationOrReason made(int, const GpuLaunches& work) {
    const bool is_graph = work.kind == GpuLaunch::graph || work.kind == GpuLaunch::graph_round_trip;
    return make("launch", 0, is_graph ? 3e-6 + work.nodes * 1e-6 : 2e-6);
  }
  [[nodiscard]] GpuOperationOrReason made(int, const GpuTransfer& work) {
    const double per_s = work.to_device ? 50e9 : 40e9;
    return make("transfer", static_cast<double>(work.bytes), 5e-6 + static_cast<double>(work.bytes) / per_s);
  }
  // Kernels write at half the engine's rate and read at a quarter; the direction from a higher GPU is slower
  // still.
  [[nodiscard]] GpuOperationOrReason made(int from, const GpuPeerCopy& work) {
    if (!no_peer_kernels_.empty() && work.way != GpuPeerWay::copy_engine) return {nullptr, no_peer_kernels_};
    double per_s = engine_bytes_per_s_;
    if (work.way == GpuPeerWay::kernel_write) per_s = 100e9;
    if (work.way == GpuPeerWay::kernel_read) per_s = 50e9;
    if (from > work.to) per_s *= 0.8;
    const auto one_way = static_cast<double>(work.bytes);
    return make("peer", work.both_ways ? 2 * one_way : one_way, 2e-6 + one_way / per_s);
  }
  // Operations that no test looks at.
  template <typename Work>
  [[nodiscard]] GpuOperationOrReason made(int gpu, const Work&) {
    return rate(gpu, "other", 1, 1e12);
  }
  [[nodiscard]] GpuOperationOrReason rate(int gpu, const std::string& what, double work, double per_s) {
    return make(what, work, work / per_s, gpu);
  }
  [[nodiscard]] GpuOperationOrReason make(const std::string& what, double work, double took_s, int gpu = 0) {
    const bool is_here = gpu == broken_gpu_;
    if (is_here && !throws_.empty() && what.starts_with(throws_)) throw_machine_failed("CUDA: out of memory");
    const bool is_wrong = is_here && !wrong_.empty() && what.starts_with(wrong_);
    return {std::make_unique<FakeOperation>(clock_, work, took_s, !is_wrong), ""};
  }

  FakeClock& clock_;
  int count_;
};

class FakeSensors final : public GpuSensors {
 public:
  [[nodiscard]] std::string absence() const override { return absence_; }
  [[nodiscard]] DeviceState read(const std::string& bus_id) override {
    last_bus_id_ = bus_id;
    ++reads_;
    return state_;
  }
  std::string absence_;
  DeviceState state_{1.755e9, 2.6e9, 650, 55, ""};
  std::string last_bus_id_;
  int reads_ = 0;
};

}  // namespace sextant
