// The part of NVTX's binary interface that a tool uses: how it attaches (InitializeInjectionNvtx2 and the
// tables of callbacks), and how a range is described. Stable since NVTX 2; abi_check.cpp compares it with the
// real headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant::trace::nvtx {

inline constexpr std::uint32_t kCallbacksTable = 1;  // NVTX_ETID_CALLBACKS

enum Module : std::int32_t { kCore = 1, kCore2 = 5 };

// Indices in the table of kCore.
enum CoreId : unsigned {
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11
};

// Indices in the table of kCore2.
enum Core2Id : unsigned {
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13
};

enum MessageType : std::int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};

using Function = void (*)();
using FunctionTable = Function**;

struct CallbacksTable {
  std::size_t struct_size;
  int (*get_module_function_table)(std::int32_t module, FunctionTable* table, unsigned* size);
};

using GetExportTable = const void* (*)(std::uint32_t id);

}  // namespace sextant::trace::nvtx
