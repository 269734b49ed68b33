#include "probes/trace/injection/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "probes/trace/record/chunk_writer.h"

namespace sextant::trace {

TraceFile::~TraceFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool TraceFile::append(ChunkType type, std::string_view payload) {
  if (!error_.empty()) return false;
  if (descriptor_ < 0) {
    constexpr mode_t kMode = 0644;
    descriptor_ = open(path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC, kMode);
    if (descriptor_ < 0) {
      error_ = path_ + ": " + std::strerror(errno);
      return false;
    }
  }
  const std::string chunk = make_chunk(type, sequence_++, payload);
  std::string_view left = chunk;
  while (!left.empty()) {
    const ssize_t written = write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      error_ = path_ + ": " + std::strerror(errno);
      return false;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  bytes_ += chunk.size();
  return true;
}

}  // namespace sextant::trace
