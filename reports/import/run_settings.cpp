#include "reports/import/run_settings.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "core/text.h"
#include "reports/import/references.h"
#include "reports/import/shell_script.h"
#include "reports/import/shell_variables.h"
#include "reports/import/toml_file.h"
#include "reports/import/yaml_file.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

// "a.b=c", with or without the "+" or "~" of Hydra before it: the key's beginning and length.
struct OverrideKey {
  std::size_t first = 0, end = 0;
};

std::optional<OverrideKey> override_key(std::string_view word) {
  OverrideKey key;
  while (key.first < word.size() && (word[key.first] == '+' || word[key.first] == '~')) ++key.first;
  bool has_dot = false;
  for (key.end = key.first; key.end < word.size(); ++key.end) {
    const char c = word[key.end];
    if (c == '=') break;
    const bool is_key = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
                        c == '@' || c == '/';
    if (!is_key) return std::nullopt;
    has_dot = has_dot || c == '.';
  }
  const bool is_flag = word.substr(0, 2) == "--";
  return key.end < word.size() && has_dot && !is_flag ? std::optional(key) : std::nullopt;
}

std::string file_name(const std::filesystem::path& file) { return file.string(); }

std::string place_in(const std::string& file, const ShellWord& word) {
  return file + ":" + std::to_string(word.line);
}

// "${MODEL_ARGS[@]}", whose words another file has: flags of their own, not a value of the flag before it.
bool is_unset_array(std::string_view word) {
  return word.starts_with("${") && (word.ends_with("[@]}") || word.ends_with("[*]}"));
}

// The word without outputs of commands, which have blanks: "$(dirname "$0")/train.py" becomes "/train.py".
std::string without_outputs(std::string_view word) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t begin = 0; (begin = word.find("$(", at)) != std::string_view::npos;) {
    const std::size_t end = closing_bracket(word, begin + 1);
    if (end == std::string_view::npos) break;
    out += word.substr(at, begin - at);
    at = end + 1;
  }
  return out + std::string(word.substr(at));
}

class SettingsReader {
 public:
  SettingsReader(const SettingSource& source, const std::map<std::string, std::string>& given)
      : source_(&source), given_(given) {}

  RunSettings read(const std::vector<std::filesystem::path>& files) {
    for (const std::filesystem::path& file : files) read_file(file);
    return finished();
  }

  RunSettings read_text(const std::string& text, const std::filesystem::path& name) {
    read_script(text, file_name(name), name, 0);
    return finished();
  }

 private:
  RunSettings finished() {
    for (const auto& [name, value] : given_) {
      const bool is_setting = name.find('.') != std::string::npos || source_->form == SettingForm::flags;
      if (is_setting) out_.settings.put(name, setting_value(value), "--set");
    }
    resolve_references(out_.settings);
    return std::move(out_);
  }

  void read_file(const std::filesystem::path& file) {
    const std::string end = file.extension().string();
    if (end == ".yaml" || end == ".yml" || end == ".json") return read_map(file, 0);
    if (end == ".toml") return read_toml(file, "");
    const std::string text = valid_utf8(read_text_file(file));
    ScriptComments comments = read_comments(text);
    if (!comments.plan.empty()) out_.comments = std::move(comments);
    read_script(text, file_name(file), file, 0);
  }

  // The launch as one word: bash -c "python3 -m ...".
  [[nodiscard]] std::optional<ShellWord> script_in_word(const ShellScript& script) const {
    for (const ShellCommand& command : script.commands) {
      for (const ShellWord& word : command) {
        const std::string text = without_outputs(word.text);
        const auto is_in_word = [&](std::string_view part) {
          const std::string wanted = std::string(part) + (source_->toml_parts.empty() ? "" : " @");
          return text.find(wanted) != std::string::npos;
        };
        const bool has_program = std::any_of(source_->programs.begin(), source_->programs.end(), is_in_word);
        if (has_program && text.find_first_of(" \n") != std::string::npos && !override_key(word.text))
          return word;
      }
    }
    return std::nullopt;
  }

