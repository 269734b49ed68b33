// Merges the records of one process after another into one trace, on its clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/text.h"
#include "probes/trace/analysis/read_process.h"

namespace sextant::trace {

class Names {
 public:
  explicit Names(std::vector<std::string>& all) : all_(all) {}
  int place_of(std::string_view name) {
    if (name.empty()) return -1;
    const auto [found, is_new] = place_of_.try_emplace(std::string(name), static_cast<int>(all_.size()));
    if (is_new) all_.push_back(valid_utf8(std::string(name)));
    return found->second;
  }

 private:
  std::vector<std::string>& all_;
  std::unordered_map<std::string, int> place_of_;
};

class Merger {
 public:
  explicit Merger(Trace& trace) : trace_(trace), names_(trace.names) {}

  // `real_offset`: real minus monotonic time of the process's host.
  void add(ReadProcess&& read, std::int64_t real_offset);

 private:
  [[nodiscard]] std::int64_t host_time(std::uint64_t monotonic) const;
  [[nodiscard]] std::int64_t device_time(std::uint64_t cupti) const;
  void take(const NamedRecord& named);
  void take_work(const NamedRecord& named);
  void take_window(const Record& record, Process& process) const;
  [[nodiscard]] int device_of(int index);
  void begin_range(const NamedRecord& named);
  void end_range(const Record& record);
  void finish_ranges(std::size_t first);
  void finish_windows(Process& process) const;
  void saw(std::int64_t time) { last_ = std::max(last_, time); }

  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  Trace& trace_;
  Names names_;
  ReadProcess* read_ = nullptr;
  int process_ = 0;
  std::int64_t real_offset_ = 0;
  std::int64_t last_ = 0;
  std::map<int, int> device_of_;
  std::unordered_map<std::uint64_t, std::size_t> open_;  // ranges by their id
};

}  // namespace sextant::trace
