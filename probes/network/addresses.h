// The addresses of a host, looked up by name or given literally.
#pragma once

#include <netdb.h>

#include <memory>

#include "probes/network/socket.h"

namespace sextant::inline probes {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// Returns at least one. Throws Error(machine) if there is none, or the name servers do not answer in time.
[[nodiscard]] Addresses look_up(const Endpoint& endpoint, const Deadline& deadline);

[[nodiscard]] int count(const addrinfo* list);

}  // namespace sextant::inline probes
