// Compares our declarations with the toolkit's own, at compile time. Built only where both headers are found.
#include <cupti.h>
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "probes/trace/injection/cupti_abi.h"
#include "probes/trace/injection/nvtx_abi.h"

namespace sextant::trace {
namespace {

#define SEXTANT_SAME_PLACE(ours, our_member, theirs, their_member) \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member), #theirs "::" #their_member)

using Kernel = CUpti_ActivityKernel4;  // what later ones begin with
SEXTANT_SAME_PLACE(cupti::Kernel, start, Kernel, start);
SEXTANT_SAME_PLACE(cupti::Kernel, end, Kernel, end);
SEXTANT_SAME_PLACE(cupti::Kernel, device_id, Kernel, deviceId);
SEXTANT_SAME_PLACE(cupti::Kernel, stream_id, Kernel, streamId);
SEXTANT_SAME_PLACE(cupti::Kernel, correlation_id, Kernel, correlationId);
SEXTANT_SAME_PLACE(cupti::Kernel, name, Kernel, name);
// The newest of both sides: CUDA 13's own, and for CUDA 12 the one that each of its toolkits has. Toolkits keep
// the older records, in cupti_activity_deprecated.h. CUPTI_API_VERSION is 19 in CUDA 12.0 and 130000 in 13.0
// (cupti_version.h).
#if CUPTI_API_VERSION >= 130000
using NewKernel = CUpti_ActivityKernel10;
#elif CUPTI_API_VERSION >= 19
using NewKernel = CUpti_ActivityKernel9;
#else
using NewKernel = CUpti_ActivityKernel4;
#endif
SEXTANT_SAME_PLACE(cupti::Kernel, start, NewKernel, start);
SEXTANT_SAME_PLACE(cupti::Kernel, correlation_id, NewKernel, correlationId);
SEXTANT_SAME_PLACE(cupti::Kernel, name, NewKernel, name);

SEXTANT_SAME_PLACE(cupti::Memcpy, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SEXTANT_SAME_PLACE(cupti::Memcpy, bytes, CUpti_ActivityMemcpy5, bytes);
SEXTANT_SAME_PLACE(cupti::Memcpy, start, CUpti_ActivityMemcpy5, start);
SEXTANT_SAME_PLACE(cupti::Memcpy, device_id, CUpti_ActivityMemcpy5, deviceId);
SEXTANT_SAME_PLACE(cupti::Memcpy, correlation_id, CUpti_ActivityMemcpy5, correlationId);
SEXTANT_SAME_PLACE(cupti::PeerMemcpy, start, CUpti_ActivityMemcpyPtoP4, start);
SEXTANT_SAME_PLACE(cupti::PeerMemcpy, correlation_id, CUpti_ActivityMemcpyPtoP4, correlationId);
SEXTANT_SAME_PLACE(cupti::Memset, bytes, CUpti_ActivityMemset4, bytes);
SEXTANT_SAME_PLACE(cupti::Memset, start, CUpti_ActivityMemset4, start);
SEXTANT_SAME_PLACE(cupti::Memset, correlation_id, CUpti_ActivityMemset4, correlationId);
SEXTANT_SAME_PLACE(cupti::GraphTrace, start, CUpti_ActivityGraphTrace, start);
SEXTANT_SAME_PLACE(cupti::GraphTrace, graph_id, CUpti_ActivityGraphTrace, graphId);
SEXTANT_SAME_PLACE(cupti::GraphTrace, stream_id, CUpti_ActivityGraphTrace, streamId);
SEXTANT_SAME_PLACE(cupti::Overhead, start, CUpti_ActivityOverhead, start);
SEXTANT_SAME_PLACE(cupti::Overhead, end, CUpti_ActivityOverhead, end);

static_assert(cupti::kMemcpy == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(cupti::kMemset == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(cupti::kConcurrentKernel == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(cupti::kOverhead == CUPTI_ACTIVITY_KIND_OVERHEAD);
static_assert(cupti::kPeerMemcpy == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(cupti::kGraphTrace == CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
static_assert(cupti::kMaxLimitReached == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(cupti::kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);

SEXTANT_SAME_PLACE(nvtx::EventAttributes, message_type, nvtxEventAttributes_t, messageType);
SEXTANT_SAME_PLACE(nvtx::EventAttributes, message, nvtxEventAttributes_t, message);
static_assert(sizeof(nvtx::EventAttributes) == sizeof(nvtxEventAttributes_t));
static_assert(static_cast<int>(nvtx::kRegistered) == static_cast<int>(NVTX_MESSAGE_TYPE_REGISTERED));

#undef SEXTANT_SAME_PLACE

}  // namespace
}  // namespace sextant::trace
