#include "probes/gpu/gpu_points.h"

#include <algorithm>

#include "core/units.h"

namespace sextant::inline probes {
namespace {

constexpr double kTimesTheCache = 8;
constexpr double kMinBytes = 1024.0 * 1024 * 1024;
constexpr double kSmokeBytes = 16.0 * 1024 * 1024;
constexpr std::size_t kTransferBytes = std::size_t{128} << 20;
constexpr std::size_t kSmokeTransferBytes = std::size_t{1} << 20;
constexpr std::size_t kPeerBytes = std::size_t{256} << 20;
constexpr std::size_t kLatencyBytes = 8;
constexpr double kLongSample_s = 5e-3;  // for rates: what events and clocks add is below a thousandth
constexpr double kSample_s = 1e-3;
// Few enough empty kernels to be queued behind a gate all at once.
constexpr double kSampleBehindGate_s = 2e-4;

GemmShape shape_of(int m, int n, int k, bool is_nt) {
  std::string name = std::to_string(m);
  if (m != n || n != k) name += "x" + std::to_string(n) + "x" + std::to_string(k);
  return {name + (is_nt ? "_nt" : ""), m, n, k, is_nt};
}

struct GemmPoints {
  Precision precision;
  std::vector<GemmShape> shapes;
};

// fp8 multiplies by a transposed B only. A product of 16384 in fp32 would take a sixth of a second.
std::vector<GemmPoints> gemm_points(bool is_smoke_test) {
  const auto square = [](int size, bool is_nt) { return shape_of(size, size, size, is_nt); };
  if (is_smoke_test) {
    std::vector<GemmPoints> points;
    for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32}) {
      points.push_back({precision, {square(512, false), shape_of(512, 1024, 256, true)}});
    }
    points.push_back({Precision::fp8, {square(512, true)}});
    return points;
  }
  const GemmShape wide = shape_of(8192, 28672, 8192, true);
  return {{Precision::bf16,
           {square(4096, false), square(4096, true), square(8192, false), square(8192, true),
            square(16384, false), square(16384, true), wide, shape_of(16384, 8192, 8192, true)}},
          {Precision::fp16,
           {square(4096, false), square(8192, false), square(8192, true), square(16384, false), wide}},
          {Precision::tf32, {square(4096, true), square(8192, false), square(8192, true), square(16384, true)}},
          {Precision::fp8, {square(4096, true), square(8192, true), square(16384, true), wide}},
          {Precision::fp32, {square(4096, false), square(8192, false), square(8192, true)}}};
}

class Points {
 public:
  Points(const GpuFacts& gpu, const GpuPointOptions& options) : gpu_(gpu), options_(options) {}

  std::vector<GpuPoint> all() {
    add_memory();
    // On a card that products have not heated: throttled clocks are those of products, not of launches.
    add_launches();
    add_transfers();
    // Checking tools need long for cuBLASLt's many kernels: own ones first.
    if (!options_.is_smoke_test) add_gemm();
    add_model_gemm();
    add_attention();
    if (options_.is_smoke_test) add_gemm();
    return std::move(points_);
  }

 private:
  void add(std::string name, std::string unit, double min_sample_s, GpuWork work, std::string why_not = "") {
    points_.push_back({std::move(name), std::move(unit), min_sample_s, std::move(work), std::move(why_not)});
  }

  void add_memory() {
    const double wanted = options_.is_smoke_test
                              ? kSmokeBytes
                              : std::max(kMinBytes, kTimesTheCache * gpu_.last_level_cache_bytes);
    const auto bytes = static_cast<std::size_t>(std::min(wanted, gpu_.free_memory_bytes / 5));
    const auto access = [&](const char* name, GpuMemoryAccess kind) {
      add(std::string("memory/") + name, "bytes/s", kLongSample_s, GpuMemory{kind, bytes});
    };
    access("copy/engine", GpuMemoryAccess::copy_engine);
    access("copy/kernel", GpuMemoryAccess::copy_kernel);
    access("copy/kernel_deep", GpuMemoryAccess::copy_kernel_deep);
    access("read/plain", GpuMemoryAccess::read);
    access("read/deep", GpuMemoryAccess::read_deep);
    access("write", GpuMemoryAccess::write);
    access("triad", GpuMemoryAccess::triad);
  }

  void add_gemm() {
    for (const GemmPoints& of_one : gemm_points(options_.is_smoke_test)) {
      for (const GemmShape& shape : of_one.shapes) {
        add("gemm/" + std::string(name_of(of_one.precision)) + "/" + shape.name, "flop/s", kLongSample_s,
            GpuGemm{of_one.precision, shape, false});
      }
    }
  }

  // Weights are stored [out x in] and are not in the cache when a layer's turn comes. The products of attention
  // are measured with the rest of attention.
  void add_model_gemm() {
    if (!options_.model) return;
    for (GemmShape shape :
         gemm_shapes_of(*options_.model, options_.model_tokens, options_.model_tensor_parallel)) {
      if (shape.name.starts_with("attention_")) continue;
      shape.transpose_b = true;
      for (const Precision precision : options_.model_precisions) {
        add("gemm/" + std::string(name_of(precision)) + "/" + options_.model->name + "/" + shape.name, "flop/s",
            kLongSample_s, GpuGemm{precision, shape, true});
      }
    }
  }

