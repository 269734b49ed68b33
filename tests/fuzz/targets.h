// The parsers that are fuzzed, each with a property that holds for any bytes.
#pragma once

#include <span>
#include <string_view>

namespace sextant {

struct FuzzTarget {
  std::string_view name;  // "logs"
  // Returns the number of readers that accepted the bytes. Every other reader refused them with Error(bad_input);
  // anything else, or an accepted value that contradicts itself, ends the program.
  int (*accepts)(std::string_view bytes);
  bool is_lenient = false;  // its readers leave out what they cannot read, and keep the rest
};

[[nodiscard]] std::span<const FuzzTarget> fuzz_targets();
[[nodiscard]] const FuzzTarget* find_fuzz_target(std::string_view name);  // null: there is none

// Reads the bytes as every kind of document; one that is accepted is written and read back as the same.
[[nodiscard]] int accepts_documents(std::string_view bytes);

}  // namespace sextant
