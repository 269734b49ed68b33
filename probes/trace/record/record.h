// The format of the records that a traced process writes.
//
// A file is a sequence of chunks. Each chunk is self-contained: it states its type and length, has a checksum,
// and its records refer to strings in the chunk's own table. So a chunk may be lost, damaged, cut off or out of
// order, and the others are still readable. Everything is little-endian; times are nanoseconds.
//
//   chunk    = ChunkHeader, payload
//   payload  = text (ChunkType::process and status: a JSON object), or
//              u32 strings, u32 records, then for each string u32 length and its bytes, then the records
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant::trace {

inline constexpr std::uint32_t kChunkMagic = 0x52545853;  // "SXTR"
inline constexpr std::uint16_t kFormatVersion = 1;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{64} << 20;
inline constexpr std::size_t kLongestName = 512;  // for a kernel or range: longer ones are cut
inline constexpr const char* kFileEnding = ".sxtrace";

enum class ChunkType : std::uint16_t { process = 1, records = 2, status = 3 };

struct ChunkHeader {
  std::uint32_t magic = kChunkMagic;
  ChunkType type = ChunkType::records;
  std::uint16_t version = kFormatVersion;
  std::uint32_t payload_bytes = 0;
  std::uint32_t crc = 0;       // CRC-32 of this header with 0 here, then of the payload
  std::uint64_t sequence = 0;  // from 0, one more for each chunk of the process
};
static_assert(sizeof(ChunkHeader) == 24);

enum class RecordKind : std::uint8_t {
  // Activity on a device, by CUPTI's clock; device, stream and correlation are set.
  kernel = 1,
  copy = 2,   // value: bytes; detail: CopyKind
  set = 3,    // value: bytes
  graph = 4,  // a launch of a whole CUDA graph; value: its id
  // Activity on the host, by the monotonic clock; stream is the thread.
  range_begin = 10,  // start; value: id, unique in the process; detail: RangeStyle
  range_end = 11,    // start; value: id
  overhead = 12,     // start and end by CUPTI's clock; cost of the tracing itself
  // Records about the recording.
  clocks = 20,         // read together: start monotonic, end real time, value CUPTI's (0: there is none)
  recording = 21,      // from `start` (monotonic) on device activity is recorded (value 1) or not (0)
  dropped = 22,        // value: device records that CUPTI or the tracer had to drop
  dropped_ranges = 23  // value
};

enum class CopyKind : std::uint8_t {
  unknown,
  host_to_device,
  device_to_host,
  within_device,
  between_devices,
  host
};
enum class RangeStyle : std::uint8_t { push_pop, start_end };

struct Record {
  RecordKind kind = RecordKind::kernel;
  std::uint8_t detail = 0;
  std::uint16_t device = 0;
  std::uint32_t name = 0;  // index in the chunk's table of strings, from 1; 0: none
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t value = 0;

  friend bool operator==(const Record&, const Record&) = default;
};
static_assert(sizeof(Record) == 40);

}  // namespace sextant::trace
