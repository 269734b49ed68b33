// The format of a journal on disk: one JSON object per line, append-only. The first line says what the journal
// is and to which probe it belongs, each other one is a finished measurement; after a crash only the last line
// can be incomplete.
//
//   {"journal": "sextant.fleet/1.1", "started_utc": "...", what it belongs to}
//   one line for each measurement
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/json_value.h"

namespace sextant::inline probes {

struct JournalHead {                 // NOLINT(bugprone-exception-escape): Json checks itself when it moves
  std::string started_utc;           // empty: the file ended before its first line was complete
  Json belongs_to = Json::object();  // must be equal to continue a probe
};

// Passes on each complete line after the first. `file` is for messages: throws Error(bad_input) with file and
// line for invalid content or another `kind` of journal. An unfinished last line is ignored.
[[nodiscard]] JournalHead parse_journal(const std::string& text, const std::string& file, std::string_view kind,
                                        const std::function<void(const JsonView& line)>& read_line);

// Returns the text of a journal for --resume: throws Error(bad_input) if there is none.
[[nodiscard]] std::string read_journal_to_resume(const std::filesystem::path& file);

// Throws Error(bad_input) if the journal belongs to another probe; without a first line it matches any.
void expect_same_probe(const JournalHead& head, const Json& belongs_to, const std::string& file);

}  // namespace sextant::inline probes
