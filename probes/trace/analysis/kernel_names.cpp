#include "probes/trace/analysis/kernel_names.h"

#include <algorithm>
#include <array>

#include "core/json_value.h"

namespace sextant::trace {
namespace {

constexpr std::array<std::string_view, kWorkClassCount> kNames{"gemm",  "attention", "communication",
                                                               "other", "graph",     "copy"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace

std::string_view name_of(WorkClass work_class) { return kNames[static_cast<std::size_t>(work_class)]; }

WorkClass KernelNames::class_of(std::string_view kernel) const {
  const std::string name = lower(kernel);
  for (const Entry& entry : entries) {
    for (const std::string& part : entry.parts) {
      if (name.find(part) != std::string::npos) return entry.work_class;
    }
  }
  return WorkClass::other;
}

KernelNames KernelNames::parse(const JsonView& view) {
  view.allow_only({"entries"});
  KernelNames names;
  for (const JsonView& item : view.required("entries").items()) {
    item.allow_only({"class", "parts", "source"});
    Entry entry;
    entry.work_class =
        static_cast<WorkClass>(item.required("class").one_of({kNames[0], kNames[1], kNames[2], kNames[3]}));
    for (const JsonView& part : item.required("parts").items()) entry.parts.push_back(lower(part.text()));
    entry.source = item.required("source").text();
    names.entries.push_back(std::move(entry));
  }
  return names;
}

Json KernelNames::to_json() const {
  Json all = Json::array();
  for (const Entry& entry : entries) {
    all.push_back({{"class", name_of(entry.work_class)}, {"parts", entry.parts}, {"source", entry.source}});
  }
  return {{"entries", std::move(all)}};
}

}  // namespace sextant::trace
