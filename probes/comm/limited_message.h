// A message with a timeout, whose sender or receiver may never come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "probes/comm/communicator.h"

namespace sextant::inline probes {

// If a message was given up and may still be in transit, its memory stays for the lifetime of the process.
class LimitedMessage {
 public:
  explicit LimitedMessage(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  explicit LimitedMessage(std::size_t bytes) : bytes_(bytes) {}
  ~LimitedMessage();
  LimitedMessage(const LimitedMessage&) = delete;
  LimitedMessage& operator=(const LimitedMessage&) = delete;

  // Returns false if the other rank missed the limit: then the message must not be used again.
  [[nodiscard]] bool send(Communicator& ranks, int to, int tag, double limit_s);
  [[nodiscard]] bool receive(Communicator& ranks, int from, int tag, double limit_s);

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  bool is_given_up_ = false;
};

// Sends text of any length, as two messages with this tag and the next.
[[nodiscard]] bool send_text(Communicator& ranks, const std::string& text, int to, int tag, double limit_s);
[[nodiscard]] bool receive_text(Communicator& ranks, std::string& text, int from, int tag, double limit_s);

// Waits for a message without using its core; returns false if none came within the limit.
[[nodiscard]] bool wait_for_message(Communicator& ranks, int from, int tag, double limit_s);

}  // namespace sextant::inline probes
