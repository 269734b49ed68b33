// Unix sockets of one user: whoever else connects is refused.
#pragma once

#include <filesystem>
#include <utility>

namespace sextant::coschedule {

// Owns a file descriptor.
class OpenFile {
 public:
  explicit OpenFile(int number = -1) : number_(number) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

// A socket with mode 0600 that listens without blocking; it gets its name when it listens, so clients may connect as soon
// as it is there. A socket that a killed server left is replaced. Throws Error(bad_input) if the path is too long or
// taken, Error(machine) if the socket cannot be made.
[[nodiscard]] OpenFile listen_at(const std::filesystem::path& socket);
// A connection of a process of this user or of root, which does not block; not open if none waits or a stranger did.
[[nodiscard]] OpenFile accept_own_user(const OpenFile& listener);
// A connection that blocks. Throws Error(machine) if no server listens there.
[[nodiscard]] OpenFile connect_at(const std::filesystem::path& socket);

}  // namespace sextant::coschedule
