// Builds a trace from profiles of other tools.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "probes/trace/analysis/trace.h"

namespace sextant::trace {

class TraceBuilder {
 public:
  // Work and ranges that are added later are of this process.
  void begin_process(const std::string& file, const std::string& host);
  [[nodiscard]] Process& process() { return trace_.processes.back(); }
  // The name of a device of the process, by its number there.
  void name_device(std::int64_t number, const std::string& name) { device_names_[number] = name; }

  void add_range(const Span& time, const std::string& name, std::int64_t thread);
  // `work` without device and name.
  void add_work(DeviceWork work, std::int64_t device, const std::string& name);
  void end_process();

  // The trace with its origin at the first event.
  [[nodiscard]] Trace finished();

 private:
  void extend(const Span& time);
  int device_index(std::int64_t number);
  int name_index(const std::string& name);

  Trace trace_;
  std::map<std::string, int> names_;
  std::map<std::int64_t, int> devices_;  // of the process, by their number in it
  std::map<std::int64_t, std::string> device_names_;
  Span whole_;  // of the process
};

}  // namespace sextant::trace
