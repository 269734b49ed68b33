// The file of one process: chunks are appended, each with one write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "probes/trace/record/record.h"

namespace sextant::trace {

class TraceFile {
 public:
  TraceFile() = default;
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // The file is created with the first chunk, so that a process without ranges and devices leaves none.
  void name_it(std::string path) { path_ = std::move(path); }
  // Returns false if it could not be written; `error()` then says why, and later calls write nothing.
  bool append(ChunkType type, std::string_view payload);
  [[nodiscard]] bool is_made() const { return descriptor_ >= 0; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::string path_;
  std::string error_;
  int descriptor_ = -1;
  std::uint64_t sequence_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace sextant::trace
