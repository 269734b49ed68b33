// A secret of one use: made for one probe, handed to each host on the standard input of what started it there,
// never on a command line or a disk, and forgotten with the process.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sextant {

using Nonce = std::array<std::byte, 32>;
using Mac = std::array<std::byte, 32>;

class Secret {
 public:
  static constexpr std::size_t kBytes = 32;

  // From the kernel's generator; Error(machine) when there is none.
  [[nodiscard]] static Secret fresh();
  // 64 hexadecimal digits; nothing when it is anything else.
  [[nodiscard]] static std::optional<Secret> from_hex(std::string_view text);
  [[nodiscard]] std::string hex() const;

  // HMAC-SHA256 (RFC 2104) over the parts, one after another.
  [[nodiscard]] Mac sign(std::initializer_list<std::span<const std::byte>> parts) const;
  // A secret for one connection, so that what it signs is of no use to another.
  [[nodiscard]] Secret derive(std::initializer_list<std::span<const std::byte>> parts) const;

 private:
  std::array<std::byte, kBytes> bytes_{};
};

[[nodiscard]] Nonce fresh_nonce();

// Takes as long whatever differs.
[[nodiscard]] bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b);

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace sextant
