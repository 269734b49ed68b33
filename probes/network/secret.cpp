#include "probes/network/secret.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <vector>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

void fill_randomly(std::span<std::byte> bytes) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1) {
    throw_machine_failed("cannot generate a secret: no source of random numbers");
  }
}

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

}  // namespace

Secret Secret::fresh() {
  Secret secret;
  fill_randomly(secret.bytes_);
  return secret;
}

std::optional<Secret> Secret::from_hex(std::string_view text) {
  if (text.size() != 2 * kBytes) return std::nullopt;
  Secret secret;
  for (std::size_t i = 0; i < kBytes; ++i) {
    const auto high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    secret.bytes_[i] = static_cast<std::byte>(*high << 4 | *low);
  }
  return secret;
}

std::string Secret::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes_) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

Mac Secret::sign(std::initializer_list<std::span<const std::byte>> parts) const {
  std::vector<std::byte> whole;
  for (const auto& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  Mac mac{};
  unsigned size = 0;
  const unsigned char* done = HMAC(EVP_sha256(), bytes_.data(), static_cast<int>(bytes_.size()),
                                   reinterpret_cast<const unsigned char*>(whole.data()), whole.size(),
                                   reinterpret_cast<unsigned char*>(mac.data()), &size);
  if (done == nullptr || size != mac.size()) throw_machine_failed("OpenSSL has no HMAC-SHA256");
  return mac;
}

Secret Secret::derive(std::initializer_list<std::span<const std::byte>> parts) const {
  Secret secret;
  secret.bytes_ = sign(parts);
  return secret;
}

Nonce fresh_nonce() {
  Nonce nonce{};
  fill_randomly(nonce);
  return nonce;
}

bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace sextant::inline probes
