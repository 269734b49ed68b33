#include "tests/probes/cuda/emulation/emulated_device.h"

#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <ucontext.h>

struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};

namespace {

constexpr std::size_t kStackBytes = 64 << 10;
constexpr std::size_t kMemory = std::size_t{16} << 30;
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

struct Fiber {
  ucontext_t context{};
  jmp_buf resume{};
  std::vector<char> stack = std::vector<char>(kStackBytes);
  EmulatedWait waits = EmulatedWait::none;
  bool started = false;
  bool done = false;
  dim3 index;
  std::uint64_t shown = 0;
};

std::vector<std::unique_ptr<Fiber>> fibers;
jmp_buf scheduler;
ucontext_t scheduler_context;
Fiber* running = nullptr;
const std::function<void()>* body = nullptr;

void fiber_main() {
  (*body)();
  running->done = true;
  _longjmp(scheduler, 1);
}

void continue_fiber(Fiber& fiber) {
  running = &fiber;
  threadIdx = fiber.index;
  fiber.waits = EmulatedWait::none;
  if (_setjmp(scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.resume, 1);
  fiber.started = true;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.data();
  fiber.context.uc_stack.ss_size = fiber.stack.size();
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, fiber_main, 0);
  swapcontext(&scheduler_context, &fiber.context);
}

// Fibers [first, end) all done or waiting for this.
bool can_pass(std::size_t first, std::size_t end, EmulatedWait what) {
  for (std::size_t i = first; i < end; ++i) {
    if (!fibers[i]->done && fibers[i]->waits != what) return false;
  }
  return true;
}

void run_block(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) continue_fiber(*fibers[i]);
  for (bool moved = true; moved;) {
    moved = false;
    const auto pass = [&](std::size_t first, std::size_t end, EmulatedWait what) {
      if (!can_pass(first, end, what)) return;
      for (std::size_t i = first; i < end; ++i) {
        if (fibers[i]->done) continue;
        continue_fiber(*fibers[i]);
        moved = true;
      }
    };
    for (std::size_t warp = 0; warp < count; warp += 32)
      pass(warp, std::min(warp + 32, count), EmulatedWait::warp);
    pass(0, count, EmulatedWait::block);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!fibers[i]->done) throw std::logic_error("threads of a block wait for each other at different places");
  }
}

}  // namespace

void emulated_limit_blocks(unsigned blocks) { most_blocks = blocks; }

std::uint64_t emulated_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::uint64_t& emulated_lane_value(unsigned thread) { return fibers[thread]->shown; }

void emulated_wait(EmulatedWait what) {
  Fiber& mine = *running;
  mine.waits = what;
  if (_setjmp(mine.resume) == 0) _longjmp(scheduler, 1);
}

void emulated_run(dim3 grid, dim3 threads, bool waits, const std::function<void()>& thread) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads.x == 0 || threads.x > 1024 || threads.y != 1) {
    throw std::logic_error("a launch that CUDA would refuse");
  }
  if (most_blocks > 0) grid.x = std::min(grid.x, most_blocks);
  gridDim = grid;
  blockDim = threads;
  body = &thread;
  while (fibers.size() < threads.x) fibers.push_back(std::make_unique<Fiber>());
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z) {
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
        for (unsigned t = 0; t < threads.x; ++t) {
          fibers[t]->started = fibers[t]->done = false;
          fibers[t]->index = dim3(t, 0, 0);
          if (waits) continue;
          threadIdx = fibers[t]->index;
          thread();
        }
        if (waits) run_block(threads.x);
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
  return error == cudaSuccess ? "no error" : "out of memory";
}
void emulated_show_devices(int first, int count, bool usable) {
  first_shown = first;
  shown = count;
  are_usable = usable;
}
cudaError_t cudaGetDeviceCount(int* count) { return *count = shown, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return are_usable ? cudaSuccess : cudaErrorMemoryAllocation; }
cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int length, int device) {
  return std::snprintf(bus_id, static_cast<std::size_t>(length), "0000:%02x:00.0", first_shown + device),
         cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "emulated");
  properties->multiProcessorCount = 4;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = kMemory - used;
  *total = kMemory;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex);
  if (used + bytes > kMemory) return cudaErrorMemoryAllocation;
  // Filled, so that what is read before it is written is a NaN.
  *to = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*to, 0xff, bytes);
  allocated[reinterpret_cast<std::uintptr_t>(*to)] = bytes;
  used += bytes;
  peak = std::max(peak, used);
  return cudaSuccess;
}
cudaError_t cudaFree(void* from) {
  if (from == nullptr) return cudaSuccess;
  const std::lock_guard lock(memory_mutex);
  const auto found = allocated.find(reinterpret_cast<std::uintptr_t>(from));
  used -= found->second;
  allocated.erase(found);
  std::free(from);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** to, std::size_t bytes) { return *to = std::malloc(bytes), cudaSuccess; }
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
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = nullptr, cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return *event = nullptr, cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* elapsed_ms, cudaEvent_t, cudaEvent_t) {
  return *elapsed_ms = 0, cudaSuccess;
}
