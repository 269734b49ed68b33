// Ranges as a program makes them: through NVTX's own header if it is found, else in the same way.
#pragma once

#include <cstdint>

namespace nvtx_client {

void push(const char* name);
void pop();
std::uint64_t start(const char* name);
void end(std::uint64_t id);
// Pushes a range in a domain of its own, with a registered string as its name.
void push_in_domain(const char* name);
void pop_in_domain();
// The same with NVTX's other functions for it: wide text, attributes with plain or wide text.
void push_wide(const wchar_t* name);
void push_with_attributes(const char* name);
void push_with_attributes(const wchar_t* name);
std::uint64_t start_wide(const wchar_t* name);
std::uint64_t start_with_attributes(const char* name);
// Starts a range in a domain with a wide name, with a registered wide string as its name.
std::uint64_t start_in_wide_domain(const wchar_t* name);
void end_in_wide_domain(std::uint64_t id);

}  // namespace nvtx_client
