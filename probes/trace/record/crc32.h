// CRC-32 (IEEE 802.3, as in zlib) of a chunk's payload.
#pragma once

#include <cstdint>
#include <span>

namespace sextant::trace {

[[nodiscard]] std::uint32_t crc32(std::span<const unsigned char> bytes);

}  // namespace sextant::trace
