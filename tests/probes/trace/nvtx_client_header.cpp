#include <nvtx3/nvToolsExt.h>

#include "tests/probes/trace/nvtx_client.h"

namespace nvtx_client {
namespace {

nvtxDomainHandle_t domain() {
  static nvtxDomainHandle_t const handle = nvtxDomainCreateA("test");
  return handle;
}

nvtxDomainHandle_t wide_domain() {
  static nvtxDomainHandle_t const handle = nvtxDomainCreateW(L"wide");
  return handle;
}

nvtxEventAttributes_t attributes_of(std::int32_t type) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = type;
  return attributes;
}

nvtxEventAttributes_t attributes_of(const char* name) {
  nvtxEventAttributes_t attributes = attributes_of(NVTX_MESSAGE_TYPE_ASCII);
  attributes.message.ascii = name;
  return attributes;
}

}  // namespace

void push(const char* name) { nvtxRangePushA(name); }
void pop() { nvtxRangePop(); }
std::uint64_t start(const char* name) { return nvtxRangeStartA(name); }
void end(std::uint64_t id) { nvtxRangeEnd(id); }
void push_in_domain(const char* name) {
  nvtxEventAttributes_t attributes = attributes_of(NVTX_MESSAGE_TYPE_REGISTERED);
  attributes.message.registered = nvtxDomainRegisterStringA(domain(), name);
  nvtxDomainRangePushEx(domain(), &attributes);
}
void pop_in_domain() { nvtxDomainRangePop(domain()); }
void push_wide(const wchar_t* name) { nvtxRangePushW(name); }
void push_with_attributes(const char* name) {
  const nvtxEventAttributes_t attributes = attributes_of(name);
  nvtxRangePushEx(&attributes);
}
void push_with_attributes(const wchar_t* name) {
  nvtxEventAttributes_t attributes = attributes_of(NVTX_MESSAGE_TYPE_UNICODE);
  attributes.message.unicode = name;
  nvtxRangePushEx(&attributes);
}
std::uint64_t start_wide(const wchar_t* name) { return nvtxRangeStartW(name); }
std::uint64_t start_with_attributes(const char* name) {
  const nvtxEventAttributes_t attributes = attributes_of(name);
  return nvtxRangeStartEx(&attributes);
}
std::uint64_t start_in_wide_domain(const wchar_t* name) {
  nvtxEventAttributes_t attributes = attributes_of(NVTX_MESSAGE_TYPE_REGISTERED);
  attributes.message.registered = nvtxDomainRegisterStringW(wide_domain(), name);
  return nvtxDomainRangeStartEx(wide_domain(), &attributes);
}
void end_in_wide_domain(std::uint64_t id) { nvtxDomainRangeEnd(wide_domain(), id); }

}  // namespace nvtx_client
