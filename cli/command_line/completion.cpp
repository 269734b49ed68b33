#include "cli/command_line/completion.h"

#include <functional>

namespace sextant::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// Calls with each command and its words after the program's name: "plan", "coschedule place"; "" for the program.
void for_each_command(const CommandTree& program,
                      const std::function<void(const CommandTree&, const std::string&)>& call) {
  const std::function<void(const CommandTree&, const std::string&)> visit = [&](const CommandTree& command,
                                                                                const std::string& words) {
    call(command, words);
    for (const CommandTree& inner : command.commands)
      visit(inner, words.empty() ? inner.name : words + " " + inner.name);
  };
  visit(program, "");
}

std::vector<std::string> names_of(const std::vector<CommandTree>& commands) {
  std::vector<std::string> names;
  for (const CommandTree& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> option_names(const CommandTree& command) {
  std::vector<std::string> names;
  for (const OptionWords& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// Returns the words that may follow a command and are no options: its own commands, or the choices of an argument.
std::vector<std::string> first_words(const CommandTree& command) {
  std::vector<std::string> words = names_of(command.commands);
  for (const OptionWords& option : command.options) {
    if (option.names.empty()) words.insert(words.end(), option.choices.begin(), option.choices.end());
  }
  return words;
}

// The first line of a help text.
std::string summary(const std::string& help) { return help.substr(0, help.find('\n')); }

// Text between single quotes of a shell, and with a backslash before each of `special`.
std::string quoted(const std::string& text, const std::string& special = "") {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (special.find(c) != std::string::npos) out += '\\';
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::string bash_completion(const CommandTree& program) {
  std::string commands, options, choices, paths;
  for_each_command(program, [&](const CommandTree& command, const std::string& words) {
    if (!words.empty()) paths += (paths.empty() ? "" : "|") + quoted(words);
    const std::vector<std::string> first = first_words(command);
    if (!first.empty()) commands += "    " + quoted(words) + ") words=" + quoted(joined(first)) + " ;;\n";
    options += "    " + quoted(words) + ") words=" + quoted(joined(option_names(command))) + " ;;\n";
    for (const OptionWords& option : command.options) {
      for (const std::string& name : option.names) {
        if (!option.choices.empty())
          choices +=
              "    " + quoted(words + "|" + name) + ") words=" + quoted(joined(option.choices)) + " ;;\n";
      }
    }
  });
  const std::string function = "_" + program.name;
  return "# Completion of " + program.name + " for bash.\n" + function + R"(() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${command:+$command }${COMP_WORDS[i]}" in
    )" + paths +
         R"() command="${command:+$command }${COMP_WORDS[i]}" ;;
    *) [[ -n $command || ${COMP_WORDS[i]} != -* ]] && break ;;
    esac
  done
  COMPREPLY=()
  case "$command|$prev" in
)" + choices +
         R"(  esac
  if [[ -z $words && $cur == -* ]]; then
    case "$command" in
)" + options +
         R"(    esac
  elif [[ -z $words ]]; then
    case "$command" in
)" + commands +
         R"(    esac
  fi
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F )" +
         function + " " + program.name + "\n";
}

std::string zsh_completion(const CommandTree& program) {
  std::string functions;
  for_each_command(program, [&](const CommandTree& command, const std::string& words) {
    std::string name = "_" + program.name;
    for (const char c : words.empty() ? words : " " + words) name += c == ' ' || c == '-' ? '_' : c;
    functions += name + "() {\n";
    std::string arguments = "  _arguments -s -S";
    if (!command.commands.empty()) arguments += " -C";
    for (const OptionWords& option : command.options) {
      for (const std::string& spelling : option.names) {
        arguments += " \\\n    " + quoted(spelling) + "'['" + quoted(summary(option.help), "[]:\\") + "']'";
        if (!option.takes_value()) continue;
        arguments +=
            option.choices.empty() ? "':value:_files'" : quoted(":value:(" + joined(option.choices) + ")");
      }
    }
    if (command.commands.empty()) {
      const std::vector<std::string> first = first_words(command);
      if (!first.empty()) arguments += " \\\n    " + quoted("1:argument:(" + joined(first) + ")");
      functions += arguments + " \\\n    '*:file:_files'\n}\n";
      return;
    }
    functions += "  local -a commands=(";
    for (const CommandTree& inner : command.commands)
      functions += "\n    " + quoted(inner.name + ":" + summary(inner.help), "\\");
    functions += ")\n  local context state state_descr line\n  typeset -A opt_args\n" + arguments +
                 " \\\n    '1:command:->command' '*::argument:->argument'\n  case $state in\n"
                 "  command) _describe command commands ;;\n"
                 "  argument) (( $+functions[" +
                 name + "_${line[1]//-/_}] )) && " + name + "_${line[1]//-/_} ;;\n  esac\n}\n";
  });
  return "#compdef " + program.name + "\n# Completion of " + program.name + " for zsh.\n" + functions +
         "if [ \"$funcstack[1]\" = \"_" + program.name + "\" ]; then _" + program.name +
         " \"$@\"; else compdef _" + program.name + " " + program.name + "; fi\n";
}

std::string fish_completion(const CommandTree& program) {
  std::string lines = "# Completion of " + program.name + " for fish.\n";
  for_each_command(program, [&](const CommandTree& command, const std::string& words) {
    std::string when = words.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + words;
    if (const std::size_t space = words.find(' '); space != std::string::npos)
      when = "__fish_seen_subcommand_from " + words.substr(0, space) + "; and __fish_seen_subcommand_from " +
             words.substr(space + 1);
    const std::string start = "complete -c " + program.name + " -n " + quoted(when, "\\");
    for (const CommandTree& inner : command.commands) {
      const std::string only =
          words.empty() ? when
                        : when + "; and not __fish_seen_subcommand_from " + joined(names_of(command.commands));
      lines += "complete -c " + program.name + " -f -n " + quoted(only, "\\") + " -a " + inner.name + " -d " +
               quoted(summary(inner.help), "\\") + "\n";
    }
    for (const OptionWords& option : command.options) {
      if (option.names.empty()) {
        if (!option.choices.empty()) lines += start + " -f -a " + quoted(joined(option.choices)) + "\n";
        continue;
      }
      lines += start;
      for (const std::string& name : option.names)
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value())
        lines += option.choices.empty() ? " -r" : " -x -a " + quoted(joined(option.choices));
      lines += " -d " + quoted(summary(option.help), "\\") + "\n";
    }
  });
  return lines;
}

}  // namespace sextant::cli
