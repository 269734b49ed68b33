#include <nvtx3/nvToolsExt.h>

#include "tests/probes/trace/nvtx_client.h"

namespace nvtx_client {
namespace {

nvtxDomainHandle_t domain() {
  static nvtxDomainHandle_t const handle = nvtxDomainCreateA("test");
  return handle;
}

}  // namespace

void push(const char* name) { nvtxRangePushA(name); }
void pop() { nvtxRangePop(); }
std::uint64_t start(const char* name) { return nvtxRangeStartA(name); }
void end(std::uint64_t id) { nvtxRangeEnd(id); }
void push_in_domain(const char* name) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain(), name);
  nvtxDomainRangePushEx(domain(), &attributes);
}
void pop_in_domain() { nvtxDomainRangePop(domain()); }

}  // namespace nvtx_client
