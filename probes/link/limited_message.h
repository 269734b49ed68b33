// A message whose sender or receiver may never come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "probes/comm/communicator.h"

namespace sextant {

// Where a message that was given up may still be under way, its memory stays for as long as the process does.
class LimitedMessage {
 public:
  explicit LimitedMessage(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  explicit LimitedMessage(std::size_t bytes) : bytes_(bytes) {}
  ~LimitedMessage();
  LimitedMessage(const LimitedMessage&) = delete;
  LimitedMessage& operator=(const LimitedMessage&) = delete;

  // False when the other rank did not do its part within the limit: then the message is not to be used again.
  [[nodiscard]] bool send(Communicator& ranks, int to, int tag, double limit_s);
  [[nodiscard]] bool receive(Communicator& ranks, int from, int tag, double limit_s);

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  bool is_given_up_ = false;
};

// Text of any length, as two messages with this tag and the next.
[[nodiscard]] bool send_text(Communicator& ranks, const std::string& text, int to, int tag, double limit_s);
[[nodiscard]] bool receive_text(Communicator& ranks, std::string& text, int from, int tag, double limit_s);

// Waits for a message without using its core; false when none came within the limit.
[[nodiscard]] bool wait_for_message(Communicator& ranks, int from, int tag, double limit_s);

}  // namespace sextant
