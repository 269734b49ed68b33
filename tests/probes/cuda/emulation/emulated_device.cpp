#include "tests/probes/cuda/emulation/emulated_device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUevent_st {
  std::uint64_t recorded_ns = 0;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};

namespace {

constexpr unsigned kMostThreads = 1024;  // of a block
constexpr std::size_t kStackBytes = 64 << 10;
constexpr std::size_t kMemory = std::size_t{16} << 30;
constexpr int kCache = 1 << 20;
constexpr std::size_t kContext = std::size_t{300} << 20;
// A process uses one, and each has its own.
thread_local int first_shown = 0;
thread_local int shown = 8;
thread_local bool are_usable = true;

CUgraph_st* recording = nullptr;
std::mutex memory_mutex;  // of what follows: ranks may be threads
std::map<std::uintptr_t, std::size_t> allocated;
std::size_t used = kContext;
std::size_t peak = kContext;

unsigned most_blocks = 0;
constexpr std::size_t kSharedMemory = 48 << 10;  // that every kernel may have
std::size_t allowed_shared_memory = kSharedMemory;
std::vector<uint4> shared_memory;
std::uint64_t block = 0;
constexpr std::size_t kMostLaunches = 1000;
std::vector<EmulatedShape> launches;
EmulatedHost host;

// Where to go on. The compiler's own jumps: those of the C library look for handlers to run on the way, and
// switching is most of what a kernel costs here.
using Place = std::array<void*, 5>;

// A stack of its own. Begun once, it runs one thread of a block after another.
struct Fiber {
  Place resume{};
  std::vector<char> stack = std::vector<char>(kStackBytes);
  bool has_begun = false;
};
// Of a thread of the block that runs.
struct Thread {
  EmulatedWait waits = EmulatedWait::none;
  bool done = false;
};

std::vector<std::unique_ptr<Fiber>> fibers;
std::array<Thread, kMostThreads> block_threads;
Place scheduler;
const std::function<void()>* body = nullptr;

[[noreturn, gnu::noinline]] void jump(Place& to) { __builtin_longjmp(to.data(), 1); }

// Until the scheduler goes on with this fiber.
[[gnu::noinline]] void pause(Fiber& mine) {
  if (__builtin_setjmp(mine.resume.data()) == 0) jump(scheduler);
}

void fiber_main() {
  for (;;) {
    (*body)();
    block_threads[threadIdx.x].done = true;
    pause(*fibers[threadIdx.x]);
  }
}

// Stacks begin at different places of the cache's sets, or 256 of them would share one.
[[gnu::noinline]] void begin_fiber(unsigned thread) {
  constexpr std::size_t kApart = 7 * 64, kPlaces = 64;
  Fiber& fiber = *fibers[thread];
  ucontext_t context{}, here{};
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.data();
  context.uc_stack.ss_size = fiber.stack.size() - thread % kPlaces * kApart;
  context.uc_link = nullptr;
  makecontext(&context, fiber_main, 0);
  fiber.has_begun = true;
  swapcontext(&here, &context);
}

[[gnu::noinline]] void continue_fiber(unsigned thread) {
  threadIdx = dim3(thread, 0, 0);
  block_threads[thread].waits = EmulatedWait::none;
  if (__builtin_setjmp(scheduler.data()) != 0) return;
  if (!fibers[thread]->has_begun) begin_fiber(thread);
  jump(fibers[thread]->resume);
}

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

// Threads [first, end) all done or waiting for this.
bool can_pass(unsigned first, unsigned end, EmulatedWait what) {
  for (unsigned i = first; i < end; ++i) {
    if (!block_threads[i].done && block_threads[i].waits != what) return false;
  }
  return true;
}
// Whether any went on.
bool pass(unsigned first, unsigned end, EmulatedWait what) {
  if (!can_pass(first, end, what)) return false;
  bool moved = false;
  for (unsigned i = first; i < end; ++i) {
    if (block_threads[i].done) continue;
    continue_fiber(i);
    moved = true;
  }
  return moved;
}

// One warp goes as far as it can before the next one moves: what a missing wait leaves to chance goes wrong
// here.
void run_block(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    block_threads[i] = {};
    emulated_lanes[i].turn = 0;
  }
  for (unsigned i = 0; i < count; ++i) continue_fiber(i);
  for (bool moved = true; moved;) {
    for (unsigned warp = 0; warp < count; warp += 32) {
      while (pass(warp, std::min(warp + 32, count), EmulatedWait::warp)) {
      }
    }
    moved = pass(0, count, EmulatedWait::block);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (block_threads[i].done) continue;
    fibers.clear();  // they are in the middle of this
    throw std::logic_error("threads of a block wait for each other at different places");
  }
}

}  // namespace

