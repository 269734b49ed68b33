#include "probes/network/handshake.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "probes/network/wire.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr std::string_view kMagic = "SXT1";
constexpr std::size_t kRequestBytes = 16;
constexpr std::uint64_t kMaxLimit_ms = 24ULL * 3600 * 1000;

using RequestBytes = std::array<std::byte, kRequestBytes>;

RequestBytes encode(const Request& request) {
  RequestBytes bytes{};
  store_number(std::span(bytes).subspan(0, 8), static_cast<std::uint64_t>(request.service));
  const double limit_ms = std::clamp(std::ceil(request.limit_s * 1e3), 0.0, static_cast<double>(kMaxLimit_ms));
  store_number(std::span(bytes).subspan(8, 8), static_cast<std::uint64_t>(limit_ms));
  return bytes;
}

// The result is empty for an unknown service.
std::optional<Request> request_in(std::span<const std::byte> bytes) {
  const std::uint64_t service = load_number(bytes.subspan(0, 8));
  const std::uint64_t limit_ms = load_number(bytes.subspan(8, 8));
  const bool is_known = service >= static_cast<std::uint64_t>(Service::echo) &&
                        service <= static_cast<std::uint64_t>(Service::permits);
  if (!is_known || limit_ms > kMaxLimit_ms) return std::nullopt;
  return Request{static_cast<Service>(service), static_cast<double>(limit_ms) * 1e-3};
}

// The data that both sides sign, each under its own name.
struct Transcript {
  std::span<const std::byte> server_nonce, client_nonce, request;

  [[nodiscard]] Mac sign(const Secret& secret, std::string_view who) const {
    return secret.sign({bytes_of(who), server_nonce, client_nonce, request});
  }
  [[nodiscard]] Secret key(const Secret& secret) const {
    return secret.derive({bytes_of("sextant connection"), server_nonce, client_nonce, request});
  }
};

constexpr std::string_view kClient = "sextant client";
constexpr std::string_view kServer = "sextant server";

void put(std::span<std::byte> to, std::span<const std::byte> from) {
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

Challenge make_challenge(const Nonce& server) {
  Challenge challenge{};
  put(challenge, bytes_of(kMagic));
  put(std::span(challenge).subspan(kMagic.size()), server);
  return challenge;
}

bool may_become_answer(std::span<const std::byte> begun) {
  const std::size_t known = std::min(begun.size(), kMagic.size());
  return is_equal(begun.first(known), bytes_of(kMagic.substr(0, known)));
}

HandshakeVerdict judge_answer(const Secret& secret, const Nonce& server, const Answer& answer) {
  HandshakeVerdict verdict;
  const auto all = std::span<const std::byte>(answer);
  const auto request_bytes = all.subspan(kMagic.size(), kRequestBytes);
  const auto client = all.subspan(kMagic.size() + kRequestBytes, sizeof(Nonce));
  const auto mac = all.last(sizeof(Mac));
  if (!may_become_answer(all)) return verdict;
  const Transcript transcript{server, client, request_bytes};
  if (!is_equal(mac, transcript.sign(secret, kClient))) {
    verdict.refusal = Refusal::wrong_secret;
    return verdict;
  }
  const auto request = request_in(request_bytes);
  if (!request) return verdict;
  verdict.is_admitted = true;
  verdict.admission = {*request, transcript.sign(secret, kServer), transcript.key(secret)};
  return verdict;
}

Connection request_service(const Endpoint& server, const Secret& secret, const Request& request,
                           const Deadline& deadline) {
  Connection connection{connect_to(server, deadline), {}};
  Challenge challenge{};
  receive_all(connection.socket, challenge, deadline);
  const auto whole = std::span<const std::byte>(challenge);
  if (!may_become_answer(whole)) throw_machine_failed(server.text() + " is not a Sextant probe");
  const RequestBytes request_bytes = encode(request);
  const Nonce client = fresh_nonce();
  const Transcript transcript{whole.subspan(kMagic.size()), client, request_bytes};

  Answer answer{};
  const auto rest = std::span(answer).subspan(kMagic.size());
  put(answer, bytes_of(kMagic));
  put(rest, request_bytes);
  put(rest.subspan(kRequestBytes), client);
  put(rest.subspan(kRequestBytes + sizeof(Nonce)), transcript.sign(secret, kClient));
  send_all(connection.socket, answer, deadline);

  Mac proof{};
  try {
    receive_all(connection.socket, proof, deadline);
  } catch (const ConnectionClosed& error) {
    throw AnswerRefused(error.what());
  }
  if (!is_equal(proof, transcript.sign(secret, kServer))) {
    throw AnswerRefused(server.text() + " does not have the secret of this probe");
  }
  connection.key = transcript.key(secret);
  return connection;
}

std::vector<Connection> request_services(const Endpoint& server, const Secret& secret, const Request& request,
                                         int count, const Deadline& deadline) {
  std::vector<std::future<Connection>> under_way;
  std::vector<Connection> connections;
  try {
    for (int i = 1; i < count; ++i) {
      under_way.push_back(
          std::async(std::launch::async, [&] { return request_service(server, secret, request, deadline); }));
    }
    connections.push_back(request_service(server, secret, request, deadline));
  } catch (const std::system_error& error) {  // what is under way is waited for
    throw_machine_failed(std::string("cannot start a thread: ") + error.what());
  }
  for (std::future<Connection>& one : under_way) connections.push_back(one.get());
  return connections;
}

}  // namespace sextant::inline probes
