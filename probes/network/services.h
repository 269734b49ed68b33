// The services of a host for another that measures: see Service in handshake.h. One function each, on a
// connection with an authenticated client; each ends when the client closes it or at the request's limit.
#pragma once

#include "probes/network/handshake.h"

namespace sextant::inline probes {

void serve(const Connection& connection, const Request& request);
// Datagrams use one of these ports.
void serve_on(const PortRange& datagram_ports, const Connection& connection, const Request& request);

// Message sizes shared with the client's side.
inline constexpr std::size_t kEchoBytes = 32;  // number, sent, received, sent back: each 8 bytes, ns since 1970
inline constexpr std::size_t kReportBytes = 16;  // ns of the server's steady clock, bytes taken so far
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// Returns kChunkBytes bytes that no link can compress.
[[nodiscard]] std::span<const std::byte> random_chunk();

[[nodiscard]] std::uint64_t wall_clock_ns();
[[nodiscard]] std::uint64_t steady_clock_ns();

}  // namespace sextant::inline probes
