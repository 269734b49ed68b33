// A libcupti that a test can feed: the functions that the tracer calls, over buffers that it asks the tracer
// for, and fake_cupti_launch, with which a program runs "kernels". FAKE_CUPTI says how it misbehaves.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <utility>

#include "probes/trace/injection/cupti_abi.h"

namespace cupti = sextant::trace::cupti;

namespace {

// The record is as large as CUPTI's own of CUDA 13, so that records are found by its stride and not by ours.
struct FakeKernel {
  cupti::Kernel kernel;
  char rest[112];
};

std::mutex mutex;
cupti::BufferRequested on_request = nullptr;
cupti::BufferCompleted on_complete = nullptr;
std::uint8_t* buffer = nullptr;
std::size_t capacity = 0, used = 0;
std::size_t dropped = 0;
std::atomic<bool> kernels_on{false};

std::string mode() {
  const char* value = std::getenv("FAKE_CUPTI");
  return value == nullptr ? "" : value;
}

// Writes the tracer's calls of CUPTI, one per line, to the file that FAKE_CUPTI_LOG names.
void log(const std::string& line) {
  const char* path = std::getenv("FAKE_CUPTI_LOG");
  if (path == nullptr) return;
  static std::FILE* const file = std::fopen(path, "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", line.c_str());
  std::fflush(file);
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

int handed_over = 0;

void complete() {
  if (buffer == nullptr) return;
  if (mode() == "taken over" && handed_over > 0) return;  // it goes to somebody else
  ++handed_over;
  std::uint8_t* const full = buffer;
  buffer = nullptr;
  on_complete(nullptr, 0, full, capacity, used);
  used = 0;
}

std::size_t size_of(const cupti::Activity& activity) {
  switch (activity.kind) {
    case cupti::kConcurrentKernel:
      return sizeof(FakeKernel);
    case cupti::kPeerMemcpy:
      return sizeof(cupti::PeerMemcpy);
    case cupti::kMemset:
      return sizeof(cupti::Memset);
    case cupti::kGraphTrace:
      return sizeof(cupti::GraphTrace);
    case cupti::kOverhead:
      return sizeof(cupti::Overhead);
    default:
      return sizeof(cupti::Memcpy);
  }
}

template <typename T>
void append(const T& record) {
  if (buffer != nullptr && used + sizeof(T) > capacity) complete();
  if (buffer == nullptr) {
    std::size_t maximum = 0;
    on_request(&buffer, &capacity, &maximum);
  }
  if (buffer == nullptr) {
    ++dropped;
    return;
  }
  std::memcpy(buffer + used, &record, sizeof(T));
  used += sizeof(T);
}

// One microsecond long, the n-th of them that many microseconds after `from`.
template <typename T>
T timed(cupti::ActivityKind kind, std::uint64_t from, std::uint64_t n) {
  T record{};
  record.kind = kind;
  record.start = from + n * 1000;
  record.end = record.start + 1000;
  return record;
}

}  // namespace

extern "C" {

cupti::Result cuptiSubscribe(void** subscriber, cupti::Callback /*callback*/, void* /*user*/) {
  if (mode() == "second subscriber") return cupti::kMultipleSubscribers;
  log("subscribe");
  *subscriber = &mutex;
  return cupti::kSuccess;
}
cupti::Result cuptiUnsubscribe(void* /*subscriber*/) {
  log("unsubscribe");
  return cupti::kSuccess;
}
cupti::Result cuptiActivityEnable(cupti::ActivityKind kind) {
  static bool had_kernels = false;
  if (mode() == "no kernels") return 1;
  if (kind == cupti::kConcurrentKernel && std::exchange(had_kernels, true) && mode() == "kernels once")
    return 1;
  log("enable " + std::to_string(static_cast<int>(kind)));
  if (kind == cupti::kConcurrentKernel) kernels_on = true;
  return cupti::kSuccess;
}
cupti::Result cuptiActivityDisable(cupti::ActivityKind kind) {
  log("disable " + std::to_string(static_cast<int>(kind)));
  if (kind == cupti::kConcurrentKernel) kernels_on = false;
  return cupti::kSuccess;
}
cupti::Result cuptiActivityRegisterCallbacks(cupti::BufferRequested requested,
                                             cupti::BufferCompleted completed) {
  on_request = requested;
  on_complete = completed;
  return cupti::kSuccess;
}
cupti::Result cuptiActivityFlushAll(std::uint32_t flag) {
  log("flush");
  const std::lock_guard lock(mutex);
  // Without force only what is complete: a buffer that is being filled stays, as with a busy device.
  if (flag == cupti::kFlushForced || mode() != "busy") complete();
  return cupti::kSuccess;
}
cupti::Result cuptiActivityGetNextRecord(std::uint8_t* bytes, std::size_t valid, cupti::Activity** record) {
  std::uint8_t* next = bytes;
  if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + size_of(**record);
  if (next >= bytes + valid) return cupti::kMaxLimitReached;
  *record = reinterpret_cast<cupti::Activity*>(next);
  return cupti::kSuccess;
}
cupti::Result cuptiActivityGetNumDroppedRecords(void* /*context*/, std::uint32_t /*stream*/,
                                                std::size_t* count) {
  *count = mode() == "drops" ? 3 : 0;
  return cupti::kSuccess;
}
cupti::Result cuptiGetTimestamp(std::uint64_t* timestamp) {
  log("timestamp");
  *timestamp = now();
  return cupti::kSuccess;
}
cupti::Result cuptiGetVersion(std::uint32_t* version) {
  *version = 130001;
  return cupti::kSuccess;
}
cupti::Result cuptiGetResultString(cupti::Result /*result*/, const char** text) {
  *text = "FAKE_ERROR";
  return cupti::kSuccess;
}

// Runs `count` kernels of one microsecond, the last ending now, and a copy behind each hundredth.
void fake_cupti_launch(const char* name, std::uint64_t count) {
  if (!kernels_on) return;
  const std::uint64_t end = now();
  const std::lock_guard lock(mutex);
  for (std::uint64_t i = 0; i < count; ++i) {
    FakeKernel record{};
    record.kernel.kind = cupti::kConcurrentKernel;
    record.kernel.start = end - (count - i) * 1000;
    record.kernel.end = record.kernel.start + 1000;
    record.kernel.stream_id = 7;
    record.kernel.correlation_id = static_cast<std::uint32_t>(i);
    record.kernel.name = name;
    append(record);
    if (i % 100 == 99) {
      cupti::Memcpy copy{};
      copy.kind = cupti::kMemcpy;
      copy.copy_kind = 1;
      copy.bytes = 64;
      copy.start = record.kernel.start;
      copy.end = record.kernel.end;
      append(copy);
    }
  }
}

// One of each other kind that the tracer asks for, the last ending now.
void fake_cupti_other_kinds() {
  const std::uint64_t from = now() - 4000;
  const std::lock_guard lock(mutex);
  auto peer = timed<cupti::PeerMemcpy>(cupti::kPeerMemcpy, from, 0);
  peer.copy_kind = 10;
  peer.bytes = 100;
  append(peer);
  auto set = timed<cupti::Memset>(cupti::kMemset, from, 1);
  set.bytes = 200;
  append(set);
  append(timed<cupti::GraphTrace>(cupti::kGraphTrace, from, 2));
  append(timed<cupti::Overhead>(cupti::kOverhead, from, 3));
}

// A buffer that the tracer never gave, with a kernel in it.
void fake_cupti_foreign_buffer() {
  alignas(8) static FakeKernel record;
  record.kernel = timed<cupti::Kernel>(cupti::kConcurrentKernel, now(), 0);
  on_complete(nullptr, 0, reinterpret_cast<std::uint8_t*>(&record), sizeof record, sizeof record);
}

}  // extern "C"
