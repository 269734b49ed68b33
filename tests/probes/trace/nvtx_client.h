// Ranges as a program makes them: through NVTX's own header where it is found, else as that header does it.
#pragma once

#include <cstdint>

namespace nvtx_client {

void push(const char* name);
void pop();
std::uint64_t start(const char* name);
void end(std::uint64_t id);
// In a domain of its own, named by a registered string.
void push_in_domain(const char* name);
void pop_in_domain();

}  // namespace nvtx_client