  void read_script(const std::string& text, const std::string& name, const std::filesystem::path& file,
                   int depth) {
    constexpr int kMaxScripts = 10;
    if (depth > kMaxScripts) throw_bad_input(name + ":1: scripts in words of scripts are nested too deeply");
    const ShellScript script =
        read_shell(text, name, given_, [&](const ShellCommand& command) { return is_launch(command); });
    out_.notes.insert(out_.notes.end(), script.notes.begin(), script.notes.end());
    if (source_->form == SettingForm::yaml) {
      for (const HereDocument& document : script.documents)
        read_yaml_text(document.text, name, document.line, out_.settings);
    }
    const bool has_launch = !script.commands.empty() && is_launch(script.commands.back());
    const auto inner = has_launch ? std::nullopt : script_in_word(script);
    if (inner) return read_script(inner->text, name, file, depth + 1);
    const std::size_t before = out_.settings.all().size();
    if (has_launch && script.documents.empty()) read_stated_file(script.commands.back(), file);
    for (const ShellCommand& command : script.commands) {
      const auto is_helper = [&](const ShellWord& word) {
        return std::any_of(source_->helpers.begin(), source_->helpers.end(),
                           [&](std::string_view helper) { return word.text == helper; });
      };
      const auto found = std::find_if(command.begin(), command.end(), is_helper);
      if (found != command.end())
        add_words(command, static_cast<std::size_t>(found - command.begin()) + 1, name);
    }
    if (has_launch) {
      add_launch(script.commands.back(), file);
    } else {
      for (const ShellCommand& command : script.commands) {
        const bool is_list = source_->form != SettingForm::flags || command.front().text.substr(0, 2) == "--";
        if (is_list && !source_->toml_parts.empty()) {
          add_toml_launch(command, 0, file);
        } else if (is_list) {
          add_words(command, 0, name);
        }
      }
    }
    if (out_.settings.all().size() == before && !has_launch && script.documents.empty())
      throw_bad_input(name + ":1: no launch of the framework and no settings");
  }

  // A YAML file after those that it extends ("defaults: ../base.yaml").
  void read_map(const std::filesystem::path& file, int depth) {
    constexpr int kMaxFiles = 20;
    if (depth > kMaxFiles) throw_bad_input(file_name(file) + ":1: it extends itself");
    TrainerSettings own;
    read_yaml_file(file, own);
    const Json* extended = own.find("defaults");
    if (source_->form == SettingForm::yaml && extended != nullptr) {
      const Json list = extended->is_array() ? *extended : Json::array({*extended});
      for (const Json& one : list) {
        if (one.is_string() && one != "_self_")
          read_extended(file.parent_path() / extended_file(one.get<std::string>()), depth);
      }
    }
    for (const TrainerSetting& one : own.all()) out_.settings.put(one.key, one.value, one.where);
  }

  // "../config/traj_envs@_here_" of Hydra is the file ../config/traj_envs.yaml.
  static std::string extended_file(const std::string& name) {
    std::string file = name.substr(0, name.find('@'));
    const std::string end = std::filesystem::path(file).extension().string();
    return end == ".yaml" || end == ".yml" ? file : file + ".yaml";
  }

  void read_extended(const std::filesystem::path& file, int depth) {
    if (std::filesystem::exists(file)) return read_map(file, depth + 1);
    out_.notes.push_back(file_name(file.lexically_normal()) +
                         ", which the configuration extends, is not there: defaults stand for its values");
  }

  // The files that a launch names ("--config run.yaml"), from the folder of the script or from here.
  void read_stated_file(const ShellCommand& command, const std::filesystem::path& script) {
    if (source_->form != SettingForm::yaml && !source_->reads_launcher) return;
    for (std::size_t i = 0; i < command.size(); ++i) {
      const std::string& word = command[i].text;
      const std::string option = word.substr(0, word.find('='));
      if (option != "--config" && option != "--config_file") continue;
      const bool is_next = word == option && i + 1 < command.size();
      const std::string name =
          is_next ? command[i + 1].text : word.substr(std::min(word.size(), option.size() + 1));
      if (name.empty()) continue;
      if (const auto there = found_from(script, name)) {
        read_map(*there, 0);
        continue;
      }
      out_.notes.push_back(place_in(file_name(script), command[i]) + ": " + name +
                           " is not there: name it before the script");
    }
  }

