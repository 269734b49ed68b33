// Tells kernels apart by their names. Which names mean what is data: data/trace/kernel_names.json.
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

  // A kernel whose name (mangled or not) holds one of `parts`, in whatever case, is of the class; the first
  // entry that has one decides.
  struct Entry {
    WorkClass work_class = WorkClass::other;  // gemm, attention, communication or other
    std::vector<std::string> parts;           // in lower case
    std::string source;                       // whose kernels they are
  };
  std::vector<Entry> entries;

  // `other` where no entry has a part of the name.
  [[nodiscard]] WorkClass class_of(std::string_view kernel) const;

  static KernelNames parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant::trace
