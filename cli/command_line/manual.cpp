#include "cli/command_line/manual.h"

#include <algorithm>
#include <cctype>

namespace sextant::cli {
namespace {

// Text for troff: no line is taken as a request, and hyphens can be copied as such.
std::string plain(const std::string& text) {
  std::string out;
  bool is_start = true;
  for (const char c : text) {
    if (is_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    is_start = c == '\n';
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }

// Lines as they stand: examples, and tables of words.
std::string preformatted(const std::string& text) { return ".nf\n" + plain(text) + "\n.fi\n"; }

std::string item(const OptionWords& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
  if (option.takes_value())
    head += (head.empty() ? "" : " ") + std::string("\\fI") + plain(option.placeholder) + "\\fR";
  std::string help = option.help;
  if (!option.choices.empty()) {
    help += help.empty() ? "One of " : " (one of ";
    for (std::size_t i = 0; i < option.choices.size(); ++i) help += (i > 0 ? ", " : "") + option.choices[i];
    help += option.help.empty() ? "" : ")";
  }
  return ".TP\n" + head + "\n" + plain(help) + "\n";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace

std::string manual_name(const std::string& program, const std::string& words) {
  std::string name = words.empty() ? program : program + " " + words;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string manual_page(const std::string& program, const std::string& version, const CommandTree& command,
                        const std::string& words) {
  const std::string dashed = manual_name(program, words);
  const std::string spoken = words.empty() ? program : program + " " + words;
  std::string page = ".TH " + upper(dashed) + " 1 \"\" \"" + version + "\" \"Sextant\"\n";
  const std::size_t first = std::min(command.help.find('\n'), command.help.size());
  page += ".SH NAME\n" +
          plain(dashed + " - " +
                (words.empty() ? "plan RL post-training on GPU clusters" : command.help.substr(0, first))) +
          "\n";
  page += ".SH SYNOPSIS\n" + bold(spoken) + " [\\fIOPTIONS\\fR]" +
          (command.commands.empty() ? "" : " \\fICOMMAND\\fR") + "\n.SH DESCRIPTION\n" +
          preformatted(command.help);
  if (!command.commands.empty()) {
    page += ".SH COMMANDS\n";
    for (const CommandTree& inner : command.commands)
      page += ".TP\n" + bold(inner.name) + "\n" + plain(inner.help) + "\n";
  }
  std::vector<std::string> groups;
  for (const OptionWords& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  if (!groups.empty()) page += ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (group != "Options" && group != "Positionals") page += ".SS " + plain(group) + "\n";
    for (const OptionWords& option : command.options) {
      if (option.group == group) page += item(option);
    }
  }
  if (!command.footer.empty()) page += ".SH NOTES\n" + preformatted(command.footer);
  return page;
}

}  // namespace sextant::cli
