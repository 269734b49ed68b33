// The settings of a trainer's configuration: keys with dots and their values, in the order in which they are
// written, and the three forms that frameworks read: Hydra overrides, YAML and command line flags.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_value.h"

namespace sextant::inline reports {

struct TrainerSetting {
  std::string key;         // "actor_rollout_ref.rollout.n"
  Json value;              // a string, number, flag, null or list of strings
  bool is_shell = false;   // the value is text for the shell, such as "${MODEL_PATH}"
  bool adds_key = false;   // Hydra: the key is not in the default configuration, which takes it with a plus
  std::string group = {};  // settings of one group are written together, below this comment
  std::string where = {};  // "run.sh:12" if it was read from a file
};

class TrainerSettings {
 public:
  static constexpr int kMaxCount = 100'000'000;  // of anything: prompts, tokens
  static constexpr int kMaxNodes = 100'000, kMaxGpusPerNode = 1000;

  void begin_group(const std::string& comment) { group_ = comment; }
  void set(const std::string& key, const Json& value) {
    all_.push_back({key, value, false, false, group_, {}});
  }
  void add_key(const std::string& key, const Json& value) {
    all_.push_back({key, value, false, true, group_, {}});
  }
  void set_shell(const std::string& key, const std::string& text) {
    all_.push_back({key, text, true, false, group_, {}});
  }
  // Replaces the setting of this key.
  void put(const std::string& key, const Json& value, const std::string& where);
  void rename(const std::string& key, const std::string& new_key);
  // The value of a key that is not there or null: a default that the framework derives from other settings.
  void assume(const std::string& key, const Json& value);

  [[nodiscard]] const std::vector<TrainerSetting>& all() const { return all_; }
  [[nodiscard]] const Json* find(std::string_view key) const;  // null: not there
  // The stated or the assumed value; null: there is none.
  [[nodiscard]] const Json* find_or_assumed(std::string_view key) const;
  [[nodiscard]] const std::map<std::string, Json, std::less<>>& derived() const { return derived_; }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  // The value of the key, or `otherwise` if it is not there or null. Throws Error(bad_input) with the key if
  // the value is of another type.
  [[nodiscard]] int integer(std::string_view key, int otherwise) const;
  // From 1 to `largest`.
  [[nodiscard]] int count(std::string_view key, int otherwise, int largest = kMaxCount) const;
  [[nodiscard]] double number(std::string_view key, double otherwise) const;
  [[nodiscard]] bool flag(std::string_view key, bool otherwise) const;
  [[nodiscard]] std::string text(std::string_view key, const std::string& otherwise) const;

  // Readers of a user's configuration tell what they did not find, and what they did not use.
  // Keys whose value was asked for although no file states it, with the value that was taken.
  [[nodiscard]] std::map<std::string, Json> assumed() const;
  [[nodiscard]] std::vector<TrainerSetting> unread() const;  // stated, and never asked for
  // "run.sh:12: KEY"; only the key if it was not read from a file.
  [[nodiscard]] std::string place_of(std::string_view key) const;

 private:
  // Records the request.
  [[nodiscard]] const Json* requested(std::string_view key, const Json& otherwise) const;

  std::vector<TrainerSetting> all_;
  std::string group_;
  std::map<std::string, Json, std::less<>> derived_;  // by assume
  mutable std::set<std::string, std::less<>> read_;
  mutable std::map<std::string, Json, std::less<>> defaults_;
};

// The value that a text stands for in Hydra, in flags and in YAML: true, 16, 0.5, null, a list or the text.
[[nodiscard]] Json setting_value(const std::string& text);

// The text as one word of a POSIX shell.
[[nodiscard]] std::string quoted_for_shell(const std::string& text);

// The text without line breaks and other control characters, for a comment.
[[nodiscard]] std::string as_comment(const std::string& text);

// A Bash array named "arguments", one setting per line: "data.train_batch_size=512". A group's comment stands
// above its first setting.
[[nodiscard]] std::string hydra_arguments(const TrainerSettings& settings);

// The same with "--vllm.num_engines 16": flags that are true without a value, those that are false not at all.
[[nodiscard]] std::string flag_arguments(const TrainerSettings& settings);

// A YAML document. Settings for the shell are left out.
[[nodiscard]] std::string yaml_text(const TrainerSettings& settings);

// Read back what the functions above write, from the text of a whole script. Variables of the shell are read as
// their text. They are readers of Sextant's own files: they know neither all of YAML nor all of the shell.
[[nodiscard]] TrainerSettings read_hydra(std::string_view script);
[[nodiscard]] TrainerSettings read_flags(std::string_view script);
[[nodiscard]] TrainerSettings read_yaml(std::string_view script);  // between <<'YAML' and YAML

}  // namespace sextant::inline reports
