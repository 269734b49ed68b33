// The network format of numbers: 8 bytes, least significant first, on any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sextant::inline probes {

// Seconds that a connection may take besides its round trips: a first packet that is lost is sent again within
// them.
inline constexpr double kConnect_s = 1;
inline constexpr double kConnectRoundTrips = 4;  // TCP's and the handshake's three, and one to spare

// `to` and `from` hold 8 bytes.
inline void store_number(std::span<std::byte> to, std::uint64_t number) {
  for (std::size_t i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(number >> (8 * i));
}

[[nodiscard]] inline std::uint64_t load_number(std::span<const std::byte> from) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return number;
}

}  // namespace sextant::inline probes
