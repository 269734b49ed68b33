#include "probes/gpu/libraries/nccl_library.h"

#include <memory>

#include "probes/gpu/libraries/library_search.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// The name of a missing function; empty when all are there.
std::string load(void* library, NcclLibrary& nccl) {
  std::string missing;
  const auto want = [&](const char* name, auto& function) {
    if (!find_function(library, name, function) && missing.empty()) missing = name;
  };
  want("ncclGetVersion", nccl.get_version);
  want("ncclGetUniqueId", nccl.get_id);
  want("ncclCommInitRank", nccl.init_rank);
  want("ncclCommDestroy", nccl.destroy);
  want("ncclCommAbort", nccl.abort);
  want("ncclCommGetAsyncError", nccl.async_error);
  want("ncclGroupStart", nccl.group_start);
  want("ncclGroupEnd", nccl.group_end);
  want("ncclAllReduce", nccl.all_reduce);
  want("ncclAllGather", nccl.all_gather);
  want("ncclReduceScatter", nccl.reduce_scatter);
  want("ncclBroadcast", nccl.broadcast);
  want("ncclSend", nccl.send);
  want("ncclRecv", nccl.receive);
  want("ncclGetErrorString", nccl.error_text);
  return missing;
}

}  // namespace

const NcclLibrary* NcclLibrary::open(std::string& reason) {
  static std::string failure_reason;
  static const std::unique_ptr<const NcclLibrary> opened = []() -> std::unique_ptr<const NcclLibrary> {
    void* library = open_nvidia_library("NCCL", "libnccl.so.2", failure_reason);
    if (library == nullptr) return nullptr;
    auto functions = std::make_unique<NcclLibrary>();
    const std::string missing = load(library, *functions);
    if (missing.empty()) return functions;
    failure_reason = "the NCCL found has no " + missing + ": it is older than 2.7";
    return nullptr;
  }();
  reason = failure_reason;
  return opened.get();
}

void NcclLibrary::check(int status, const std::string& doing) const {
  if (status == kNcclSuccess) return;
  throw_machine_failed(std::string("NCCL: ") + error_text(status) + " (while " + doing + ")");
}

std::string NcclLibrary::version() const {
  int version = 0;
  check(get_version(&version), "asking for the version");
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

}  // namespace sextant::inline probes
