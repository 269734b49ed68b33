// Lengths of prompts or responses from a few words, or from samples.
#pragma once

#include <filesystem>
#include <string>

#include "sextant/lengths.h"

namespace sextant::inline ask {

// "1024" (all alike), "mean=1500,max=4096", "median=1200,sigma=0.6,max=4096": log-normal lengths that are cut
// at the maximum. Without sigma it is 0.6, that of responses of math and code models. `option` stands in
// messages.
//
// Throws Error(bad_input) for other words, numbers that are not positive, and a mean that the maximum does not
// allow.
[[nodiscard]] Lengths lengths_from_text(const std::string& text, const std::string& option);

struct SampledLengths {
  Lengths prompts, responses;
  int samples = 0;
};

// Reads lines of JSON with the number of tokens of a prompt (prompt_tokens, prompt_length or prompt_len) and of
// its response (response_tokens, response_length, response_len or completion_tokens). Each distribution has at
// most 256 different lengths: means of as many samples each.
//
// Throws Error(bad_input) with file and line.
[[nodiscard]] SampledLengths lengths_from_samples(const std::filesystem::path& file);

}  // namespace sextant::inline ask
