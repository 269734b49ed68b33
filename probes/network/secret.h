// A one-time secret: made for one probe, passed to each host on the standard input of the program started
// there, never on a command line or a disk, and lost with the process.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sextant::inline probes {

using Nonce = std::array<std::byte, 32>;
using Mac = std::array<std::byte, 32>;

class Secret {
 public:
  static constexpr std::size_t kBytes = 32;

  // Generates one with the kernel's generator; throws Error(machine) if there is none.
  [[nodiscard]] static Secret fresh();
  // Parses 64 hexadecimal digits; nullopt for anything else.
  [[nodiscard]] static std::optional<Secret> from_hex(std::string_view text);
  [[nodiscard]] std::string hex() const;

  // Returns the HMAC-SHA256 (RFC 2104) over the parts, one after another.
  [[nodiscard]] Mac sign(std::initializer_list<std::span<const std::byte>> parts) const;
  // Returns a secret for one connection, so that its signatures are useless on another.
  [[nodiscard]] Secret derive(std::initializer_list<std::span<const std::byte>> parts) const;

 private:
  std::array<std::byte, kBytes> bytes_{};
};

[[nodiscard]] Nonce fresh_nonce();

// Compares in constant time.
[[nodiscard]] bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b);

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace sextant::inline probes
