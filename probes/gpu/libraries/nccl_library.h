// NCCL, opened on first use.
#pragma once

#include <array>
#include <cstddef>
#include <string>

struct CUstream_st;  // CUDA's name; its header is not available everywhere

namespace sextant::inline probes {

// The used part of nccl.h, which has not changed since NCCL 2.10 (bf16); the toolkit does not include the
// header everywhere.
struct NcclId {
  std::array<char, 128> bytes;
};
using NcclComm = struct ncclComm*;
using NcclStream = CUstream_st*;  // cudaStream_t
inline constexpr int kNcclSuccess = 0;
inline constexpr int kNcclInProgress = 7;
inline constexpr int kNcclSum = 0;
inline constexpr int kNcclInt8 = 0;
inline constexpr int kNcclFp32 = 7;
inline constexpr int kNcclBf16 = 9;

struct NcclLibrary {
  // Returns the library, or null with the reason.
  [[nodiscard]] static const NcclLibrary* open(std::string& reason);

  int (*get_version)(int*) = nullptr;
  int (*get_id)(NcclId*) = nullptr;
  int (*init_rank)(NcclComm*, int ranks, NcclId, int rank) = nullptr;
  int (*destroy)(NcclComm) = nullptr;
  int (*abort)(NcclComm) = nullptr;
  int (*async_error)(NcclComm, int*) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int type, int operation, NcclComm, NcclStream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int type, NcclComm, NcclStream) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int type, int operation, NcclComm,
                        NcclStream) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int type, int root, NcclComm, NcclStream) = nullptr;
  int (*send)(const void*, std::size_t, int type, int peer, NcclComm, NcclStream) = nullptr;
  int (*receive)(void*, std::size_t, int type, int peer, NcclComm, NcclStream) = nullptr;
  const char* (*error_text)(int) = nullptr;

  // Throws Error(machine): "NCCL: <its own text> (while <doing>)".
  void check(int status, const std::string& doing) const;
  [[nodiscard]] std::string version() const;  // "2.28.9"
};

}  // namespace sextant::inline probes
