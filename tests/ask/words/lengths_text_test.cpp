#include "ask/words/lengths_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "sextant/error.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename Call>
std::string refusal_by(Call call) {
  try {
    (void)call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of_lengths(const std::string& text) {
  return refusal_by([&] { return lengths_from_text(text, "--prompt-tokens"); });
}

std::filesystem::path written(const char* name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / name;
  std::ofstream(file) << text;
  return file;
}

TEST(LengthsFromText, HaveTheMeanAndTheMaximumThatAreGiven) {
  const Lengths lengths = lengths_from_text("mean=1500,max=4096", "--response-tokens");
  EXPECT_NEAR(lengths.mean_tokens(), 1500, 0.01);
  EXPECT_EQ(lengths.max_tokens(), 4096);
  EXPECT_EQ(lengths.sigma, 0.6);
  // A mean near the maximum needs a median above it.
  EXPECT_NEAR(lengths_from_text("mean=3900,max=4096", "x").mean_tokens(), 3900, 0.01);
  EXPECT_EQ(lengths_from_text("1024", "x"), fixed_length(1024));
  EXPECT_EQ(lengths_from_text("mean=8,max=8", "x"), fixed_length(8));
  const Lengths median = lengths_from_text("median=100,sigma=1,max=1000", "x");
  EXPECT_EQ(median.median, 100);
  EXPECT_EQ(median.sigma, 1);
}

TEST(LengthsFromText, RefuseOtherWords) {
  EXPECT_THAT(refusal_of_lengths("long"), AllOf(HasSubstr("--prompt-tokens"), HasSubstr("\"long\"")));
  EXPECT_THAT(refusal_of_lengths("mean=5"), HasSubstr("max= is missing"));
  EXPECT_THAT(refusal_of_lengths("max=5"), HasSubstr("either mean= or median="));
  EXPECT_THAT(refusal_of_lengths("mean=9,max=5"), HasSubstr("above max"));
  EXPECT_THAT(refusal_of_lengths("mean=4999,max=5000"), HasSubstr("98 %"));
  EXPECT_THAT(refusal_of_lengths("mean=5,mean=6,max=9"), HasSubstr("twice"));
  EXPECT_THAT(refusal_of_lengths("mode=5,max=9"), HasSubstr("mode=5"));
  EXPECT_THAT(refusal_of_lengths("mean=1e200,max=1e201"), HasSubstr("1e8"));
  EXPECT_THAT(refusal_of_lengths("mean=nan,max=9"), HasSubstr("nan"));
  EXPECT_THAT(refusal_of_lengths("0"),
              AllOf(HasSubstr("above 0 and at most 1e8"), HasSubstr("for example 4096")));
  EXPECT_THAT(refusal_of_lengths("mean=0,max=9"), HasSubstr("mean=1500,max=4096"));
  EXPECT_THAT(refusal_of_lengths("mean=5,max=9,"), HasSubstr("mean=5,max=9,"));
}

// Four responses of 10, 20, 20 and 30 tokens: mean 20, maximum 30.
TEST(LengthsFromSamples, AreThoseOfTheSamples) {
  const auto file = written("samples.jsonl",
                            "{\"prompt_tokens\": 5, \"response_tokens\": 20}\n\n"
                            "{\"prompt_tokens\": 5, \"response_tokens\": 10, \"score\": 1}\n"
                            "{\"prompt_length\": 5, \"response_length\": 30}\n"
                            "{\"prompt_len\": 7, \"completion_tokens\": 20}\n");
  const SampledLengths sampled = lengths_from_samples(file);
  EXPECT_EQ(sampled.samples, 4);
  EXPECT_DOUBLE_EQ(sampled.responses.mean_tokens(), 20);
  EXPECT_DOUBLE_EQ(sampled.responses.max_tokens(), 30);
  EXPECT_DOUBLE_EQ(sampled.prompts.mean_tokens(), 5.5);
}

TEST(LengthsFromSamples, NameTheLineThatIsWrong) {
  const auto refused = [](const char* text) {
    return refusal_by([&] { return lengths_from_samples(written("wrong.jsonl", text)); });
  };
  EXPECT_THAT(refused("{\"prompt_tokens\": 5, \"response_tokens\": 20}\n{\"prompt_tokens\": 5}\n"),
              HasSubstr("wrong.jsonl:2: "));
  EXPECT_THAT(refused("{\"prompt_tokens\": -5, \"response_tokens\": 20}\n"), HasSubstr(":1: "));
  EXPECT_THAT(refused("not json\n"), HasSubstr(":1: "));
  EXPECT_THAT(refused(""), HasSubstr("holds no sample"));
  EXPECT_THAT(refusal_by([] { return lengths_from_samples("/nonexistent.jsonl"); }),
              HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace sextant::test
