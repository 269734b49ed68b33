#include "ask/words/lengths_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "core/json_value.h"
#include "core/text.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

constexpr double kSigma = 0.6;
constexpr double kMaxTokens = 1e8;
const std::string kSample =
    R"(a line of JSON for each sample: {"prompt_tokens": 400, "response_tokens": 1500})";
constexpr const char* kLengthExamples = "; for example 4096, or mean=1500,max=4096";

double number_in(const std::string& text, const std::string& option) {
  std::size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = std::string::npos;
  }
  if (end != text.size() || !std::isfinite(value) || value <= 0 || value > kMaxTokens)
    throw_bad_input(option + ": expected a number of tokens above 0 and at most 1e8, got " + in_quotes(text) +
                    kLengthExamples);
  return value;
}

std::map<std::string, double> numbers_by_name(const std::string& text, const std::string& option) {
  constexpr std::array<std::string_view, 4> kNames{"mean", "median", "sigma", "max"};
  std::map<std::string, double> numbers;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (equals == std::string::npos || std::find(kNames.begin(), kNames.end(), name) == kNames.end())
      throw_bad_input(option +
                      ": expected a number, or mean=, median=, sigma= and max= with commas between them, got " +
                      in_quotes(text) + kLengthExamples);
    if (!numbers.emplace(name, number_in(part.substr(equals + 1), option)).second)
      throw_bad_input(option + ": " + name + " is given twice");
    from = comma + 1;
  }
  return numbers;
}

Lengths lognormal(double median, double sigma, double max) {
  Lengths lengths;
  lengths.kind = LengthKind::lognormal;
  lengths.median = median;
  lengths.sigma = sigma;
  lengths.max = max;
  return lengths;
}

// The median whose truncated mean is the one asked for: the mean rises with the median.
double median_for(double mean, double sigma, double max) {
  double low = mean * std::exp(-0.5 * sigma * sigma), high = max;
  while (lognormal(high, sigma, max).mean_tokens() < mean) high *= 2;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (lognormal(middle, sigma, max).mean_tokens() < mean ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

std::optional<double> first_of(const JsonView& line, const std::vector<const char*>& names) {
  for (const char* name : names) {
    if (const auto value = line.optional(name)) return value->non_negative();
  }
  return std::nullopt;
}

// Means of groups of neighbours, each with its number of samples as weight.
Lengths distribution_of(std::vector<double> samples) {
  constexpr std::size_t kMaxGroups = 256;
  std::sort(samples.begin(), samples.end());
  const std::size_t groups = std::min(kMaxGroups, samples.size());
  Lengths lengths;
  lengths.kind = LengthKind::empirical;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = group * samples.size() / groups, last = (group + 1) * samples.size() / groups;
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += samples[i];
    const double mean = sum / static_cast<double>(last - first);
    if (!lengths.tokens.empty() && lengths.tokens.back() == mean) {
      lengths.weights.back() += static_cast<double>(last - first);
    } else {
      lengths.tokens.push_back(mean);
      lengths.weights.push_back(static_cast<double>(last - first));
    }
  }
  return lengths;
}

}  // namespace

Lengths lengths_from_text(const std::string& text, const std::string& option) {
  if (text.find('=') == std::string::npos) return fixed_length(number_in(text, option));
  const std::map<std::string, double> numbers = numbers_by_name(text, option);
  const auto get = [&](const char* name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? std::optional<double>{} : std::optional<double>{found->second};
  };
  const auto mean = get("mean"), median = get("median"), max = get("max");
  if (mean.has_value() == median.has_value())
    throw_bad_input(option + ": expected either mean= or median=, got " + in_quotes(text) + kLengthExamples);
  if (!max)
    throw_bad_input(option + ": max= is missing, the number of tokens at which lengths are cut" +
                    kLengthExamples);
  if (mean.value_or(*median) > *max)
    throw_bad_input(option + ": the " + (mean ? "mean" : "median") + " is above max" + kLengthExamples);
  if (mean && *mean == *max) return fixed_length(*max);
  const double sigma = get("sigma").value_or(kSigma);
  constexpr double kMaxSigma = 5, kMaxShare = 0.98;
  if (sigma > kMaxSigma)
    throw_bad_input(option + ": sigma is above 5; responses of math and code models have about 0.6");
  if (mean && *mean > kMaxShare * *max)
    throw_bad_input(option + ": a mean of more than 98 % of max; give the one number that all lengths have");
  return lognormal(mean ? median_for(*mean, sigma, *max) : *median, sigma, *max);
}

SampledLengths lengths_from_samples(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw_bad_input(file.string() + ": cannot be read");
  std::vector<double> prompts, responses;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      const Json json = parse_json(text);
      const JsonView line(json);
      const auto prompt = first_of(line, {"prompt_tokens", "prompt_length", "prompt_len"});
      const auto response =
          first_of(line, {"response_tokens", "response_length", "response_len", "completion_tokens"});
      if (!prompt || !response)
        throw_bad_input("prompt_tokens or response_tokens is missing; expected " + kSample);
      prompts.push_back(*prompt);
      responses.push_back(*response);
    } catch (const Error& error) {
      throw_bad_input(file.string() + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (prompts.empty()) throw_bad_input(file.string() + ": holds no sample; expected " + kSample);
  const int samples = static_cast<int>(prompts.size());
  return {distribution_of(std::move(prompts)), distribution_of(std::move(responses)), samples};
}

}  // namespace sextant::inline ask
