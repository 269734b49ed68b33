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
// The same by the other functions that NVTX has for it: wide text, attributes with plain or wide text.
void push_wide(const wchar_t* name);
void push_with_attributes(const char* name);
void push_with_attributes(const wchar_t* name);
std::uint64_t start_wide(const wchar_t* name);
std::uint64_t start_with_attributes(const char* name);
// In a domain whose name is wide, by a registered string that is.
std::uint64_t start_in_wide_domain(const wchar_t* name);
void end_in_wide_domain(std::uint64_t id);

}  // namespace nvtx_client
