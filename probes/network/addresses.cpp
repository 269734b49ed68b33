#include "probes/network/addresses.h"

#include <sys/socket.h>

#include <chrono>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

struct Resolved {
  int failed = 0;
  Addresses list;
};

Resolved ask_for(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int failed =
      getaddrinfo(endpoint.address.c_str(), std::to_string(endpoint.port).c_str(), &hints, &list);
  return {failed, Addresses(failed == 0 ? list : nullptr)};
}

// A name look-up cannot be cancelled, and its servers may not answer for minutes: its thread is then left
// behind.
Resolved look_up_name(const Endpoint& endpoint, const Deadline& deadline) {
  std::promise<Resolved> promise;
  std::future<Resolved> future = promise.get_future();
  try {
    std::thread([endpoint, promise = std::move(promise)]() mutable {
      promise.set_value(ask_for(endpoint, 0));
    }).detach();
  } catch (const std::system_error& error) {
    throw_machine_failed(std::string("cannot start a thread: ") + error.what());
  }
  if (future.wait_for(std::chrono::milliseconds(deadline.left_ms())) != std::future_status::ready) {
    throw_machine_failed(endpoint.address + ": name resolution timed out on this host");
  }
  return future.get();
}

}  // namespace

Addresses look_up(const Endpoint& endpoint, const Deadline& deadline) {
  Resolved resolved = ask_for(endpoint, AI_NUMERICHOST);
  if (resolved.failed != 0) resolved = look_up_name(endpoint, deadline);
  if (resolved.failed != 0) throw_machine_failed(endpoint.address + ": " + gai_strerror(resolved.failed));
  return std::move(resolved.list);
}

int count(const addrinfo* list) {
  int number = 0;
  for (; list != nullptr; list = list->ai_next) ++number;
  return number;
}

}  // namespace sextant::inline probes
