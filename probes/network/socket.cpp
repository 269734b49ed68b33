#include "probes/network/socket.h"

#include <linux/tcp.h>  // tcp_info with the counts that <netinet/tcp.h> lacks
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "probes/network/addresses.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

std::string reason(int error) {
  return std::strerror(error);
}  // NOLINT(concurrency-mt-unsafe): glibc's is safe

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

void set_up_stream(const Descriptor& socket) {
  const int on = 1;
  static_cast<void>(setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}

// Waits for `events`; false when the deadline was first.
bool wait_for(int number, short events, const Deadline& deadline) {
  while (true) {
    pollfd entry{number, events, 0};
    const int ready = poll(&entry, 1, deadline.left_ms());
    if (ready > 0) return true;
    if (ready == 0 && deadline.is_over()) return false;
    if (ready < 0 && errno != EINTR) throw_machine_failed("poll failed: " + reason(errno));
  }
}

// Empty text when connected.
std::string try_to_connect(const Descriptor& socket, const addrinfo& address, const Deadline& deadline) {
  if (connect(socket.number(), address.ai_addr, address.ai_addrlen) == 0) return "";
  if (errno != EINPROGRESS) return reason(errno);
  if (!wait_for(socket.number(), POLLOUT, deadline)) return "no answer";
  int error = 0;
  socklen_t size = sizeof error;
  static_cast<void>(getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size));
  return error == 0 ? "" : reason(error);
}

// Any address of the family; a socket of IPv6 takes IPv4 too.
Descriptor try_to_listen(int family, std::uint16_t port, int backlog) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return {};
  const int on = 1, off = 0;
  static_cast<void>(setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  sockaddr_storage address{};
  socklen_t size = 0;
  if (family == AF_INET6) {
    static_cast<void>(setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off));
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(port);
    std::memcpy(&address, &any, size = sizeof any);
  } else {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_port = htons(port);
    std::memcpy(&address, &any, size = sizeof any);
  }
  if (bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  if (listen(socket.number(), backlog) != 0) return {};
  return socket;
}

sockaddr_storage address_of(const Descriptor& socket, int (*which)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (which(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw_machine_failed("a connection has no address: " + reason(errno));
  }
  return address;
}

// The place of the port in the structure, for both families.
std::uint16_t& port_in(sockaddr_storage& address) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return reinterpret_cast<sockaddr_in*>(&address)->sin_port;
}

socklen_t size_of(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

std::string Endpoint::text() const {
  const bool is_v6 = address.find(':') != std::string::npos;
  return (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

Descriptor listen_on(const PortRange& ports, int backlog) {
  for (int port = ports.first; port <= ports.last; ++port) {
    for (const int family : {AF_INET6, AF_INET}) {
      Descriptor socket = try_to_listen(family, static_cast<std::uint16_t>(port), backlog);
      if (socket.is_open()) return socket;
    }
  }
  throw_machine_failed("cannot listen on " +
                       (ports.first == 0
                            ? "any port"
                            : "ports " + std::to_string(ports.first) + " to " + std::to_string(ports.last)) +
                       ": " + reason(errno));
}

Descriptor connect_to(const Endpoint& endpoint, const Deadline& deadline) {
  const Addresses addresses = look_up(endpoint, deadline);
  std::string why = "no address";
  int left = count(addresses.get());
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    Descriptor socket(::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    // One that nobody answers at leaves time for the others.
    const Deadline share = deadline.or_in(deadline.left_s() / left--);
    why = socket.is_open() ? try_to_connect(socket, *address, share) : reason(errno);
    if (!why.empty()) continue;
    set_up_stream(socket);
    return socket;
  }
  throw_machine_failed("cannot connect to " + endpoint.text() + ": " + why);
}

Descriptor accept_from(const Descriptor& listener) {
  Descriptor socket(accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) set_up_stream(socket);
  return socket;
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_storage address = address_of(socket, getsockname);
  return ntohs(port_in(address));
}

std::string peer_address(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char text[NI_MAXHOST];
  if (getpeername(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text, sizeof text, nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "unknown";
  }
  return text;
}

std::optional<std::size_t> send_some(const Descriptor& socket, std::span<const std::byte> bytes) {
  const ssize_t sent = send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (would_wait(errno)) return std::nullopt;
  throw_machine_failed("the connection broke while sending: " + reason(errno));
}

std::optional<std::size_t> receive_some(const Descriptor& socket, std::span<std::byte> bytes) {
  const ssize_t received = recv(socket.number(), bytes.data(), bytes.size(), 0);
  if (received >= 0) return static_cast<std::size_t>(received);
  if (would_wait(errno)) return std::nullopt;
  if (errno == ECONNRESET) throw ConnectionClosed("the other end closed the connection: " + reason(errno));
  throw_machine_failed("the connection broke while receiving: " + reason(errno));
}

void send_all(const Descriptor& socket, std::span<const std::byte> bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    if (const auto sent = send_some(socket, bytes)) {
      bytes = bytes.subspan(*sent);
    } else if (!wait_for(socket.number(), POLLOUT, deadline)) {
      throw_machine_failed("timeout: the other end received nothing");
    }
  }
}

void receive_all(const Descriptor& socket, std::span<std::byte> bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    const auto received = receive_some(socket, bytes);
    if (received == std::size_t{0}) throw ConnectionClosed("the other end closed the connection");
    if (received) {
      bytes = bytes.subspan(*received);
    } else if (!wait_for(socket.number(), POLLIN, deadline)) {
      throw_machine_failed("timeout: the other end sent nothing");
    }
  }
}

void finish_sending(const Descriptor& socket) { static_cast<void>(shutdown(socket.number(), SHUT_WR)); }

void hang_up(const Descriptor& socket) { static_cast<void>(shutdown(socket.number(), SHUT_RDWR)); }

void drop_unsent_when_closed(const Descriptor& socket) {
  const linger at_once{1, 0};
  static_cast<void>(setsockopt(socket.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
}

bool wait_until_readable(const Descriptor& socket, const Deadline& deadline) {
  return wait_for(socket.number(), POLLIN, deadline);
}

Descriptor datagram_socket_beside(const Descriptor& stream, const PortRange& ports) {
  sockaddr_storage address = address_of(stream, getsockname);
  Descriptor socket(::socket(address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  for (int port = ports.first; socket.is_open() && port <= ports.last; ++port) {
    port_in(address) = htons(static_cast<std::uint16_t>(port));
    if (bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), size_of(address)) == 0)
      return socket;
  }
  throw_machine_failed("cannot open a socket for datagrams: " + reason(errno));
}

void aim_at(const Descriptor& datagrams, const Descriptor& stream, std::uint16_t port) {
  sockaddr_storage address = address_of(stream, getpeername);
  port_in(address) = htons(port);
  if (connect(datagrams.number(), reinterpret_cast<const sockaddr*>(&address), size_of(address)) != 0) {
    throw_machine_failed("cannot send datagrams: " + reason(errno));
  }
}

std::optional<Retransmissions> retransmissions_of(const Descriptor& socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket.number(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_data_segs_out) + sizeof info.tcpi_data_segs_out) return std::nullopt;
  return Retransmissions{info.tcpi_total_retrans, info.tcpi_data_segs_out};
}

}  // namespace sextant::inline probes
