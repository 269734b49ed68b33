// Finds the names of GPUs among the words of logs and people: "AMD MI300X", "NVIDIA A100-SXM4-80GB",
// "V100 16 GB".
#pragma once

#include <map>
#include <string>
#include <vector>

namespace sextant::inline calibrate {

// A name that stands in a text, and the words beside it, which may say that another card is meant.
struct NameInText {
  std::string value;                     // what the name stands for
  std::string word_before;               // empty if there is none, or if it belongs to another name
  std::vector<std::string> words_after;  // up to the end of the text
};

// The properties that words beside a name can contradict.
struct CardTraits {
  bool is_pcie = false;  // a card in a PCIe slot, not a module on a board (SXM, OAM)
  double memory_bytes = 0;
};

// Splits at everything but letters and digits, in lower case.
[[nodiscard]] std::vector<std::string> words_of(const std::string& text);

// "A100-40GB", "a100_40gb" and "A100 40 GB" become the same text.
[[nodiscard]] std::string without_separators(const std::string& name);

// Finds, at every word of the text, the longest name that begins there. `by_name` has what a name stands for,
// keyed by the name without separators.
[[nodiscard]] std::vector<NameInText> names_in(const std::map<std::string, std::string>& by_name,
                                               const std::string& text);

// Returns whether the words beside the name say that the card is not the one with these traits: "PCIe" beside a
// module, a memory size that is more than a tenth off, or a suffix of another product ("Ti", "NVL", "Laptop").
[[nodiscard]] bool names_another_card(const NameInText& name, const CardTraits& traits);

}  // namespace sextant::inline calibrate
