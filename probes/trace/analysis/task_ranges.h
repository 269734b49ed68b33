// Which range of a program is which task of the workflow. The frameworks' names are data:
// data/trace/task_ranges.json; `sextant trace --tasks FILE` takes others.
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
    std::string task;  // as in the workflow, "weight_sync", or any other name for what is no task
    std::vector<std::string> ranges;  // names; "*" stands for any characters
    std::string source;               // whose names they are
  };
  std::vector<Entry> tasks;             // the first that has the name decides
  std::vector<std::string> iterations;  // ranges that are whole iterations; "*" as above

  [[nodiscard]] std::optional<std::string> task_of(std::string_view range) const;
  [[nodiscard]] bool is_iteration(std::string_view range) const;

  static TaskRanges parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Whether the whole text is of the pattern, where "*" stands for any characters, also none.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

}  // namespace sextant::trace