void emulated_limit_blocks(unsigned blocks) { most_blocks = blocks; }

std::uint64_t emulated_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void emulated_wait(EmulatedWait what) {
  block_threads[threadIdx.x].waits = what;
  pause(*fibers[threadIdx.x]);
}

std::uint64_t emulated_block() { return block; }

void* emulated_shared_memory() { return shared_memory.data(); }

void emulated_allow_shared_memory(std::size_t bytes) {
  allowed_shared_memory = std::max(allowed_shared_memory, bytes);
}

std::vector<EmulatedShape> emulated_launches() { return std::exchange(launches, {}); }

EmulatedHost& emulated_host() { return host; }

void emulated_run(const EmulatedShape& shape, bool waits, const std::function<void()>& thread) {
  dim3 grid = shape.grid;
  const dim3 threads = shape.threads;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535 || threads.x == 0 ||
      threads.x > kMostThreads || threads.y != 1 || shape.shared_bytes > allowed_shared_memory) {
    throw std::logic_error("a launch that CUDA would refuse");
  }
  if (launches.size() < kMostLaunches) launches.push_back(shape);
  if (most_blocks > 0) grid.x = std::min(grid.x, most_blocks);
  gridDim = grid;
  blockDim = threads;
  body = &thread;
  while (fibers.size() < threads.x) fibers.push_back(std::make_unique<Fiber>());
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z) {
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
        ++block;
        shared_memory.assign(shape.shared_bytes / sizeof(uint4), {~0U, ~0U, ~0U, ~0U});
        if (waits) {
          run_block(threads.x);
          continue;
        }
        for (threadIdx = dim3(0, 0, 0); threadIdx.x < threads.x; ++threadIdx.x) thread();
      }
    }
  }
}

void emulated_queue(std::function<void()> work) {
  if (recording != nullptr) {
    recording->work.push_back(std::move(work));
  } else {
    work();
  }
}

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

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorNoDevice) return "no CUDA-capable device is detected";
  if (error == cudaErrorInvalidValue) return "invalid argument";
  return error == cudaSuccess ? "no error" : "out of memory";
}
void emulated_show_devices(int first, int count, bool usable) {
  first_shown = first;
  shown = count;
  are_usable = usable;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = shown;
  return host.answers ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int) { return are_usable ? cudaSuccess : cudaErrorMemoryAllocation; }
cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int length, int device) {
  return std::snprintf(bus_id, static_cast<std::size_t>(length), "0000:%02x:00.0", first_shown + device),
         cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"emulated", 9, 0, host.processors, kCache, 1};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrL2CacheSize ? kCache : host.processors;
  return host.answers ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                          std::size_t) {
  if (kernel == nullptr || threads < 1 || threads > 1024) return cudaErrorInvalidValue;
  return *blocks = host.blocks_per_processor, cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int other) {
  *can_access = device != other && host.peers_see_each_other ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return host.peers_see_each_other ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorInvalidValue;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 12080, cudaSuccess; }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = kMemory - used;
  *total = kMemory;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

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
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return *stream = nullptr, cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  if (recording != nullptr) throw std::logic_error("a wait while a graph is recorded");
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  recording = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = recording;
  recording = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (const auto& work : executable->work) work();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new CUevent_st, cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  emulated_queue([event] { event->recorded_ns = emulated_nanoseconds(); });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* elapsed_ms, cudaEvent_t start, cudaEvent_t stop) {
  *elapsed_ms = 1e-6F * static_cast<float>(stop->recorded_ns - start->recorded_ns);
  return cudaSuccess;
}
