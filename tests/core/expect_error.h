// Runs code that must throw an Error and returns its message.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sextant/error.h"

namespace sextant {

template <typename Action>
[[nodiscard]] std::string message_of(ErrorKind kind, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

// Returns the message of the Error(bad_input) that the action throws.
template <typename Action>
[[nodiscard]] std::string refusal_of(Action&& action) {
  return message_of(ErrorKind::bad_input, action);
}

}  // namespace sextant
