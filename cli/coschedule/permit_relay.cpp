#include "cli/coschedule/permit_relay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "planner/coschedule/control/local_socket.h"
#include "probes/network/wire.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

using coschedule::OpenFile;

constexpr double kSend_s = 10;          // for a line of a few bytes
constexpr std::size_t kMaxLine = 2048;  // a request of a job, and its signature
constexpr std::size_t kMacDigits = 2 * sizeof(Mac);

std::string signature(const Secret& key, std::string_view direction, std::uint64_t number,
                      std::string_view line) {
  std::array<std::byte, 8> bytes{};
  store_number(bytes, number);
  return key.derive({bytes_of(direction), bytes, bytes_of(line)}).hex();
}

// Takes the first whole line out of what was received.
std::optional<std::string> next_line(std::string& received) {
  const std::size_t end = received.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = received.substr(0, end);
  received.erase(0, end + 1);
  return line;
}

// The line without its signature; empty if that is wrong.
std::optional<std::string> checked(const Secret& key, std::string_view direction, std::uint64_t number,
                                   const std::string& signed_line) {
  if (signed_line.size() < kMacDigits + 1) return std::nullopt;
  const std::size_t size = signed_line.size() - kMacDigits - 1;
  std::string line = signed_line.substr(0, size);
  const std::string wanted = " " + signature(key, direction, number, line);
  if (!is_equal(bytes_of(wanted), bytes_of(std::string_view(signed_line).substr(size)))) return std::nullopt;
  return line;
}

bool send_line(int local, const std::string& line) {
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::send(local, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

// A host that has lost its power or its network sends no end of the connection.
void notice_silence(const Descriptor& socket) {
  const int on = 1, idle_s = 5, interval_s = 5, probes = 3;
  const unsigned unsent_ms = 20'000;
  const int number = socket.number();
  if (::setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) != 0 ||
      ::setsockopt(number, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s) != 0 ||
      ::setsockopt(number, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s) != 0 ||
      ::setsockopt(number, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes) != 0 ||
      ::setsockopt(number, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof unsent_ms) != 0)
    throw_machine_failed(std::string("cannot watch a connection: ") + std::strerror(errno));
}

// Lines in both directions.
class Relay {
 public:
  Relay(int local, const Connection& remote, RelaySide side)
      : local_(local),
        remote_(remote),
        outward_(side == RelaySide::job ? "sextant permit request" : "sextant permit answer"),
        inward_(side == RelaySide::job ? "sextant permit answer" : "sextant permit request") {}

  void run() {
    while (true) {
      std::array<pollfd, 2> polled{{{local_, POLLIN, 0}, {remote_.socket.number(), POLLIN, 0}}};
      if (::poll(polled.data(), polled.size(), -1) < 0) {
        if (errno == EINTR) continue;
        return;
      }
      if (polled[0].revents != 0 && !pass_outward()) return;
      if (polled[1].revents != 0 && !pass_inward()) return;
    }
  }

 private:
  bool pass_outward() {
    std::array<char, kMaxLine> buffer{};
    const ssize_t count = ::recv(local_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (count <= 0) return false;
    from_local_.append(buffer.data(), static_cast<std::size_t>(count));
    while (const std::optional<std::string> line = next_line(from_local_)) {
      const std::string whole = *line + " " + signature(remote_.key, outward_, sent_++, *line) + "\n";
      send_all(remote_.socket, bytes_of(whole), Deadline::in(kSend_s));
    }
    return from_local_.size() <= kMaxLine;
  }

  bool pass_inward() {
    std::array<std::byte, kMaxLine> buffer{};
    const std::optional<std::size_t> count = receive_some(remote_.socket, buffer);
    if (!count) return true;
    if (*count == 0) return false;
    from_remote_.append(reinterpret_cast<const char*>(buffer.data()), *count);
    while (const std::optional<std::string> signed_line = next_line(from_remote_)) {
      const std::optional<std::string> line = checked(remote_.key, inward_, received_++, *signed_line);
      if (!line || !send_line(local_, *line + "\n")) return false;
    }
    return from_remote_.size() <= kMaxLine;
  }

  int local_;
  const Connection& remote_;
  std::string_view outward_, inward_;
  std::string from_local_, from_remote_;
  std::uint64_t sent_ = 0, received_ = 0;
};

void write_key(const std::string& file, const Secret& key) {
  const OpenFile made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const std::string text = key.hex() + "\n";
  if (!made.is_open() || ::write(made.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw_machine_failed("cannot write " + file + ": " + std::strerror(errno));
}

}  // namespace

Secret permit_key(const std::string& file, bool makes_it) {
  if (file.empty()) throw_bad_input("--key-file is required, a file with the key of the permits");
  struct stat of {};
  if (::stat(file.c_str(), &of) != 0) {
    if (!makes_it) throw_bad_input(file + ": there is no such key; coschedule run --listen writes one");
    const Secret fresh = Secret::fresh();
    write_key(file, fresh);
    return fresh;
  }
  if ((of.st_mode & 0077U) != 0)
    throw_bad_input(file + ": other users may read this key; chmod 600 it, or make a new one");
  std::string text = read_text_file(file);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::optional<Secret> key = Secret::from_hex(text);
  if (!key) throw_bad_input(file + ": expected a key of 64 hexadecimal digits");
  return *key;
}

Endpoint endpoint_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  char* end = nullptr;
  const long port = colon == std::string::npos ? 0 : std::strtol(text.c_str() + colon + 1, &end, 10);
  constexpr long kMaxPort = 65535;
  if (colon == std::string::npos || colon == 0 || end == text.c_str() + colon + 1 || *end != '\0' || port < 1 ||
      port > kMaxPort)
    throw_bad_input("--server: expected HOST:PORT, got \"" + text + "\"");
  std::string address = text.substr(0, colon);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']')
    address = address.substr(1, address.size() - 2);
  return {address, static_cast<std::uint16_t>(port)};
}

Connection connect_to_permits(const Endpoint& server, const Secret& key) {
  constexpr double kConnect_s = 10;
  try {
    Connection connection = request_service(server, key, {Service::permits, 0}, Deadline::in(kConnect_s));
    notice_silence(connection.socket);
    return connection;
  } catch (const AnswerRefused& error) {
    // A server says nothing to a host with another key, and hangs up.
    throw_machine_failed(server.text() + ": " + error.what() +
                         "; most likely --key-file is not the key of coschedule run there");
  } catch (const ConnectionClosed& error) {
    throw_machine_failed(
        server.text() + ": " + error.what() +
        " before any key was shown; this is no coschedule run --listen, or it has too many connections");
  }
}

void relay_lines(int local, const Connection& remote, RelaySide side) { Relay(local, remote, side).run(); }

PermitGateway::PermitGateway(const Secret& key, std::uint16_t port, std::filesystem::path socket)
    : socket_(std::move(socket)),
      listener_(key, {port, port}, [this](const Connection& remote, const Request& request) {
        if (request.service != Service::permits) return;
        notice_silence(remote.socket);
        const OpenFile local = coschedule::connect_at(socket_);
        relay_lines(local.number(), remote, RelaySide::server);
      }) {}

}  // namespace sextant::cli
