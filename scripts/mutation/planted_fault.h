// Whether the fault of this number is to run. scripts/mutate adds this file to a copy of the sources.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <type_traits>

// Faults may look odd; only errors matter.
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Warray-bounds"

namespace sextant {
namespace planting {

inline constexpr int kMaxFaults = 10000;
inline const char* const kReachedFile = std::getenv("SEXTANT_REACHED_FAULTS");  // nullptr: do not record
inline const int kChosen = [] {
  const char* number = std::getenv("SEXTANT_PLANTED_FAULT");
  return number == nullptr ? 0 : std::atoi(number);
}();
inline std::atomic<bool> reached[kMaxFaults];

// One line per number and process, written at once because tests may end without destructors.
inline void record(int number) {
  if (kReachedFile == nullptr || reached[number].exchange(true)) return;
  const std::string line = std::to_string(number) + "\n";
  const int file = ::open(kReachedFile, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
  ::close(file);
}

inline bool is_chosen(int number) {
  record(number);
  return number == kChosen;
}

}  // namespace planting

constexpr bool planted(int number) {
  if (std::is_constant_evaluated()) return false;
  return planting::is_chosen(number);
}

}  // namespace sextant
