// The part of CUPTI's binary interface that the tracer uses.
//
// Declared here and not taken from cupti.h, so that one library serves CUDA 12 and 13, and can be built and
// tested without a toolkit. Records only ever grow at their end (kernels since CUDA 9.0,
// "CUpti_ActivityKernel4"); these are their unchanging beginnings. abi_check.cpp compares them with the real
// headers if they are found.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant::trace::cupti {

using Result = std::int32_t;
inline constexpr Result kSuccess = 0;
inline constexpr Result kMaxLimitReached = 12;
inline constexpr Result kMultipleSubscribers = 39;

using ActivityKind = std::int32_t;
inline constexpr ActivityKind kMemcpy = 1;
inline constexpr ActivityKind kMemset = 2;
inline constexpr ActivityKind kConcurrentKernel = 10;
inline constexpr ActivityKind kOverhead = 17;
inline constexpr ActivityKind kPeerMemcpy = 22;
inline constexpr ActivityKind kGraphTrace = 51;

inline constexpr std::uint32_t kFlushForced = 1;

struct Activity {
  ActivityKind kind;
} __attribute__((packed, aligned(8)));

struct Kernel {
  ActivityKind kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::int32_t partitioned_cache_requested;
  std::int32_t partitioned_cache_executed;
  std::uint64_t start;  // ns; 0 with end 0: not collected
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total;
  std::uint32_t correlation_id;
  std::int64_t grid_id;
  const char* name;
} __attribute__((packed, aligned(8)));

struct Memcpy {
  ActivityKind kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t correlation_id;  // for a copy between peers: the source's device
} __attribute__((packed, aligned(8)));

struct PeerMemcpy {
  ActivityKind kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t source_device_id;
  std::uint32_t source_context_id;
  std::uint32_t destination_device_id;
  std::uint32_t destination_context_id;
  std::uint32_t correlation_id;
} __attribute__((packed, aligned(8)));

struct Memset {
  ActivityKind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t correlation_id;
} __attribute__((packed, aligned(8)));

struct GraphTrace {
  ActivityKind kind;
  std::uint32_t correlation_id;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t graph_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
};

struct Overhead {
  ActivityKind kind;
  std::int32_t overhead_kind;
  std::int32_t object_kind;
  std::uint32_t object_id[3];
  std::uint64_t start;
  std::uint64_t end;
} __attribute__((packed, aligned(8)));

using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                 std::size_t valid_size);
using Callback = void (*)(void* user, std::int32_t domain, std::uint32_t id, const void* data);

struct Functions {
  Result (*subscribe)(void** subscriber, Callback callback, void* user) = nullptr;
  Result (*unsubscribe)(void* subscriber) = nullptr;
  Result (*activity_enable)(ActivityKind kind) = nullptr;
  Result (*activity_disable)(ActivityKind kind) = nullptr;
  Result (*activity_register_callbacks)(BufferRequested requested, BufferCompleted completed) = nullptr;
  Result (*activity_flush_all)(std::uint32_t flag) = nullptr;
  Result (*activity_get_next_record)(std::uint8_t* buffer, std::size_t valid_bytes,
                                     Activity** record) = nullptr;
  Result (*activity_get_num_dropped_records)(void* context, std::uint32_t stream,
                                             std::size_t* dropped) = nullptr;
  Result (*get_timestamp)(std::uint64_t* timestamp) = nullptr;
  Result (*get_version)(std::uint32_t* version) = nullptr;
  Result (*get_result_string)(Result result, const char** text) = nullptr;
};

}  // namespace sextant::trace::cupti
