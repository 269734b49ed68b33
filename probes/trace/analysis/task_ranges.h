// Maps the ranges of a program to the tasks of the workflow. The frameworks' names are data:
// data/trace/task_ranges.json; `sextant trace --tasks FILE` uses others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/document.h"
#include "sextant/json.h"

namespace sextant::trace {

struct TaskRanges {
  static constexpr std::string_view kKind = "task_ranges";
  static constexpr SchemaVersion kVersion{1, 0};

  struct Entry {
    std::string task;  // as in the workflow, "weight_sync", or any other name for a range that is no task
    std::vector<std::string> ranges;  // names; "*" stands for any characters
    std::string source;               // the origin of these names
  };
  std::vector<Entry> tasks;             // the first one with a matching name decides
  std::vector<std::string> iterations;  // ranges that are whole iterations; "*" as above

  [[nodiscard]] std::optional<std::string> task_of(std::string_view range) const;
  [[nodiscard]] bool is_iteration(std::string_view range) const;

  static TaskRanges parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Whether the whole text matches the pattern, in which "*" stands for any characters, also none.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

}  // namespace sextant::trace