  void add_launches() {
    const auto launch = [&](const std::string& name, GpuLaunch kind, int nodes,
                            double min_sample_s = kSample_s) {
      add("launch/" + name, "s", min_sample_s, GpuLaunches{kind, nodes});
    };
    launch("kernel", GpuLaunch::kernel, 1);
    launch("kernel/round_trip", GpuLaunch::kernel_round_trip, 1);
    launch("kernel/device", GpuLaunch::kernel_on_device, 1, kSampleBehindGate_s);
    for (const int nodes : {1, kLongGraphNodes}) {
      const std::string name = "graph/" + std::to_string(nodes);
      launch(name, GpuLaunch::graph, nodes);
      launch(name + "/round_trip", GpuLaunch::graph_round_trip, nodes);
    }
  }

  void add_transfers() {
    const std::size_t bytes = options_.is_smoke_test ? kSmokeTransferBytes : kTransferBytes;
    for (const bool is_pinned : {true, false}) {
      for (const bool to_device : {true, false}) {
        const std::string name = std::string("host/") + (to_device ? "to_device" : "from_device") +
                                 (is_pinned ? "/pinned" : "/pageable");
        add(name, "bytes/s", kSample_s, GpuTransfer{to_device, is_pinned, bytes});
        add(name + "/latency", "s", kSample_s, GpuTransfer{to_device, is_pinned, kLatencyBytes});
      }
    }
  }

  [[nodiscard]] AttentionShape heads() const {
    AttentionShape shape{1, 1, 32, 8, 128};
    if (!options_.model) return shape;
    const int parts = options_.model_tensor_parallel;
    shape.heads = (options_.model->heads + parts - 1) / parts;
    shape.kv_heads = (options_.model->kv_heads + parts - 1) / parts;
    shape.head_dim = options_.model->head_dim;
    return shape;
  }

  void add_attention() {
    struct Size {
      int batch;
      int tokens;
    };
    const bool is_smoke = options_.is_smoke_test;
    for (const Size size :
         is_smoke ? std::vector<Size>{{3, 300}, {1, 2048}}
                  : std::vector<Size>{{64, 4096}, {8, 4096}, {256, 1024}, {16, 32768}, {1, 32768}}) {
      add_attention_point("decode", "bytes/s", size.batch, size.tokens);
    }
    for (const Size size : is_smoke ? std::vector<Size>{{2, 200}}
                                    : std::vector<Size>{{8, 2048}, {1, 2048}, {2, 8192}, {1, 16384}}) {
      add_attention_point("prefill", "flop/s", size.batch, size.tokens);
    }
  }

  void add_attention_point(const std::string& phase, const std::string& unit, int batch, int tokens) {
    AttentionShape shape = heads();
    shape.batch = batch;
    shape.tokens = tokens;
    std::string why_not;
    if (shape.kv_bytes() > gpu_.free_memory_bytes / 3) {
      why_not =
          "keys and values need " + format_bytes(shape.kv_bytes()) + ", more than a third of the free memory";
    }
    const std::string name = "attention/" + phase + "/" + shape.name();
    if (phase == "decode") {
      add(name, unit, kLongSample_s, GpuDecode{shape}, why_not);
    } else {
      add(name, unit, kLongSample_s, GpuPrefill{shape}, why_not);
    }
  }

  const GpuFacts& gpu_;
  const GpuPointOptions& options_;
  std::vector<GpuPoint> points_;
};

}  // namespace

std::vector<GpuPoint> gpu_points(const GpuFacts& gpu, const GpuPointOptions& options) {
  return Points(gpu, options).all();
}

std::vector<GpuPoint> gpu_link_points(int to) {
  std::vector<GpuPoint> points;
  for (const std::size_t bytes : {8UL, 4096UL, 65536UL, 1UL << 20, 16UL << 20, 256UL << 20}) {
    points.push_back({"link/" + std::to_string(bytes), "s", kSample_s,
                      GpuPeerCopy{to, GpuPeerWay::copy_engine, false, bytes}, ""});
  }
  return points;
}

std::vector<GpuPoint> gpu_peer_points(int to, bool both_ways) {
  std::vector<GpuPoint> points;
  const auto add = [&](const std::string& name, GpuPeerWay way, bool is_both, std::size_t bytes) {
    points.push_back({"peer/" + name, bytes == kLatencyBytes ? "s" : "bytes/s", kSample_s,
                      GpuPeerCopy{to, way, is_both, bytes}, ""});
  };
  const auto add_way = [&](const std::string& name, GpuPeerWay way) {
    add(name, way, false, kPeerBytes);
    if (way != GpuPeerWay::copy_engine) add(name + "/latency", way, false, kLatencyBytes);
    if (both_ways) add(name + "/both_ways", way, true, kPeerBytes);
  };
  add_way("engine", GpuPeerWay::copy_engine);
  add_way("kernel_write", GpuPeerWay::kernel_write);
  add_way("kernel_read", GpuPeerWay::kernel_read);
  return points;
}

}  // namespace sextant::inline probes
