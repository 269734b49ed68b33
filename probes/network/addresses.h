// The addresses of a host, by name or as they stand.
#pragma once

#include <netdb.h>

#include <memory>

#include "probes/network/socket.h"

namespace sextant {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// At least one. Error(machine) when there is none, or the name's servers do not answer in time.
[[nodiscard]] Addresses look_up(const Endpoint& endpoint, const Deadline& deadline);

[[nodiscard]] int count(const addrinfo* list);

}  // namespace sextant
