// TCP and UDP sockets, each wait with a deadline. Everything here throws Error(machine) with one sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "probes/network/deadline.h"

namespace sextant {

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

// Where a host can be reached: a name or an address, IPv4 or IPv6.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
  [[nodiscard]] std::string text() const;  // "10.0.0.1:4000", "[fe80::1]:4000"
};

// Both ends included; {0, 0} is any free port.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  friend bool operator==(const PortRange&, const PortRange&) = default;
};

// All sockets are non-blocking, close on exec, and without Nagle's delay.

// On all addresses of this host, IPv4 and IPv6 where there is one.
[[nodiscard]] Descriptor listen_on(const PortRange& ports, int backlog);
// Names are looked up within the deadline, which several addresses of one host share.
[[nodiscard]] Descriptor connect_to(const Endpoint& endpoint, const Deadline& deadline);
// Nothing when nobody is waiting.
[[nodiscard]] Descriptor accept_from(const Descriptor& listener);

[[nodiscard]] std::uint16_t port_of(const Descriptor& socket);
[[nodiscard]] std::string peer_address(const Descriptor& socket);  // "unknown" when it has left

// What the two connected ends of a stream say and hear, whole or an error.
void send_all(const Descriptor& socket, std::span<const std::byte> bytes, const Deadline& deadline);
void receive_all(const Descriptor& socket, std::span<std::byte> bytes, const Deadline& deadline);

// At once what can be done at once: nothing when it would wait; 0 from receive_some when the other end closed.
[[nodiscard]] std::optional<std::size_t> send_some(const Descriptor& socket, std::span<const std::byte> bytes);
[[nodiscard]] std::optional<std::size_t> receive_some(const Descriptor& socket, std::span<std::byte> bytes);

// Tells the other end that nothing more comes; what it sends is still heard.
void finish_sending(const Descriptor& socket);
// Ends both directions at once, also for a thread that waits for this connection.
void hang_up(const Descriptor& socket);
// Closing it will throw away what has not been sent yet, so that it does not disturb what comes next.
void drop_unsent_when_closed(const Descriptor& socket);

// False when the deadline was first.
[[nodiscard]] bool wait_until_readable(const Descriptor& socket, const Deadline& deadline);

// A UDP socket that talks to one peer only, or (before the peer is known) to nobody.
[[nodiscard]] Descriptor datagram_socket_beside(const Descriptor& stream,  // same local address
                                                const PortRange& ports = {});
void aim_at(const Descriptor& datagrams, const Descriptor& stream, std::uint16_t port);

// Segments that this end had to send again, of all it sent; nothing where the kernel does not say.
struct Retransmissions {
  std::uint64_t again = 0;
  std::uint64_t sent = 0;
};
[[nodiscard]] std::optional<Retransmissions> retransmissions_of(const Descriptor& socket);

}  // namespace sextant
