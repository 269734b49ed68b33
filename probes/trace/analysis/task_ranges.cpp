#include "probes/trace/analysis/task_ranges.h"

#include <algorithm>

#include "core/json_value.h"

namespace sextant::trace {
namespace {

bool matches_any(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [text](const std::string& pattern) { return matches(pattern, text); });
}

std::vector<std::string> texts(const JsonView& view) {
  std::vector<std::string> all;
  for (const JsonView& item : view.items()) all.push_back(item.text());
  return all;
}

}  // namespace

// Greedy with one step back to the last star: linear but for that.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  std::size_t star = std::string_view::npos, after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::optional<std::string> TaskRanges::task_of(std::string_view range) const {
  for (const Entry& entry : tasks) {
    if (matches_any(entry.ranges, range)) return entry.task;
  }
  return std::nullopt;
}

bool TaskRanges::is_iteration(std::string_view range) const { return matches_any(iterations, range); }

TaskRanges TaskRanges::parse(const JsonView& view) {
  view.allow_only({"tasks", "iterations"});
  TaskRanges mapping;
  for (const JsonView& item : view.required("tasks").items()) {
    item.allow_only({"task", "ranges", "source"});
    Entry entry;
    entry.task = item.required("task").text();
    entry.ranges = texts(item.required("ranges"));
    if (const auto source = item.optional("source")) entry.source = source->text();
    mapping.tasks.push_back(std::move(entry));
  }
  if (mapping.tasks.empty()) view.required("tasks").fail("expected at least one task");
  if (const auto iterations = view.optional("iterations")) mapping.iterations = texts(*iterations);
  return mapping;
}

Json TaskRanges::to_json() const {
  Json all = Json::array();
  for (const Entry& entry : tasks) {
    Json item = {{"task", entry.task}, {"ranges", entry.ranges}};
    if (!entry.source.empty()) item["source"] = entry.source;
    all.push_back(std::move(item));
  }
  return {{"tasks", std::move(all)}, {"iterations", iterations}};
}

}  // namespace sextant::trace
