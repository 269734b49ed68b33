#include "reports/import/launch_in_log.h"

#include <algorithm>
#include <cctype>

namespace sextant::inline reports {
namespace {

// Behind "ESC[36m(main pid=7)ESC[0m ", "$ " and "+ ".
std::string_view command_of(std::string_view line) {
  while (!line.empty()) {
    const std::size_t close = line.substr(0, 120).find(')');
    if (line.front() == '\x1b' && line.find('m') != std::string_view::npos) {
      line.remove_prefix(line.find('m') + 1);
    } else if (line.front() == '(' && close != std::string_view::npos &&
               line.substr(0, close).find("pid=") != std::string_view::npos) {
      line.remove_prefix(close + 1);
    } else if (std::string_view("+$#> \t").find(line.front()) != std::string_view::npos) {
      line.remove_prefix(1);
    } else {
      break;
    }
  }
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

bool is_assignment(std::string_view line) {
  if (line.starts_with("export ")) line.remove_prefix(7);
  std::size_t name = 0;
  while (name < line.size() && (std::isalnum(static_cast<unsigned char>(line[name])) != 0 || line[name] == '_'))
    ++name;
  return name > 0 && name < line.size() && line[name] == '=' &&
         std::isdigit(static_cast<unsigned char>(line.front())) == 0;
}

// A quote or bracket that is not closed would take the rest of the log.
bool is_closed(std::string_view line) {
  return std::count(line.begin(), line.end(), '"') % 2 == 0 &&
         std::count(line.begin(), line.end(), '\'') % 2 == 0 &&
         std::count(line.begin(), line.end(), '(') == std::count(line.begin(), line.end(), ')');
}

// The program as a word with settings behind it: "-m verl.trainer.main_ppo a.b=c" or a continued line.
bool launches(std::string_view line, const std::vector<std::string_view>& programs) {
  return std::any_of(programs.begin(), programs.end(), [&](std::string_view program) {
    const std::size_t at = line.find(program);
    if (at == std::string_view::npos) return false;
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::size_t begin = line.rfind(' ', at);
    const std::string_view word = line.substr(begin == std::string_view::npos ? 0 : begin + 1,
                                              end - (begin == std::string_view::npos ? 0 : begin + 1));
    if (word.find('=') != std::string_view::npos || begin == std::string_view::npos) return false;
    const std::string_view rest = line.substr(end);
    return line.ends_with('\\') || rest.find('=') != std::string_view::npos ||
           rest.find(" --") != std::string_view::npos;
  });
}

}  // namespace

std::string launch_in_log(std::string_view log, const std::vector<std::string_view>& programs) {
  std::string assignments, launch;
  bool continues = false;
  for (std::size_t from = 0; from < log.size();) {
    const std::size_t end = std::min(log.find('\n', from), log.size());
    const std::string_view line = command_of(log.substr(from, end - from));
    from = end + 1;
    if (continues || launches(line, programs)) {
      launch.append(line).append("\n");
      continues = line.ends_with('\\');
      if (!continues) return assignments + launch;
    } else if (is_assignment(line) && is_closed(line)) {
      assignments.append(line).append("\n");
    }
  }
  return launch.empty() ? "" : assignments + launch;
}

}  // namespace sextant::inline reports
