#include "probes/network/secret.h"

#include <gtest/gtest.h>

#include <set>

namespace sextant {
namespace {

// HMAC-SHA256 as Python's hmac module has it, key 00 01 .. 1f.
TEST(Secret, SignsAsTheStandardSays) {
  const auto secret = Secret::from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  ASSERT_TRUE(secret.has_value());
  const Mac whole = secret->sign({bytes_of("what do ya want for nothing?")});
  const Mac in_parts = secret->sign({bytes_of("what do ya "), bytes_of(""), bytes_of("want for nothing?")});
  EXPECT_EQ(whole, in_parts);
  EXPECT_EQ(secret->derive({bytes_of("what do ya want for nothing?")}).hex(),
            "099805f4ac310786968565c098db515cc50862b420ae31e20238312344bed36a");
}

TEST(Secret, GoesThroughText) {
  const Secret secret = Secret::fresh();
  EXPECT_EQ(secret.hex().size(), 64U);
  const auto again = Secret::from_hex(secret.hex());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->hex(), secret.hex());
}

TEST(Secret, RefusesOtherText) {
  const std::string good = Secret::fresh().hex();
  EXPECT_FALSE(Secret::from_hex("").has_value());
  EXPECT_FALSE(Secret::from_hex(good.substr(1)).has_value());
  EXPECT_FALSE(Secret::from_hex(good + "0").has_value());
  EXPECT_FALSE(Secret::from_hex("g" + good.substr(1)).has_value());
}

TEST(Secret, IsNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(Secret::fresh().hex());
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Secret, EqualityNeedsTheSameLength) {
  EXPECT_TRUE(is_equal(bytes_of("abc"), bytes_of("abc")));
  EXPECT_FALSE(is_equal(bytes_of("abc"), bytes_of("abd")));
  EXPECT_FALSE(is_equal(bytes_of("abc"), bytes_of("ab")));
}

}  // namespace
}  // namespace sextant
