#include "planner/coschedule/control/local_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

// The name of a socket that does not listen yet.
std::filesystem::path unready(const std::filesystem::path& socket) { return socket.native() + "~"; }

sockaddr_un address_of(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = socket.native();
  SEXTANT_CHECK(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

[[noreturn]] void fail(const std::filesystem::path& socket, const char* what) {
  throw_machine_failed(socket.string() + ": " + what + ": " + std::strerror(errno));
}

bool is_listening(const sockaddr_un& address) {
  const OpenFile probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(probe.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void check_length(const std::filesystem::path& socket) {
  constexpr std::size_t kMax = sizeof sockaddr_un{}.sun_path - 2;  // its end, and the sign of unready()
  if (socket.empty() || socket.native().size() > kMax)
    throw_bad_input("--socket: a path of 1 to " + std::to_string(kMax) + " characters is needed, got " +
                    std::to_string(socket.native().size()));
}

}  // namespace

OpenFile::~OpenFile() {
  if (number_ >= 0) ::close(number_);
}

OpenFile listen_at(const std::filesystem::path& socket) {
  check_length(socket);
  const sockaddr_un address = address_of(unready(socket));
  if (std::filesystem::is_socket(unready(socket)))
    std::filesystem::remove(unready(socket));  // of a killed server
  if (std::filesystem::exists(socket)) {
    if (!std::filesystem::is_socket(socket)) throw_bad_input(socket.string() + ": exists and is no socket");
    if (is_listening(address_of(socket)))
      throw_bad_input(socket.string() + ": another permit server listens there");
    std::filesystem::remove(socket);
  }
  OpenFile listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.number() < 0) fail(socket, "no socket");
  // The mode holds from the first moment on: the socket is made under a mask.
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(mask);
  if (bound != 0) fail(socket, "cannot be made");
  if (::listen(listener.number(), 64) != 0) fail(socket, "does not listen");
  if (::rename(unready(socket).c_str(), socket.c_str()) != 0) fail(socket, "cannot be made");
  return listener;
}

OpenFile accept_own_user(const OpenFile& listener) {
  OpenFile file(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!file.is_open()) return OpenFile();
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool is_known = ::getsockopt(file.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (!is_known || (peer.uid != ::geteuid() && peer.uid != 0)) return OpenFile();
  return file;
}

OpenFile connect_at(const std::filesystem::path& socket) {
  check_length(socket);
  const sockaddr_un address = address_of(socket);
  OpenFile file(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!file.is_open() ||
      ::connect(file.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail(socket, "no permit server");
  return file;
}

}  // namespace sextant::coschedule
