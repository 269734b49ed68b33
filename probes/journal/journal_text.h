// A journal as it lies on the disk: one JSON object a line, only ever appended. The first says what the journal
// is and to which probe it belongs, each other one is a finished measurement; what a killed program leaves is
// whole but for its last line.
//
//   {"journal": "sextant.fleet/1.1", "started_utc": "...", what it belongs to}
//   one line for each measurement
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/json_value.h"

namespace sextant {

struct JournalHead {                 // NOLINT(bugprone-exception-escape): Json checks itself when it moves
  std::string started_utc;           // empty: it was ended before its first line was whole
  Json belongs_to = Json::object();  // what must be the same where a probe goes on
};

// Hands on each whole line after the first. `file` is for messages: Error(bad_input) with file and line for
// whatever makes no sense, another `kind` of journal too. A last line that was not finished is left out.
[[nodiscard]] JournalHead parse_journal(const std::string& text, const std::string& file, std::string_view kind,
                                        const std::function<void(const JsonView& line)>& read_line);

// The text of a journal that --resume names: Error(bad_input) where there is none.
[[nodiscard]] std::string read_journal_to_resume(const std::filesystem::path& file);

// Error(bad_input) where the journal belongs to another probe; one that has no first line belongs to any.
void expect_same_probe(const JournalHead& head, const Json& belongs_to, const std::string& file);

}  // namespace sextant
