// Makes chunks of records. It does not depend on files, threads or CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "probes/trace/record/record.h"

namespace sextant::trace {

// Records and their strings, until they are sealed into a payload.
class RecordBatch {
 public:
  // `name` may be empty; one longer than kLongestName is cut.
  void add(Record record, std::string_view name = {});
  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] std::size_t bytes() const;  // size of the payload
  // Returns the payload of a chunk of ChunkType::records; the batch is empty afterwards.
  [[nodiscard]] std::string seal();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  std::vector<Record> records_;
  std::string strings_;  // lengths and bytes, as on disk
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> place_of_;
};

// Returns the checksum of a chunk; ignores header.crc.
[[nodiscard]] std::uint32_t checksum(ChunkHeader header, std::string_view payload);

// Returns header and payload, as on disk.
[[nodiscard]] std::string make_chunk(ChunkType type, std::uint64_t sequence, std::string_view payload);

}  // namespace sextant::trace
