#include "probes/gathering/heartbeats.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <random>

#include "core/json_value.h"
#include "core/text.h"
#include "probes/report/rank_report.h"

namespace sextant::inline probes {
namespace {

constexpr std::size_t kMaxWords = 100;     // of what a rank is doing
constexpr std::size_t kMaxAddresses = 16;  // of a listener
constexpr std::size_t kMaxBytes = 512;

// An address of any family, as the calls take it.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress address_of(int family, const std::string& text, std::uint16_t port) {
  SocketAddress address;
  if (family == AF_INET) {
    sockaddr_in of{};
    of.sin_family = AF_INET;
    of.sin_port = htons(port);
    inet_pton(AF_INET, text.c_str(), &of.sin_addr);
    std::memcpy(&address.storage, &of, sizeof(of));
    address.length = sizeof(of);
  } else {
    sockaddr_in6 of{};
    of.sin6_family = AF_INET6;
    of.sin6_port = htons(port);
    inet_pton(AF_INET6, text.c_str(), &of.sin6_addr);
    std::memcpy(&address.storage, &of, sizeof(of));
    address.length = sizeof(of);
  }
  return address;
}

std::uint16_t port_of(int number) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (getsockname(number, address.get(), &address.length) != 0) return 0;
  sockaddr_in of{};  // both families have the port in the same place
  std::memcpy(&of, &address.storage, sizeof(of));
  return ntohs(of.sin_port);
}

// The addresses of this host and the loopback: ranks of one host need no network.
std::vector<std::string> own_addresses(int family) {
  std::vector<std::string> texts = {family == AF_INET ? "127.0.0.1" : "::1"};
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return texts;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr && texts.size() < kMaxAddresses; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool is_v4 = family == AF_INET;
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
    if (!is_v4 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;  // means nothing on another host
    const void* bits = is_v4 ? static_cast<const void*>(&v4->sin_addr) : &v6->sin6_addr;
    if (inet_ntop(family, bits, text.data(), text.size()) != nullptr) texts.emplace_back(text.data());
  }
  return texts;
}

std::string fresh_token() {
  std::random_device random;
  std::string token;
  for (int part = 0; part < 4; ++part) token += std::to_string(random());
  return token;
}

}  // namespace

Heartbeats::Heartbeats(Communicator& ranks) : rank_(ranks.rank()), hosts_(ranks.hosts()) {
  open_sockets();
  const std::vector<std::string> all = exchange_texts(ranks, own_doors());
  for (int listener = 0; listener < std::min(kListeners, ranks.size()); ++listener) {
    const Json json = parse_json(all[static_cast<std::size_t>(listener)]);
    const JsonView view(json);
    if (listener == 0) token_ = view.required("token").text();
    for (const JsonView& door : view.required("doors").items()) {
      doors_.push_back({door.required("family").count(), door.required("address").text(),
                        static_cast<std::uint16_t>(door.required("port").count())});
    }
  }
}

std::string Heartbeats::name_of(int rank) const {
  return "rank " + std::to_string(rank) + " on " + hosts_[static_cast<std::size_t>(rank)];
}

void Heartbeats::open_sockets() {
  for (const int family : {AF_INET, AF_INET6}) {
    Descriptor opened(socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!opened.is_open()) continue;
    const int on = 1;
    if (family == AF_INET6) setsockopt(opened.number(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    SocketAddress any = address_of(family, family == AF_INET ? "0.0.0.0" : "::", 0);
    if (bind(opened.number(), any.get(), any.length) == 0) sockets_[family] = std::move(opened);
  }
}

std::string Heartbeats::own_doors() const {
  if (rank_ >= kListeners) return "{}";
  Json doors = Json::array();
  for (const auto& [family, opened] : sockets_) {
    for (const std::string& address : own_addresses(family)) {
      doors.push_back({{"family", family}, {"address", address}, {"port", port_of(opened.number())}});
    }
  }
  return Json{{"token", fresh_token()}, {"doors", doors}}.dump();
}

void Heartbeats::say(std::string_view what) {
  const std::string text = token_ + " " + std::to_string(rank_) + " " + shorten(what, kMaxWords);
  for (const Door& door : doors_) {
    const auto opened = sockets_.find(door.family);
    if (opened == sockets_.end()) continue;
    SocketAddress to = address_of(door.family, door.address, door.port);
    // A heartbeat that cannot be sent now is sent the next time.
    static_cast<void>(sendto(opened->second.number(), text.data(), text.size(), 0, to.get(), to.length));
  }
}

void Heartbeats::listen(double now_s) {
  if (!is_listener()) return;
  std::array<char, kMaxBytes> buffer{};
  for (const auto& [family, opened] : sockets_) {
    for (;;) {
      const ssize_t length = recv(opened.number(), buffer.data(), buffer.size(), 0);
      if (length < 0) break;
      hear(std::string_view(buffer.data(), static_cast<std::size_t>(length)), now_s);
    }
  }
}

void Heartbeats::hear(std::string_view text, double now_s) {
  if (!text.starts_with(token_ + " ")) return;
  text.remove_prefix(token_.size() + 1);
  int rank = -1;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (fault != std::errc{} || rank < 0 || rank >= static_cast<int>(hosts_.size())) return;
  text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
  heard_[rank] = {now_s, std::string(text)};
}

std::vector<int> Heartbeats::silent(double now_s, double limit_s) const {
  std::vector<int> ranks;
  for (const auto& [rank, heard] : heard_) {
    if (now_s - heard.when_s > limit_s) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<int> Heartbeats::unheard() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(hosts_.size()); ++rank) {
    if (!heard_.contains(rank)) ranks.push_back(rank);
  }
  return ranks;
}

const std::string& Heartbeats::last_words(int rank) const { return heard_.at(rank).what; }
double Heartbeats::silent_s(int rank, double now_s) const { return now_s - heard_.at(rank).when_s; }

}  // namespace sextant::inline probes
