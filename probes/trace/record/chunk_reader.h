// Reads a file of chunks in any condition: bytes outside of complete chunks are skipped and counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/trace/record/record.h"

namespace sextant::trace {

struct NamedRecord {
  Record record;          // its `name` has no meaning here
  std::string_view name;  // points into the text that was read
};

struct TextChunk {
  ChunkType type = ChunkType::process;
  std::string_view text;
};

struct ReadChunks {
  std::vector<TextChunk> texts;       // by sequence
  std::vector<NamedRecord> records;   // by sequence, then as in the chunk
  std::uint64_t lost_chunks = 0;      // gaps in the sequence
  std::uint64_t repeated_chunks = 0;  // used once
  std::uint64_t damaged_bytes = 0;    // outside of complete, valid chunks: cut off at the end, or overwritten

  [[nodiscard]] bool is_whole() const { return lost_chunks == 0 && damaged_bytes == 0; }
};

// Never throws, for any bytes. `bytes` must outlive the result.
[[nodiscard]] ReadChunks read_chunks(std::string_view bytes);

}  // namespace sextant::trace
