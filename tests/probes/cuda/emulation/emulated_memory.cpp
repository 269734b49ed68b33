// Memory of the device and of the host, and copies.
#include "tests/probes/cuda/emulation/emulated_device.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>

#include <sys/mman.h>

namespace {

constexpr std::size_t kMemory = std::size_t{16} << 30;
constexpr std::size_t kContext = std::size_t{300} << 20;
std::mutex memory_mutex;  // of what follows: ranks may be threads
std::map<std::uintptr_t, std::size_t> allocated;
std::size_t used = kContext;
std::size_t peak = kContext;

// Device memory: aligned as CUDA's, its end (but for that) at a page that nobody may touch, and one before it.
// Filled, so that what is read before it is written is a NaN; but for the end of what is as large as a
// workspace.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kFilled = std::size_t{8} << 20;
std::size_t aligned(std::size_t bytes, std::size_t alignment) {
  return (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
}
void* map_guarded(std::size_t bytes) {
  const std::size_t usable = aligned(bytes, kPage);
  void* pages =
      mmap(nullptr, usable + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  char* first = static_cast<char*>(pages) + kPage;
  mprotect(first, usable, PROT_READ | PROT_WRITE);
  void* data = first + usable - aligned(bytes, kAlignment);
  std::memset(data, 0xff, std::min(aligned(bytes, kAlignment), kFilled));
  return data;
}
void unmap_guarded(void* data, std::size_t bytes) {
  const std::size_t usable = aligned(bytes, kPage);
  char* first = static_cast<char*>(data) + aligned(bytes, kAlignment) - usable;
  munmap(first - kPage, usable + 2 * kPage);
}

}  // namespace

bool emulated_device_memory(const void* from, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex);
  const auto at = reinterpret_cast<std::uintptr_t>(from);
  auto after = allocated.upper_bound(at);
  if (after == allocated.begin()) return false;
  --after;
  return at + bytes <= after->first + after->second;
}

std::size_t emulated_used_bytes() { return used; }
std::size_t emulated_peak_bytes() { return peak; }
void emulated_reset_peak() { peak = used; }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = kMemory - used;
  *total = kMemory;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex);
  if (used + bytes > kMemory) return cudaErrorMemoryAllocation;
  *to = map_guarded(bytes);
  allocated[reinterpret_cast<std::uintptr_t>(*to)] = bytes;
  used += bytes;
  peak = std::max(peak, used);
  return cudaSuccess;
}
cudaError_t cudaFree(void* from) {
  if (from == nullptr) return cudaSuccess;
  const std::lock_guard lock(memory_mutex);
  const auto found = allocated.find(reinterpret_cast<std::uintptr_t>(from));
  unmap_guarded(from, found->second);
  used -= found->second;
  allocated.erase(found);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** to, std::size_t bytes) { return *to = std::malloc(bytes), cudaSuccess; }
cudaError_t cudaHostAlloc(void** to, std::size_t bytes, unsigned) { return cudaMallocHost(to, bytes); }
cudaError_t cudaHostGetDevicePointer(void** seen, void* from, unsigned) { return *seen = from, cudaSuccess; }
cudaError_t cudaFreeHost(void* from) { return std::free(from), cudaSuccess; }
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return std::memset(to, value, bytes), cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  emulated_queue([=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind) {
  const std::size_t read = (height - 1) * from_pitch + width;
  if (to_pitch < width || from_pitch < width || !emulated_device_memory(from, read))
    return cudaErrorInvalidValue;
  for (std::size_t row = 0; row < height; ++row) {
    std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
                width);
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  if (kind != cudaMemcpyDeviceToHost && !emulated_device_memory(to, bytes)) {
    throw std::logic_error("a copy beyond device memory");
  }
  if (kind != cudaMemcpyHostToDevice && !emulated_device_memory(from, bytes)) {
    throw std::logic_error("a copy from beyond device memory");
  }
  emulated_queue([=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
