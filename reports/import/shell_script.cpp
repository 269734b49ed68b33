#include "reports/import/shell_script.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "reports/import/shell_blocks.h"
#include "reports/import/shell_variables.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr std::array<std::string_view, 7> kReserved{"do", "{", "}", "exec", "!", "time", "nohup"};
constexpr std::array<std::string_view, 4> kLoops{"while", "until", "for", "select"};
constexpr std::array<std::string_view, 5> kDeclarations{"export", "local", "declare", "readonly", "typeset"};

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The length of "NAME=" or "NAME+=" at the beginning of a word; 0: it is no assignment.
std::size_t assignment_length(std::string_view word) {
  const std::size_t name = shell_name_length(word);
  if (name == 0 || name >= word.size()) return 0;
  if (word[name] == '=') return name + 1;
  return word.substr(name, 2) == "+=" ? name + 2 : 0;
}

class ScriptReader {
 public:
  ScriptReader(std::string_view text, std::string file, const std::map<std::string, std::string>& variables,
               const std::function<bool(const ShellCommand&)>& is_last)
      : text_(text), file_(std::move(file)), variables_(variables), is_last_(&is_last) {}

  ShellScript read() {
    while (at_ < text_.size() && !is_done_) step();
    if (is_done_) {
      note_choices();
      return std::move(out_);
    }
    if (in_list_) fail(list_line_, "the list that begins here has no end");
    end_word();
    end_command(at_);
    note_choices();
    if (!pending_.empty() && !is_done_)
      fail(line_, "the here-document " + pending_.front().end + " is missing");
    return std::move(out_);
  }

 private:
  struct Pending {
    std::string end;
    bool expands = true, strips_tabs = false;
  };

  [[noreturn]] void fail(int line, const std::string& reason) const {
    throw_bad_input(file_ + ":" + std::to_string(line) + ": " + reason);
  }
  [[nodiscard]] char here(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void count_lines(std::size_t first, std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(first),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  }
  void begin_word() {
    if (!in_word_) {
      word_line_ = line_;
      word_begin_ = at_;
    }
    in_word_ = true;
  }

  void step() {
    const char c = here();
    if (c == '\\') return escape();
    if (c == '\n') return end_line();
    if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
      ++at_;
    } else if (c == '#' && !in_word_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\'') {
      single_quotes();
    } else if (c == '"') {
      double_quotes();
    } else if (c == '`') {
      as_written('`');
    } else if (c == '$') {
      expansion();
    } else if (c == '<' || c == '>' || (c == '&' && here(1) == '>')) {
      redirection();
    } else if (c == '(' || c == ')' || c == ';' || c == '|' || c == '&') {
      separator(c);
    } else {
      begin_word();
      word_ += c;
      ++at_;
    }
  }

  void escape() {
    const std::size_t length = here(1) == '\r' && here(2) == '\n' ? 3 : 2;
    if (here(1) == '\n' || length == 3) {
      ++line_;
    } else if (at_ + 1 < text_.size()) {
      begin_word();
      word_ += here(1);
    }
    at_ = std::min(at_ + length, text_.size());
  }

  void end_line() {
    end_word();
    if (!in_list_) end_command(at_);
    ++at_;
    ++line_;
    if (!is_done_) read_documents();
  }

