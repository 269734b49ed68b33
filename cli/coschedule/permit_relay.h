// Permits for jobs on other hosts: a relay on each side of an authenticated TCP connection, between the Unix socket of the
// permit server and one that jobs of the other host use.
//
// Both relays have a key in a file, and authenticate each other as the hosts of a probe do (probes/network/handshake.h): a
// recorded connection is worthless. After it every line carries an HMAC-SHA256 under a key of this connection over its
// direction and its number, so that no line can be changed, repeated or left out. Lines are not encrypted. A connection
// that ends, or whose host is silent for about 20 s, gives the permits of its job back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "probes/network/doorkeeper.h"

namespace sextant::cli {

// The key in the file: 64 hexadecimal digits, readable for the user alone. makes_it: writes a new one if there is no such
// file. Throws Error(bad_input) if it is missing, malformed or readable for others, Error(machine) if it cannot be written.
[[nodiscard]] Secret permit_key(const std::string& file, bool makes_it);

// "host:4000" or "[fe80::1]:4000". Throws Error(bad_input).
[[nodiscard]] Endpoint endpoint_of(const std::string& text);

// A connection to the gateway of a permit server. Throws Error(machine) with the reason.
[[nodiscard]] Connection connect_to_permits(const Endpoint& server, const Secret& key);

// Passes lines on in both directions until one side ends, or sends something that the other did not sign. `local` is a Unix
// socket.
enum class RelaySide { job, server };
void relay_lines(int local, const Connection& remote, RelaySide side);

// Listens for relays of other hosts while it lives.
class PermitGateway {
 public:
  // port 0: any. Throws Error(machine) if it is not free.
  PermitGateway(const Secret& key, std::uint16_t port, std::filesystem::path socket);
  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }
  [[nodiscard]] Refusals refusals() const { return listener_.refusals(); }

 private:
  std::filesystem::path socket_;
  ProbeListener listener_;
};

}  // namespace sextant::cli
