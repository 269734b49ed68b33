#include "probes/trace/injection/activity.h"

namespace sextant::trace {
namespace {

CopyKind copy_kind_of(std::uint8_t kind) {
  switch (kind) {  // CUpti_ActivityMemcpyKind
    case 1:
    case 3:
      return CopyKind::host_to_device;
    case 2:
    case 4:
      return CopyKind::device_to_host;
    case 5:
    case 6:
    case 7:
    case 8:
      return CopyKind::within_device;
    case 9:
      return CopyKind::host;
    case 10:
      return CopyKind::between_devices;
    default:
      return CopyKind::unknown;
  }
}

// The members that all records on a device have.
template <typename Theirs>
Record on_device(RecordKind kind, const Theirs& theirs) {
  Record record;
  record.kind = kind;
  record.device = static_cast<std::uint16_t>(theirs.device_id);
  record.stream = theirs.stream_id;
  record.correlation = theirs.correlation_id;
  record.start = theirs.start;
  record.end = theirs.end;
  return record;
}

template <typename Theirs>
Record of_copy(const Theirs& theirs) {
  Record record = on_device(RecordKind::copy, theirs);
  record.detail = static_cast<std::uint8_t>(copy_kind_of(theirs.copy_kind));
  record.value = theirs.bytes;
  return record;
}

template <typename Theirs>
const Theirs& as(const cupti::Activity& activity) {
  return reinterpret_cast<const Theirs&>(activity);
}

Record of_overhead(const cupti::Overhead& theirs) {
  Record record;
  record.kind = RecordKind::overhead;
  record.start = theirs.start;
  record.end = theirs.end;
  record.value = static_cast<std::uint64_t>(theirs.overhead_kind);
  return record;
}

}  // namespace

ConvertedActivity convert(const cupti::Activity& activity) {
  ConvertedActivity converted;
  converted.is_wanted = true;
  switch (activity.kind) {
    case cupti::kConcurrentKernel: {
      const auto& kernel = as<cupti::Kernel>(activity);
      converted.record = on_device(RecordKind::kernel, kernel);
      if (kernel.name != nullptr) converted.name = kernel.name;
      break;
    }
    case cupti::kMemcpy:
      converted.record = of_copy(as<cupti::Memcpy>(activity));
      break;
    case cupti::kPeerMemcpy:
      converted.record = of_copy(as<cupti::PeerMemcpy>(activity));
      break;
    case cupti::kMemset: {
      const auto& set = as<cupti::Memset>(activity);
      converted.record = on_device(RecordKind::set, set);
      converted.record.value = set.bytes;
      break;
    }
    case cupti::kGraphTrace: {
      const auto& graph = as<cupti::GraphTrace>(activity);
      converted.record = on_device(RecordKind::graph, graph);
      converted.record.value = graph.graph_id;
      break;
    }
    case cupti::kOverhead:
      converted.record = of_overhead(as<cupti::Overhead>(activity));
      break;
    default:
      converted.is_wanted = false;
      return converted;
  }
  // A forced flush hands over records that are not complete.
  converted.lacks_times = converted.record.end == 0 || converted.record.end < converted.record.start;
  if (converted.lacks_times) converted.is_wanted = false;
  return converted;
}

}  // namespace sextant::trace
