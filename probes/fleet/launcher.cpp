#include "probes/fleet/launcher.h"

#include <optional>
#include <utility>

#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline probes {

std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // that has begun
  char quote = 0;                   // that is open
  for (std::size_t at = 0; at < command.size(); ++at) {
    const char letter = command[at];
    if (letter == quote) {
      quote = 0;
    } else if (letter == '\\' && quote != '\'' && at + 1 < command.size()) {
      word = word.value_or("") + command[++at];
    } else if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
      word = word.value_or("");  // "" is a word
    } else if (quote == 0 && std::string_view(" \t\n").find(letter) != std::string_view::npos) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else {
      word = word.value_or("") + letter;
    }
  }
  if (quote != 0) throw_bad_input("a quote is not closed: " + in_quotes(command));
  if (word) words.push_back(*word);
  return words;
}

}  // namespace sextant::inline probes
