#include "probes/trace/record/chunk_writer.h"

#include <bit>
#include <cstring>
#include <span>

#include "probes/trace/record/crc32.h"

namespace sextant::trace {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian, and written as it lies");

template <typename T>
void append(std::string& out, const T& value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

}  // namespace

void RecordBatch::add(Record record, std::string_view name) {
  record.name = 0;
  if (!name.empty()) {
    name = name.substr(0, kLongestName);
    const auto found = place_of_.find(name);
    if (found != place_of_.end()) {
      record.name = found->second;
    } else {
      record.name = static_cast<std::uint32_t>(place_of_.size() + 1);
      place_of_.emplace(name, record.name);
      append(strings_, static_cast<std::uint32_t>(name.size()));
      strings_.append(name);
    }
  }
  records_.push_back(record);
}

std::size_t RecordBatch::bytes() const {
  return 2 * sizeof(std::uint32_t) + strings_.size() + records_.size() * sizeof(Record);
}

std::string RecordBatch::seal() {
  std::string payload;
  payload.reserve(bytes());
  append(payload, static_cast<std::uint32_t>(place_of_.size()));
  append(payload, static_cast<std::uint32_t>(records_.size()));
  payload.append(strings_);
  for (const Record& record : records_) append(payload, record);
  records_.clear();
  strings_.clear();
  place_of_.clear();
  return payload;
}

std::uint32_t checksum(ChunkHeader header, std::string_view payload) {
  header.crc = 0;
  const auto bytes_of = [](const void* data, std::size_t size) {
    return std::span(static_cast<const unsigned char*>(data), size);
  };
  return crc32(bytes_of(payload.data(), payload.size()), crc32(bytes_of(&header, sizeof header)));
}

std::string make_chunk(ChunkType type, std::uint64_t sequence, std::string_view payload) {
  ChunkHeader header;
  header.type = type;
  header.sequence = sequence;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.crc = checksum(header, payload);
  std::string chunk;
  chunk.reserve(sizeof header + payload.size());
  append(chunk, header);
  chunk.append(payload);
  return chunk;
}

}  // namespace sextant::trace
