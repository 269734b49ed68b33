// Exit codes of the program.
#pragma once

namespace sextant::cli {

inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;  // infeasible, less accurate than requested
inline constexpr int kBadInput = 2;    // or wrong usage
inline constexpr int kMachineFailed = 3;

}  // namespace sextant::cli
