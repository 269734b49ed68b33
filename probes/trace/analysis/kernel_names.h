// Classifies kernels by their names. The names are data: data/trace/kernel_names.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/document.h"
#include "sextant/json.h"

namespace sextant::trace {

enum class WorkClass { gemm, attention, communication, other, graph, copy };
inline constexpr int kWorkClassCount = 6;
[[nodiscard]] std::string_view name_of(WorkClass work_class);

struct KernelNames {
  static constexpr std::string_view kKind = "kernel_names";
  static constexpr SchemaVersion kVersion{1, 0};

  // A kernel belongs to the class if its name (mangled or not) contains one of `parts`, ignoring case; the
  // first matching entry decides.
  struct Entry {
    WorkClass work_class = WorkClass::other;  // gemm, attention, communication or other
    std::vector<std::string> parts;           // in lower case
    std::string source;                       // the origin of these kernels
  };
  std::vector<Entry> entries;

  // Returns `other` if no entry matches the name.
  [[nodiscard]] WorkClass class_of(std::string_view kernel) const;

  static KernelNames parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant::trace
