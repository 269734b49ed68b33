#include "sextant/provenance.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <string_view>

#include "core/json_value.h"
#include "core/text.h"

namespace sextant {
namespace {

std::string& command_line() {
  static std::string line = "unknown";
  return line;
}

// Quotes the argument so that a POSIX shell returns it unchanged.
std::string shell_quoted(std::string_view argument) {
  constexpr std::string_view kPlain = "@%+=:,./-_";
  const bool plain = !argument.empty() && std::all_of(argument.begin(), argument.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
  });
  if (plain) {
    return std::string(argument);
  }
  std::string out = "'";
  for (const char c : argument) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::string host_name() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0 || buffer.front() == '\0') {
    return "unknown";
  }
  return valid_utf8(buffer.data());
}

// "2026-01-31T12:00:00Z"
bool is_time(std::string_view text) {
  constexpr std::string_view kPattern = "dddd-dd-ddTdd:dd:ddZ";
  return std::equal(text.begin(), text.end(), kPattern.begin(), kPattern.end(), [](char c, char expected) {
    return expected == 'd' ? (c >= '0' && c <= '9') : c == expected;
  });
}

}  // namespace

Provenance Provenance::parse(const JsonView& view) {
  view.allow_only({"tool_version", "command", "time_utc", "host"});
  Provenance out;
  out.tool_version = view.required("tool_version").text();
  out.command = view.required("command").any_text();
  out.time_utc = view.required("time_utc").text();
  out.host = view.required("host").text();
  if (!is_time(out.time_utc)) {
    view.required("time_utc")
        .fail("expected a time like \"2026-01-31T12:00:00Z\", got " + in_quotes(out.time_utc));
  }
  return out;
}

Json Provenance::to_json() const {
  return {{"tool_version", tool_version}, {"command", command}, {"time_utc", time_utc}, {"host", host}};
}

void set_command_line(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    line += (i == 0 ? "" : " ") + shell_quoted(argv[i]);
  }
  command_line() = line.empty() ? "unknown" : printable(valid_utf8(line));
}

Provenance current_provenance() {
  return {"sextant " SEXTANT_VERSION, command_line(), time_utc_now(), host_name()};
}

std::string time_utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> buffer{};
  std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return buffer.data();
}

}  // namespace sextant