  // A file that a script names: from its folder, from here, or from a folder above, as commands of a repository's examples
  // are run from its root.
  static std::optional<std::filesystem::path> found_from(const std::filesystem::path& script,
                                                         const std::filesystem::path& name) {
    std::error_code ignored;
    std::vector<std::filesystem::path> folders{script.parent_path(), ""};
    std::filesystem::path above = std::filesystem::absolute(script, ignored).parent_path();
    for (; above.has_relative_path(); above = above.parent_path()) folders.push_back(above.parent_path());
    for (const std::filesystem::path& folder : folders) {
      if (std::filesystem::is_regular_file(folder / name, ignored)) return folder / name;
    }
    return std::nullopt;
  }

  // `part`: of the configuration that the file holds ("trainer"). Empty: the whole, unless its name says otherwise.
  void read_toml(const std::filesystem::path& file, std::string part) {
    TrainerSettings own;
    read_toml_file(file, own);
    const auto has_part = [&](std::string_view name) {
      return std::any_of(own.all().begin(), own.all().end(), [&](const TrainerSetting& one) {
        return one.key == name || one.key.starts_with(std::string(name) + ".");
      });
    };
    const bool is_whole =
        std::any_of(source_->toml_parts.begin(), source_->toml_parts.end(),
                    [&](const auto& known) { return known.first == known.second && has_part(known.second); });
    for (const auto& [name, of] : source_->toml_parts) {
      if (part.empty() && !is_whole && file.stem().string() == name) part = of;
    }
    for (const TrainerSetting& one : own.all())
      out_.settings.put(part.empty() ? one.key : part + "." + one.key, one.value, one.where);
  }

  // The words of "rl @ base.toml --trainer @ trainer.toml --max-steps 5". Flags count more than files.
  void add_toml_launch(const ShellCommand& command, std::size_t first, const std::filesystem::path& script) {
    const auto is_file = [&](std::size_t at) { return at + 1 < command.size() && command[at].text == "@"; };
    for (std::size_t i = first; i < command.size(); ++i) {
      if (!is_file(i)) continue;
      const std::string before = i > first ? command[i - 1].text : "";
      const bool has_part = before.starts_with("--") && before.find('=') == std::string::npos;
      read_stated_toml(script, command[i + 1], has_part ? key_of_flag(before) : "");
    }
    for (std::size_t i = first; i < command.size(); ++i) {
      const std::string& text = command[i].text;
      if (!text.starts_with("--") || text.size() == 2 || is_file(i + 1)) continue;
      std::vector<std::string> values;
      const std::size_t equals = text.find('=');
      if (equals != std::string::npos) values.push_back(text.substr(equals + 1));
      while (i + 1 < command.size() && !command[i + 1].text.starts_with("--") && command[i + 1].text != "@")
        values.push_back(command[++i].text);
      put_toml_flag(text.substr(0, equals), values, place_in(file_name(script), command[i]));
    }
  }

  void put_toml_flag(const std::string& flag, const std::vector<std::string>& values,
                     const std::string& place) {
    constexpr std::string_view kNot = "--no-";
    if (values.empty() && flag.starts_with(kNot))
      return out_.settings.put(key_of_flag("--" + flag.substr(kNot.size())), false, place);
    Json value = true;
    if (values.size() == 1) value = setting_value(values.front());
    if (values.size() > 1) value = values;
    out_.settings.put(key_of_flag(flag), value, place);
  }

  static std::string key_of_flag(const std::string& flag) {
    std::string key = flag.substr(2);
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
  }

  // A file that the launch names, from the folder of the script or from here.
  void read_stated_toml(const std::filesystem::path& script, const ShellWord& word, const std::string& part) {
    if (const auto file = found_from(script, word.text)) return read_toml(*file, part);
    out_.notes.push_back(place_in(file_name(script), word) + ": " + word.text +
                         " is not there: name it before the script");
  }

  [[nodiscard]] std::size_t program_at(const ShellCommand& command) const {
    for (std::size_t i = 0; i < command.size(); ++i) {
      const std::string& text = command[i].text;
      const bool is_whole = !source_->toml_parts.empty();
      const std::string plain = is_whole ? text : without_outputs(text);
      if (!is_whole && (override_key(text) || plain.find_first_of(" \n") != std::string::npos)) continue;
      const auto is_named = [&](std::string_view part) {
        return is_whole ? text == part : plain.find(part) != std::string::npos;
      };
      if (std::any_of(source_->programs.begin(), source_->programs.end(), is_named)) return i;
    }
    return command.size();
  }

