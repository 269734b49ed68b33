#include "calibrate/import/records/log_times.h"

#include <algorithm>

#include "calibrate/import/records/measured_iteration.h"

namespace sextant::inline calibrate {

Lengths prompt_lengths(const LogLengths& lengths, double maximum, std::map<std::string, std::string>& notes) {
  constexpr double kAssumedPrompt = 120;  // the prompts of mathematical data sets have 82 to 157
  if (!lengths.prompt) add_note(notes, "left unsaid", "The mean prompt length: 120 tokens.");
  const double prompt = lengths.prompt ? std::max(1.0, *lengths.prompt) : kAssumedPrompt;
  return maximum > prompt ? lengths_with_mean(prompt, kUsualSigma, maximum) : fixed_length(prompt);
}

Lengths response_lengths(const LogLengths& lengths, double sequences, double maximum) {
  const double response = std::min(lengths.response, maximum);
  // A longest response that the limit cuts says nothing about the others.
  const double longest = lengths.longest.value_or(maximum);
  constexpr double kNearTheLimit = 0.98;
  return longest < kNearTheLimit * maximum ? lengths_with_longest(response, longest, sequences, maximum)
                                           : lengths_with_mean(response, kUsualSigma, maximum);
}

}  // namespace sextant::inline calibrate
