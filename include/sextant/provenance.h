// The origin of a document: program, command, time and host.
#pragma once

#include <string>

#include "sextant/json.h"

namespace sextant {

struct Provenance {
  std::string tool_version;  // "sextant 0.1.0"
  std::string command;       // the command line
  std::string time_utc;      // ISO 8601, "2026-01-31T12:00:00Z"
  std::string host;

  friend bool operator==(const Provenance&, const Provenance&) = default;
  static Provenance parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Remembers the command line for every document that this process writes.
void set_command_line(int argc, const char* const* argv);

[[nodiscard]] Provenance current_provenance();

// The current time as ISO 8601 in UTC with seconds.
[[nodiscard]] std::string time_utc_now();

}  // namespace sextant
