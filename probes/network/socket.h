// TCP and UDP sockets, each wait with a deadline. All functions throw Error(machine) with one sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "probes/network/deadline.h"
#include "sextant/error.h"

namespace sextant::inline probes {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

// The address of a host: a name or an address, IPv4 or IPv6.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
  [[nodiscard]] std::string text() const;  // "10.0.0.1:4000", "[fe80::1]:4000"
};

// Includes both ends; {0, 0} is any free port.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  friend bool operator==(const PortRange&, const PortRange&) = default;
};

// All sockets are non-blocking, close on exec, and without Nagle's delay.

// Listens on all addresses of this host, IPv4 and IPv6 if it is available.
[[nodiscard]] Descriptor listen_on(const PortRange& ports, int backlog);
// Resolves names within the deadline, which several addresses of one host share.
[[nodiscard]] Descriptor connect_to(const Endpoint& endpoint, const Deadline& deadline);
// Returns nullopt if no connection is pending.
[[nodiscard]] Descriptor accept_from(const Descriptor& listener);

[[nodiscard]] std::uint16_t port_of(const Descriptor& socket);
[[nodiscard]] std::string peer_address(const Descriptor& socket);  // "unknown" if it has closed the connection

// The other end closed the connection while something was expected of it.
class ConnectionClosed : public Error {
 public:
  explicit ConnectionClosed(const std::string& message) : Error(ErrorKind::machine, message) {}
};

// Sends or receives the whole span on a connected stream, or throws; receive_all throws ConnectionClosed if there is no more.
void send_all(const Descriptor& socket, std::span<const std::byte> bytes, const Deadline& deadline);
void receive_all(const Descriptor& socket, std::span<std::byte> bytes, const Deadline& deadline);

// Never waits: returns nullopt if it would block; 0 from receive_some if the other end closed.
[[nodiscard]] std::optional<std::size_t> send_some(const Descriptor& socket, std::span<const std::byte> bytes);
[[nodiscard]] std::optional<std::size_t> receive_some(const Descriptor& socket, std::span<std::byte> bytes);

// Tells the other end that no more data comes; its data is still received.
void finish_sending(const Descriptor& socket);
// Shuts down both directions at once, also for a thread that waits on this connection.
void hang_up(const Descriptor& socket);
// Makes close() discard unsent data, so that it does not disturb the next measurement.
void drop_unsent_when_closed(const Descriptor& socket);

// Returns false if the deadline came first.
[[nodiscard]] bool wait_until_readable(const Descriptor& socket, const Deadline& deadline);

// A UDP socket that communicates with one peer only, or (before the peer is known) with none.
[[nodiscard]] Descriptor datagram_socket_beside(const Descriptor& stream,  // same local address
                                                const PortRange& ports = {});
void aim_at(const Descriptor& datagrams, const Descriptor& stream, std::uint16_t port);

// Segments that this end sent again, and all that it sent; nullopt if the kernel does not report them.
struct Retransmissions {
  std::uint64_t again = 0;
  std::uint64_t sent = 0;
};
[[nodiscard]] std::optional<Retransmissions> retransmissions_of(const Descriptor& socket);

}  // namespace sextant::inline probes
