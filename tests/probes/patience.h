// The time for which tests of several threads or programs wait for an expected event.
#pragma once

namespace sextant {

inline constexpr double kPatience_s = 60;  // a busy machine must not fail a test

}  // namespace sextant
