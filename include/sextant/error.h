// Errors that the user can act on.
//
// Sextant distinguishes three kinds of failure:
//   * a bug in Sextant: SEXTANT_CHECK stops the program with the expression;
//   * the program cannot go on: an Error with a kind and one sentence, caught in main;
//   * an ordinary outcome (waived, not converged, infeasible): an enum in the
//     returned value, never an exception.
#pragma once

#include <stdexcept>
#include <string>

namespace sextant {

// The kind decides the exit code: bad_input 2, machine 3.
enum class ErrorKind { bad_input, machine };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// Throws Error(bad_input): the user gave a file, a value or a combination of options that cannot be used.
[[noreturn]] void throw_bad_input(const std::string& message);

// Throws Error(machine): a device, a host, a launcher or the disk failed.
[[noreturn]] void throw_machine_failed(const std::string& message);

namespace detail {
[[noreturn]] void check_failed(const char* expression, const char* file, int line);
}  // namespace detail

}  // namespace sextant

// SEXTANT_CHECK is for bugs only, never for user input. It is active in every build type.
#define SEXTANT_CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::sextant::detail::check_failed(#expression, __FILE__, __LINE__))
