#include "probes/journal/journal_text.h"

#include <algorithm>

#include "core/text.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr std::size_t kMaxShown = 200;

JournalHead parse_head(const JsonView& view, std::string_view kind) {
  const std::string found = view.required("journal").text();
  if (found != kind) view.fail("expected a journal " + std::string(kind) + ", got " + in_quotes(found));
  JournalHead head;
  head.started_utc = view.required("started_utc").text();
  for (const auto& [name, value] : view.members()) {
    if (name != "journal" && name != "started_utc") head.belongs_to[name] = value.json();
  }
  return head;
}

// Whether a file that ends in the middle of its first line is a journal.
bool may_become_head(std::string_view text) {
  constexpr std::string_view kBegin = "{\"journal\":";
  return text.substr(0, kBegin.size()) == kBegin.substr(0, std::min(text.size(), kBegin.size()));
}

}  // namespace

JournalHead parse_journal(const std::string& text, const std::string& file, std::string_view kind,
                          const std::function<void(const JsonView& line)>& read_line) {
  if (!may_become_head(text)) throw_bad_input(file + ": this is not a journal");
  JournalHead head;
  std::size_t begin = 0;
  int number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    ++number;
    try {
      const Json line = parse_json(std::string_view(text).substr(begin, end - begin));
      if (number == 1) {
        head = parse_head(JsonView(line), kind);
      } else {
        read_line(JsonView(line));
      }
    } catch (const Error& error) {
      throw_bad_input(file + ":" + std::to_string(number) + ": " + error.what());
    }
    begin = end + 1;
  }
  return head;
}

std::string read_journal_to_resume(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) {
    throw_bad_input("--resume: there is no " + file.string() + ", the journal of an unfinished probe");
  }
  return read_text_file(file);
}

void expect_same_probe(const JournalHead& head, const Json& belongs_to, const std::string& file) {
  if (head.started_utc.empty() || head.belongs_to == belongs_to) return;
  for (const auto& [name, value] : head.belongs_to.items()) {
    if (belongs_to.contains(name) && belongs_to[name] == value) continue;
    throw_bad_input("--resume: " + file + " belongs to a probe with different " + name + " (" +
                    shorten(value.dump(), kMaxShown) + ")");
  }
  throw_bad_input("--resume: " + file + " belongs to another probe");
}

}  // namespace sextant::inline probes
