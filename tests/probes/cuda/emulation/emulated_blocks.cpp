// Threads of a block as fibers, and blocks one after another.
#include "tests/probes/cuda/emulation/emulated_device.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <ucontext.h>

namespace {

constexpr unsigned kMaxThreads = 1024;  // of a block
constexpr std::size_t kStackBytes = 64 << 10;
unsigned max_blocks = 0;
constexpr std::size_t kSharedMemory = 48 << 10;  // that every kernel may have
std::size_t allowed_shared_memory = kSharedMemory;
std::vector<uint4> shared_memory;
std::uint64_t block = 0;
constexpr std::size_t kMaxLaunches = 1000;
std::vector<EmulatedShape> launches;

// The place to continue. The compiler's own jumps are used: those of the C library look for handlers to run on
// the way, and switching is most of what a kernel costs here.
using Place = std::array<void*, 5>;

// A stack of its own. Begun once, it runs one thread of a block after another.
struct Fiber {
  Place resume{};
  std::vector<char> stack = std::vector<char>(kStackBytes);
  bool has_begun = false;
};
// The state of a thread of the block that runs.
struct Thread {
  EmulatedWait waits = EmulatedWait::none;
  bool done = false;
};

std::vector<std::unique_ptr<Fiber>> fibers;
std::array<Thread, kMaxThreads> block_threads;
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

void emulated_limit_blocks(unsigned blocks) { max_blocks = blocks; }

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

void emulated_run(const EmulatedShape& shape, bool waits, const std::function<void()>& thread) {
  dim3 grid = shape.grid;
  const dim3 threads = shape.threads;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535 || threads.x == 0 ||
      threads.x > kMaxThreads || threads.y != 1 || shape.shared_bytes > allowed_shared_memory) {
    throw std::logic_error("a launch that CUDA would refuse");
  }
  if (launches.size() < kMaxLaunches) launches.push_back(shape);
  if (max_blocks > 0) grid.x = std::min(grid.x, max_blocks);
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
