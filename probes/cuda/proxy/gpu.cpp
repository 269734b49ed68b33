#include "probes/cuda/proxy/gpu.h"

#include <algorithm>
#include <cstring>

#include "probes/cuda/proxy/gpu_collectives.h"
#include "sextant/error.h"

namespace sextant::gpu {
namespace {

constexpr std::size_t kStagingBytes = std::size_t{64} << 20;
constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

int alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  int alignment = 256;
  while (address % static_cast<unsigned>(alignment) != 0) alignment /= 2;
  return alignment;
}

std::pair<std::size_t, std::size_t> free_and_total() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "asking for free memory");
  return {free, total};
}

}  // namespace

ProxyStream::ProxyStream(int device) {
  check_cuda(cudaSetDevice(device), "selecting GPU " + std::to_string(device));
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
}

ProxyStream::~ProxyStream() { static_cast<void>(cudaStreamDestroy(stream_)); }

Uploads::Uploads(cudaStream_t stream) : stream_(stream) {
  void* staging = nullptr;
  check_cuda(cudaMallocHost(&staging, kStagingBytes), "allocating page-locked memory");
  staging_ = static_cast<std::byte*>(staging);
}

Uploads::~Uploads() { static_cast<void>(cudaFreeHost(staging_)); }

void Uploads::copy_bytes(const void* from, std::size_t bytes, void* to) {
  if (bytes == 0) return;
  if (bytes > kStagingBytes) {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the device");
    check_cuda(cudaStreamSynchronize(stream_), "copying to the device");
    return;
  }
  if (used_ + bytes > kStagingBytes) {
    check_cuda(cudaStreamSynchronize(stream_), "copying to the device");
    used_ = 0;
  }
  std::byte* staged = staging_ + used_;
  std::memcpy(staged, from, bytes);
  check_cuda(cudaMemcpyAsync(to, staged, bytes, cudaMemcpyHostToDevice, stream_), "copying to the device");
  used_ += rounded(bytes);
}

Products::Products(cudaStream_t stream) : stream_(stream), workspace_(kWorkspaceBytes) {}

void Products::multiply(ConstDeviceMatrix a, proxy::Op op_a, ConstDeviceMatrix b, proxy::Op op_b,
                        DeviceMatrix c, proxy::Scale scale, const ProductBatch& batch) {
  run(a, op_a, b, op_b, {c.data, c.rows, c.columns, c.stride, Precision::bf16}, scale, batch);
}

void Products::multiply(ConstDeviceMatrix a, proxy::Op op_a, ConstDeviceMatrix b, proxy::Op op_b,
                        FloatDeviceMatrix c) {
  run(a, op_a, b, op_b, {c.data, c.rows, c.columns, c.stride, Precision::fp32}, proxy::kOverwrite, {});
}

void Products::run(ConstDeviceMatrix a, proxy::Op op_a, ConstDeviceMatrix b, proxy::Op op_b, const Result& c,
                   proxy::Scale scale, const ProductBatch& batch) {
  const bool transpose_a = op_a == proxy::Op::transposed;
  const bool transpose_b = op_b == proxy::Op::transposed;
  const int inner = transpose_a ? a.rows : a.columns;
  SEXTANT_CHECK((transpose_a ? a.columns : a.rows) == c.rows);
  SEXTANT_CHECK((transpose_b ? b.rows : b.columns) == c.columns);
  SEXTANT_CHECK((transpose_b ? b.columns : b.rows) == inner);
  if (c.rows == 0 || c.columns == 0 || batch.count == 0) return;
  const int alignment = std::min({alignment_of(a.data), alignment_of(b.data), alignment_of(c.data)});
  const Key key{c.rows,         c.columns,     inner,
                transpose_a,    transpose_b,   a.stride,
                b.stride,       c.stride,      static_cast<int>(c.precision),
                batch.count,    alignment,     batch.stride_a,
                batch.stride_b, batch.stride_c};
  std::unique_ptr<LtMatmul>& planned = planned_[key];
  if (planned == nullptr) {
    LtMatmulSpec spec;
    spec.m = c.rows;
    spec.n = c.columns;
    spec.k = inner;
    spec.transpose_a = transpose_a;
    spec.transpose_b = transpose_b;
    spec.lda = a.stride;
    spec.ldb = b.stride;
    spec.ldc = c.stride;
    spec.ldd = c.stride;
    spec.precision = Precision::bf16;
    spec.output = c.precision;
    spec.batch = batch.count;
    spec.stride_a = batch.stride_a;
    spec.stride_b = batch.stride_b;
    spec.stride_c = batch.stride_c;
    spec.stride_d = batch.stride_c;
    spec.workspace_bytes = kWorkspaceBytes;
    spec.alignment_bytes = alignment;
    LtMatmulOrReason plan = plan_lt_matmul(spec);
    if (plan.matmul == nullptr) throw_machine_failed(plan.reason);
    planned = std::move(plan.matmul);
  }
  planned->execute({a.data, b.data, nullptr, c.data}, scale.product, scale.old,
                   {workspace_.data(), kWorkspaceBytes}, stream_);
}

ProxyGpu::ProxyGpu(int device)
    : device_(device), stream_(device), products_(stream_.get()), uploads_(stream_.get()) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "asking for the properties of a GPU");
  multiprocessors_ = properties.multiProcessorCount;
  name_ = properties.name;
}

std::size_t ProxyGpu::free_bytes() const { return free_and_total().first; }

std::size_t ProxyGpu::bytes_beside_buffers() const {
  const auto [free, total] = free_and_total();
  const std::size_t buffers = DeviceBuffer::use().bytes;
  return std::max(total - free, buffers) - buffers;
}

void ProxyGpu::wait(const std::string& doing) const {
  check_cuda(cudaGetLastError(), "starting a kernel while " + doing);
  check_cuda(cudaStreamSynchronize(stream()), doing);
  check_gpu_collectives();
}

}  // namespace sextant::gpu
