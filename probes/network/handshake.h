// Mutual authentication of two hosts of one probe before any measurement.
//
// The server speaks first:
//   challenge  "SXT1", 32 random bytes                                             (36 bytes)
//   answer     "SXT1", the request (16 bytes), 32 random bytes, a MAC              (84 bytes)
//   proof      a MAC                                                               (32 bytes)
// The MACs are HMAC-SHA256 under the probe's secret over the speaker, both sides' random bytes and the request.
// So a recorded answer is worthless (the server's bytes are new), neither side can be made to answer itself,
// and the client knows that it measures against the right server. The data that follows on the connection of a probe is
// random and is not protected.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "probes/network/secret.h"
#include "probes/network/socket.h"
#include "sextant/error.h"

namespace sextant::inline probes {

// The service that the client requests on the connection.
enum class Service : std::uint8_t {
  echo = 1,       // send each message back, see round_trips.h
  take = 2,       // read and report how much, see streams.h
  give = 3,       // send until the client has enough
  datagrams = 4,  // answer datagrams on a UDP socket, see datagrams.h
  permits = 5  // pass lines on to a permit server (cli/coschedule/permit_relay.h); no host of a probe serves it
};

struct Request {
  Service service = Service::echo;
  double limit_s = 0;  // the server ends it then in any case; whole milliseconds, at most a day

  friend bool operator==(const Request&, const Request&) = default;
};

inline constexpr std::size_t kChallengeBytes = 36;
inline constexpr std::size_t kAnswerBytes = 84;

using Challenge = std::array<std::byte, kChallengeBytes>;
using Answer = std::array<std::byte, kAnswerBytes>;

[[nodiscard]] Challenge make_challenge(const Nonce& server);

// A connection with an authenticated client.
struct Admission {
  Request request;
  Mac proof{};  // to be sent
  Secret key;   // for this connection, known to both sides
};

enum class Refusal { malformed, wrong_secret };

// The server's side. `answer` may be incomplete: bytes that cannot become a valid answer are refused at
// once.
struct HandshakeVerdict {
  bool is_admitted = false;
  Refusal refusal = Refusal::malformed;
  Admission admission;
};
[[nodiscard]] bool may_become_answer(std::span<const std::byte> begun);
[[nodiscard]] HandshakeVerdict judge_answer(const Secret& secret, const Nonce& server, const Answer& answer);

// The server hung up on the client's answer to its challenge, or its own proof is wrong: most likely the secrets differ.
class AnswerRefused : public Error {
 public:
  explicit AnswerRefused(const std::string& message) : Error(ErrorKind::machine, message) {}
};

// The client's side: connects, authenticates and checks the server. Throws Error(machine) with the reason, which is
// AnswerRefused if the server does not accept the secret.
struct Connection {
  Descriptor socket;
  Secret key;
};
[[nodiscard]] Connection request_service(const Endpoint& server, const Secret& secret, const Request& request,
                                         const Deadline& deadline);
// Opens several connections at the same time: at a distance each takes three round trips.
[[nodiscard]] std::vector<Connection> request_services(const Endpoint& server, const Secret& secret,
                                                       const Request& request, int count,
                                                       const Deadline& deadline);

}  // namespace sextant::inline probes
