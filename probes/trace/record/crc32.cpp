#include "probes/trace/record/crc32.h"

#include <array>
#include <cstring>

namespace sextant::trace {
namespace {

constexpr int kSlices = 8;  // bytes taken at a time
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
    tables[0][byte] = value;
  }
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    for (std::size_t slice = 1; slice < kSlices; ++slice) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::span<const unsigned char> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  const unsigned char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kSlices; left -= kSlices, at += kSlices) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < kSlices; ++i) crc ^= kTables[kSlices - 1 - i][(word >> (8 * i)) & 0xFFU];
  }
  for (; left > 0; --left, ++at) crc = (crc >> 8U) ^ kTables[0][(crc ^ *at) & 0xFFU];
  return ~crc;
}

}  // namespace sextant::trace
