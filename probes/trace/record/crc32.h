// CRC-32 (IEEE 802.3, as in zlib).
#pragma once

#include <cstdint>
#include <span>

namespace sextant::trace {

// `before`: the checksum of the bytes before these.
[[nodiscard]] std::uint32_t crc32(std::span<const unsigned char> bytes, std::uint32_t before = 0);

}  // namespace sextant::trace
