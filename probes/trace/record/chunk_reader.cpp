#include "probes/trace/record/chunk_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "probes/trace/record/chunk_writer.h"

namespace sextant::trace {
namespace {

struct Chunk {
  ChunkHeader header;
  std::string_view payload;
};

bool is_known(const ChunkHeader& header) {
  return header.magic == kChunkMagic && header.version == kFormatVersion &&
         header.payload_bytes <= kMaxPayloadBytes && header.type >= ChunkType::process &&
         header.type <= ChunkType::status;
}

// The chunk that begins here, if a whole and sound one does.
std::optional<Chunk> chunk_at(std::string_view bytes) {
  Chunk chunk;
  if (bytes.size() < sizeof chunk.header) return std::nullopt;
  std::memcpy(&chunk.header, bytes.data(), sizeof chunk.header);
  if (!is_known(chunk.header)) return std::nullopt;
  bytes.remove_prefix(sizeof chunk.header);
  if (bytes.size() < chunk.header.payload_bytes) return std::nullopt;
  chunk.payload = bytes.substr(0, chunk.header.payload_bytes);
  if (checksum(chunk.header, chunk.payload) != chunk.header.crc) return std::nullopt;
  return chunk;
}

std::vector<Chunk> find_chunks(std::string_view bytes, std::uint64_t& damaged_bytes) {
  char magic[sizeof kChunkMagic];
  std::memcpy(magic, &kChunkMagic, sizeof magic);
  const std::string_view begins(magic, sizeof magic);
  std::vector<Chunk> chunks;
  for (std::size_t at = 0; at < bytes.size();) {
    if (const std::optional<Chunk> chunk = chunk_at(bytes.substr(at))) {
      chunks.push_back(*chunk);
      at += sizeof(ChunkHeader) + chunk->payload.size();
      continue;
    }
    const std::size_t next = std::min(bytes.find(begins, at + 1), bytes.size());
    damaged_bytes += next - at;
    at = next;
  }
  return chunks;
}

// A cursor over a payload; reading past the end gives nothing from then on.
class Cursor {
 public:
  explicit Cursor(std::string_view left) : left_(left) {}

  template <typename T>
  [[nodiscard]] std::optional<T> take() {
    T value;
    if (left_.size() < sizeof value) return std::nullopt;
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  [[nodiscard]] std::optional<std::string_view> take_text(std::size_t length) {
    if (left_.size() < length) return std::nullopt;
    const std::string_view text = left_.substr(0, length);
    left_.remove_prefix(length);
    return text;
  }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
};

// Whether the payload was of the form; what was read before it was not stays.
bool take_records(std::string_view payload, std::vector<NamedRecord>& records) {
  Cursor cursor(payload);
  const auto strings = cursor.take<std::uint32_t>();
  const auto count = cursor.take<std::uint32_t>();
  if (!strings || !count) return false;
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < *strings; ++i) {
    const auto length = cursor.take<std::uint32_t>();
    const auto name = length ? cursor.take_text(*length) : std::nullopt;
    if (!name) return false;
    names.push_back(*name);
  }
  if (cursor.left() != *count * sizeof(Record)) return false;
  records.reserve(records.size() + *count);
  while (const auto record = cursor.take<Record>()) {
    const bool is_named = record->name > 0 && record->name <= names.size();
    records.push_back({*record, is_named ? names[record->name - 1] : std::string_view()});
  }
  return true;
}

}  // namespace

ReadChunks read_chunks(std::string_view bytes) {
  ReadChunks read;
  std::vector<Chunk> chunks = find_chunks(bytes, read.damaged_bytes);
  std::stable_sort(chunks.begin(), chunks.end(),
                   [](const Chunk& a, const Chunk& b) { return a.header.sequence < b.header.sequence; });
  std::uint64_t expected = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.header.sequence < expected) {
      ++read.repeated_chunks;
      continue;
    }
    read.lost_chunks += chunk.header.sequence - expected;
    expected = chunk.header.sequence + 1;
    if (chunk.header.type != ChunkType::records) {
      read.texts.push_back({chunk.header.type, chunk.payload});
    } else if (!take_records(chunk.payload, read.records)) {
      read.damaged_bytes += chunk.payload.size();
    }
  }
  return read;
}

}  // namespace sextant::trace
