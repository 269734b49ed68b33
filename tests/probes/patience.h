// How long tests of several threads or programs wait for what is bound to happen.
#pragma once

namespace sextant {

inline constexpr double kPatience_s = 60;  // a busy machine must not fail a test

}  // namespace sextant