  std::size_t end_of_quotes(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos)
      fail(line_, std::string("the quote ") + quote + " that begins here has no end");
    return end;
  }

  void single_quotes() {
    begin_word();
    const std::size_t end = end_of_quotes('\'');
    word_ += text_.substr(at_ + 1, end - at_ - 1);
    count_lines(at_, end);
    at_ = end + 1;
  }

  void as_written(char quote) {
    begin_word();
    const std::size_t end = end_of_quotes(quote);
    word_ += text_.substr(at_, end - at_ + 1);
    count_lines(at_, end);
    at_ = end + 1;
  }

  std::vector<std::string> expanded() {
    const std::size_t begin = at_;
    const int line = line_;
    std::vector<std::string> words;
    try {
      words = variables_.expand(text_, at_);
    } catch (const Error& error) {
      fail(line, error.what());
    }
    count_lines(begin, at_);
    return words;
  }

  // Words of a list become words of the command; the first joins what stands before it.
  void add_words(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i > 0) end_word();
      begin_word();
      word_ += words[i];
    }
  }

  void double_quotes() {
    const int line = line_;
    const bool was_in_word = in_word_;
    begin_word();
    bool is_empty_list = false;
    for (++at_; here() != '"';) {
      if (at_ >= text_.size()) fail(line, "the quote \" that begins here has no end");
      const char c = here();
      if (c == '$') {
        const std::vector<std::string> words = expanded();
        is_empty_list = words.empty();
        add_words(words);
      } else if (c == '\\' && std::string_view("\"\\$`\n").find(here(1)) != std::string_view::npos) {
        if (here(1) != '\n') word_ += here(1);
        count_lines(at_, at_ + 2);
        at_ += 2;
      } else {
        word_ += c;
        line_ += c == '\n' ? 1 : 0;
        ++at_;
      }
    }
    ++at_;
    if (is_empty_list && !was_in_word && word_.empty()) in_word_ = false;  // "$@"
  }

  // Without quotes a value with blanks is several words, unless it is assigned.
  void expansion() {
    if (here(1) == '\'') {
      ++at_;
      return single_quotes();
    }
    const bool is_value = in_word_ && assignment_length(word_) > 0;
    const std::vector<std::string> words = expanded();
    if (is_value) return add_words(words);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i > 0) end_word();
      const bool is_written = words[i].substr(0, 1) == "$";
      for (const char c : words[i]) {
        const bool is_blank = !is_written && (c == ' ' || c == '\t' || c == '\n');
        if (is_blank) {
          end_word();
        } else {
          begin_word();
          word_ += c;
        }
      }
    }
  }

  void redirection() {
    const bool is_number = std::all_of(word_.begin(), word_.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) word_.clear(), in_word_ = false;
    end_word();
    const bool is_document = here() == '<' && here(1) == '<' && here(2) != '<';
    if (is_document) {
      at_ += 2;
      return begin_document();
    }
    while (std::string_view("<>&|").find(here()) != std::string_view::npos && at_ < text_.size()) ++at_;
    drops_word_ = true;
  }

  void begin_document() {
    Pending pending;
    pending.strips_tabs = here() == '-';
    if (pending.strips_tabs) ++at_;
    while (here() == ' ') ++at_;
    while (at_ < text_.size() && std::string_view(" \t\r\n;|&<>").find(here()) == std::string_view::npos) {
      const char c = here();
      if (c == '\'' || c == '"' || c == '\\') {
        pending.expands = false;
      } else {
        pending.end += c;
      }
      ++at_;
    }
    pending_.push_back(pending);
  }

  void read_documents() {
    for (const Pending& pending : pending_) {
      HereDocument document{"", line_};
      for (bool is_over = false; !is_over;) {
        if (at_ >= text_.size()) fail(document.line, "the here-document has no line \"" + pending.end + "\"");
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, end - at_);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        while (pending.strips_tabs && !line.empty() && line.front() == '\t') line.remove_prefix(1);
        at_ = std::min(end + 1, text_.size());
        ++line_;
        is_over = line == pending.end;
        if (!is_over) document.text += std::string(line) + "\n";
      }
      if (pending.expands) document.text = with_variables(document.text);
      if (blocks_.run()) out_.documents.push_back(std::move(document));
    }
    pending_.clear();
  }

  std::string with_variables(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] != '$') {
        out += text[at++];
        continue;
      }
      for (const std::string& word : variables_.expand(text, at)) out += word;
    }
    return out;
  }

  void separator(char c) {
    ++at_;
    if (c == '(' && in_word_ && assignment_length(word_) == word_.size() && !in_list_) {
      list_name_ = std::exchange(word_, "");
      in_word_ = false;
      in_list_ = true;
      list_line_ = line_;
      return;
    }
    end_word();
    if (in_list_) {
      if (c == ')') end_list();
      return;
    }
    if (c == ';' && here() == ';') {
      end_command(at_ - 1);
      blocks_.end_branch();
      while (here() == ';' || here() == '&') ++at_;  // ";;", ";;&", ";&"
      return;
    }
    if (c == '|' || c == ')') {
      take_case();
      if (blocks_.expects_pattern()) return take_patterns(c == ')');
    }
    if (c == '(' && blocks_.expects_pattern()) return;
    end_command(at_ - 1);
  }

  // The words so far are patterns of a "case".
  void take_patterns(bool is_last) {
    for (const ShellWord& word : std::exchange(command_, {})) patterns_.push_back(word.text);
    begins_.clear();
    if (is_last) blocks_.begin_branch(std::exchange(patterns_, {}));
  }

  // "case WORD in", with patterns behind it on the same line or not.
  void take_case() {
    for (std::size_t i = 0; i + 2 < command_.size(); ++i) {
      if (command_[i].text != "case" || command_[i + 2].text != "in") continue;
      if (!has_line_) choice_line_ = command_[i].line;
      blocks_.open_case(command_[i + 1].text);
      const auto end = static_cast<std::ptrdiff_t>(i + 3);
      command_.erase(command_.begin(), command_.begin() + end);
      begins_.erase(begins_.begin(), begins_.begin() + end);
      return;
    }
  }

  void end_list() {
    in_list_ = false;
    const std::size_t length = shell_name_length(list_name_);
    const std::string name = list_name_.substr(0, length);
    if (blocks_.run()) {
      if (!blocks_.are_certain()) note_choice(name);
      variables_.assign_list(name, list_, list_name_[length] == '+');
    }
    list_.clear();
  }

  void end_word() {
    if (!in_word_) return;
    in_word_ = false;
    std::string word = std::exchange(word_, "");
    if (std::exchange(drops_word_, false)) return;
    if (in_list_) {
      list_.push_back(std::move(word));
    } else {
      command_.push_back({std::move(word), word_line_});
      begins_.push_back(word_begin_);
    }
  }

  // `end`: of the command in the text.
  void end_command(std::size_t end) {
    take_case();
    ShellCommand command = std::exchange(command_, {});
    const std::vector<std::size_t> begins = std::exchange(begins_, {});
    auto first = command.begin();
    for (; first != command.end(); ++first) {
      const std::size_t begin = begins[static_cast<std::size_t>(first - command.begin())];
      if (std::exchange(is_condition_begun_, false)) condition_begin_ = begin;
      if (follow_block(*first, begin)) continue;
      const bool is_declaration = is_one_of(kDeclarations, first->text);
      if (is_declaration || is_one_of(kReserved, first->text)) continue;
      const std::size_t length = assignment_length(first->text);
      if (length == 0) break;
      if (blocks_.run()) assign(first->text, length);
    }
    if (std::exchange(is_condition_begun_, false))
      condition_begin_ =
          first == command.end() ? end : begins[static_cast<std::size_t>(first - command.begin())];
    command.erase(command.begin(), first);
    if (command.empty() || !blocks_.run()) return;
    out_.commands.push_back(std::move(command));
    is_done_ = (*is_last_)(out_.commands.back());
  }

  void assign(const std::string& word, std::size_t length) {
    const std::string name = word.substr(0, shell_name_length(word)), value = word.substr(length);
    const bool appends = word[length - 2] == '+';
    if (!blocks_.are_certain()) {
      const std::optional<std::string> before = variables_.value_of(name);
      if (before && (appends || *before != value)) note_choice(name);
    }
    variables_.assign(name, value, appends);
  }

  // Whether the word begins or ends a block or a part of one.
  bool follow_block(const ShellWord& word, std::size_t begin) {
    const std::string& text = word.text;
    if (text == "if" || text == "elif") {
      if (text == "if") blocks_.open_if();
      if (!has_line_) choice_line_ = word.line;
      is_condition_begun_ = true;
    } else if (text == "then") {
      const std::optional<std::size_t> from = std::exchange(condition_begin_, std::nullopt);
      blocks_.then(from && *from <= begin ? shell_condition(text_.substr(*from, begin - *from), variables_)
                                          : std::nullopt);
    } else if (text == "else") {
      blocks_.otherwise();
    } else if (is_one_of(kLoops, text)) {
      blocks_.open_loop();
      if (!has_line_) choice_line_ = word.line;
    } else if (text == "fi" || text == "done" || text == "esac") {
      blocks_.close();
    } else {
      return false;
    }
    return true;
  }

  // A variable that gets another value in a branch of which it is not known whether it runs.
  void note_choice(const std::string& name) {
    has_line_ = true;
    choices_.insert(name);
  }

  void note_choices() {
    if (choices_.empty()) return;
    constexpr std::size_t kMaxNames = 12;
    std::string names;
    std::size_t count = 0;
    for (const std::string& name : choices_) {
      if (++count <= kMaxNames) names += (names.empty() ? "" : ", ") + name;
    }
    if (count > kMaxNames) names += " and " + std::to_string(count - kMaxNames) + " others";
    out_.notes.push_back(file_ + ":" + std::to_string(choice_line_) +
                         ": which branches and loops run is not known, so the last assignment counts of " +
                         names + " (--set NAME=VALUE states one)");
  }

  std::string_view text_;
  std::string file_;
  ShellVariables variables_;
  const std::function<bool(const ShellCommand&)>* is_last_;
  ShellScript out_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string word_;
  int word_line_ = 1;
  std::size_t word_begin_ = 0;
  bool in_word_ = false, drops_word_ = false;
  ShellCommand command_;
  std::vector<std::size_t> begins_;  // of its words in the text
  bool in_list_ = false;
  int list_line_ = 1;
  std::string list_name_;
  std::vector<std::string> list_;
  std::vector<Pending> pending_;
  ShellBlocks blocks_;
  std::vector<std::string> patterns_;           // of the next branch of a "case"
  std::optional<std::size_t> condition_begin_;  // in the text, of an "if" or "elif" without its "then"
  bool is_condition_begun_ = false;
  std::set<std::string> choices_;  // variables that not known branches assign
  int choice_line_ = 1;            // of the first such branch
  bool has_line_ = false, is_done_ = false;
};

}  // namespace

ShellScript read_shell(std::string_view text, const std::string& file,
                       const std::map<std::string, std::string>& variables,
                       const std::function<bool(const ShellCommand&)>& is_last) {
  return ScriptReader(text, file, variables, is_last).read();
}

}  // namespace sextant::inline reports