  // A command that has the program and settings behind it: not "cp train.py /tmp".
  [[nodiscard]] bool is_launch(const ShellCommand& command) const {
    const std::size_t at = program_at(command);
    if (at == command.size()) return false;
    if (source_->form == SettingForm::yaml) return true;
    if (!source_->toml_parts.empty())
      return at + 1 < command.size() && (command[at + 1].text == "@" || command[at + 1].text.starts_with("--"));
    return std::any_of(command.begin() + static_cast<std::ptrdiff_t>(at), command.end(),
                       [&](const ShellWord& word) {
                         return source_->form == SettingForm::flags ? word.text.substr(0, 2) == "--"
                                                                    : override_key(word.text).has_value();
                       });
  }

  void add_launch(const ShellCommand& command, const std::filesystem::path& script) {
    const std::size_t at = program_at(command);
    const std::string file = file_name(script);
    out_.program = command[at].text;
    if (!source_->toml_parts.empty()) return add_toml_launch(command, at + 1, script);
    if (!source_->reads_launcher) return add_words(command, at + 1, file);
    ShellCommand options = command;  // the program is no value of the option before it
    options.erase(options.begin() + static_cast<std::ptrdiff_t>(at));
    add_words(options, 0, file);
  }

  void add_words(const ShellCommand& command, std::size_t first, const std::string& file) {
    if (source_->form == SettingForm::flags) return add_flags(command, first, file);
    for (std::size_t i = first; i < command.size(); ++i) {
      const ShellWord& word = command[i];
      if (const auto key = override_key(word.text)) {
        out_.settings.put(word.text.substr(key->first, key->end - key->first),
                          setting_value(word.text.substr(key->end + 1)), place_in(file, word));
      } else if (word.text.substr(0, 2) == "--") {
        i += add_option(command, i, file);
      }
    }
  }

  // Options of the launch itself: "--config-name=x" and "--config-name x". Returns the words that belong to it.
  std::size_t add_option(const ShellCommand& command, std::size_t i, const std::string& file) {
    const std::string& text = command[i].text;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) {
      out_.settings.put(text.substr(0, equals), text.substr(equals + 1), place_in(file, command[i]));
      return 0;
    }
    const bool has_value = i + 1 < command.size() && command[i + 1].text.substr(0, 2) != "--" &&
                           !override_key(command[i + 1].text);
    out_.settings.put(text, has_value ? Json(command[i + 1].text) : Json(true), place_in(file, command[i]));
    return has_value ? 1 : 0;
  }

  void add_flags(const ShellCommand& command, std::size_t first, const std::string& file) {
    for (std::size_t i = first; i < command.size(); ++i) {
      const std::string& text = command[i].text;
      if (text.substr(0, 2) != "--" || text.size() == 2) continue;
      const std::size_t equals = text.find('=');
      const std::string key = text.substr(2, equals == std::string::npos ? equals : equals - 2);
      std::vector<std::string> values;
      if (equals != std::string::npos) values.push_back(text.substr(equals + 1));
      const auto is_value = [&](std::size_t at) {
        return at < command.size() && command[at].text.substr(0, 2) != "--" &&
               !is_unset_array(command[at].text);
      };
      for (std::size_t at = i + 1; is_value(at); ++at) values.push_back(command[at].text);
      Json value = true;
      if (values.size() == 1) value = setting_value(values.front());
      if (values.size() > 1) {
        value = Json::array();
        for (const std::string& one : values) value.push_back(setting_value(one));
      }
      out_.settings.put(key, value, place_in(file, command[i]));
    }
  }

  const SettingSource* source_;
  std::map<std::string, std::string> given_;
  RunSettings out_;
};

}  // namespace

RunSettings read_run_settings(const std::vector<std::filesystem::path>& files, const SettingSource& source,
                              const std::map<std::string, std::string>& given) {
  return SettingsReader(source, given).read(files);
}

RunSettings read_run_settings_text(const std::string& text, const std::filesystem::path& name,
                                   const SettingSource& source,
                                   const std::map<std::string, std::string>& given) {
  return SettingsReader(source, given).read_text(valid_utf8(text), name);
}

}  // namespace sextant::inline reports
