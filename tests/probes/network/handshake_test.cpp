#include "probes/network/handshake.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "probes/network/wire.h"

namespace sextant {
namespace {

constexpr std::size_t kRequestAt = 4, kNonceAt = 20, kMacAt = 52;
constexpr std::string_view kClientSays = "sextant client";

void put(Answer& answer, std::size_t at, std::span<const std::byte> bytes) {
  std::copy(bytes.begin(), bytes.end(), answer.begin() + static_cast<std::ptrdiff_t>(at));
}

// An answer put together by hand from what the header says of it.
Answer answer_to(const Nonce& server, const Secret& secret, std::uint64_t service, std::uint64_t limit_ms) {
  std::array<std::byte, 16> request{};
  store_number(std::span(request).first(8), service);
  store_number(std::span(request).last(8), limit_ms);
  const Nonce client = fresh_nonce();
  Answer answer{};
  put(answer, 0, bytes_of("SXT1"));
  put(answer, kRequestAt, request);
  put(answer, kNonceAt, client);
  put(answer, kMacAt, secret.sign({bytes_of(kClientSays), server, client, request}));
  return answer;
}

class HandshakeTest : public ::testing::Test {
 protected:
  Secret secret_ = Secret::fresh();
  Nonce server_ = fresh_nonce();
};

TEST_F(HandshakeTest, AdmitsWhoKnowsTheSecret) {
  const HandshakeVerdict verdict = judge_answer(secret_, server_, answer_to(server_, secret_, 2, 1500));
  ASSERT_TRUE(verdict.is_admitted);
  EXPECT_EQ(verdict.admission.request.service, Service::take);
  EXPECT_DOUBLE_EQ(verdict.admission.request.limit_s, 1.5);
}

TEST_F(HandshakeTest, RefusesAnotherSecret) {
  const HandshakeVerdict verdict = judge_answer(secret_, server_, answer_to(server_, Secret::fresh(), 2, 1500));
  EXPECT_FALSE(verdict.is_admitted);
  EXPECT_EQ(verdict.refusal, Refusal::wrong_secret);
}

TEST_F(HandshakeTest, RefusesARecordedAnswer) {
  const Answer recorded = answer_to(server_, secret_, 2, 1500);
  EXPECT_TRUE(judge_answer(secret_, server_, recorded).is_admitted);
  const HandshakeVerdict verdict = judge_answer(secret_, fresh_nonce(), recorded);
  EXPECT_FALSE(verdict.is_admitted);
  EXPECT_EQ(verdict.refusal, Refusal::wrong_secret);
}

TEST_F(HandshakeTest, RefusesAnAnswerWithAnyBitChanged) {
  const Answer good = answer_to(server_, secret_, 2, 1500);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Answer changed = good;
      changed[i] ^= std::byte{1} << bit;
      EXPECT_FALSE(judge_answer(secret_, server_, changed).is_admitted) << "byte " << i << ", bit " << bit;
    }
  }
}

// A server's message cannot be sent back to it as an answer.
TEST_F(HandshakeTest, TheServersProofIsNotAClients) {
  const Answer good = answer_to(server_, secret_, 1, 1000);
  const HandshakeVerdict verdict = judge_answer(secret_, server_, good);
  Answer reflected = good;
  put(reflected, kMacAt, verdict.admission.proof);
  EXPECT_FALSE(judge_answer(secret_, server_, reflected).is_admitted);
}

TEST_F(HandshakeTest, RefusesServicesThatThereAreNot) {
  for (const std::uint64_t service : {0ULL, 6ULL, 1ULL << 40}) {
    EXPECT_FALSE(judge_answer(secret_, server_, answer_to(server_, secret_, service, 1000)).is_admitted)
        << service;
  }
  EXPECT_FALSE(judge_answer(secret_, server_, answer_to(server_, secret_, 1, 1ULL << 60)).is_admitted);
}

TEST_F(HandshakeTest, GarbageIsRefusedAtItsFirstByte) {
  EXPECT_TRUE(may_become_answer({}));
  EXPECT_TRUE(may_become_answer(bytes_of("SX")));
  EXPECT_FALSE(may_become_answer(bytes_of("G")));
  EXPECT_FALSE(may_become_answer(bytes_of("SXT2")));
}

TEST_F(HandshakeTest, EachConnectionHasItsOwnKey) {
  const auto key_of = [&] {
    const Nonce nonce = fresh_nonce();
    return judge_answer(secret_, nonce, answer_to(nonce, secret_, 4, 1000)).admission.key.hex();
  };
  EXPECT_NE(key_of(), key_of());
}

}  // namespace
}  // namespace sextant
