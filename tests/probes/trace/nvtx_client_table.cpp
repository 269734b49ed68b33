#include <dlfcn.h>

#include <array>
#include <cstdlib>

#include "probes/trace/injection/nvtx_abi.h"
#include "tests/probes/trace/nvtx_client.h"

namespace nvtx_client {
namespace {

namespace nvtx = sextant::trace::nvtx;

struct Table {
  std::array<nvtx::Function, 16> slots{};
  std::array<nvtx::Function*, 16> places{};
  Table() {
    for (std::size_t i = 0; i < slots.size(); ++i) places[i] = &slots[i];
  }
};
Table core, core2;

int get_module_function_table(std::int32_t module, nvtx::FunctionTable* table, unsigned* size) {
  if (module != nvtx::kCore && module != nvtx::kCore2) return 0;
  *table = (module == nvtx::kCore ? core : core2).places.data();
  *size = 16;
  return 1;
}

const nvtx::CallbacksTable callbacks{sizeof(nvtx::CallbacksTable), get_module_function_table};

const void* get_export_table(std::uint32_t id) { return id == nvtx::kCallbacksTable ? &callbacks : nullptr; }

bool attach() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  const auto initialize =
      reinterpret_cast<int (*)(nvtx::GetExportTable)>(dlsym(library, "InitializeInjectionNvtx2"));
  return initialize != nullptr && initialize(get_export_table) != 0;
}

template <typename Type>
Type function(const Table& table, unsigned place) {
  static const bool is_attached = attach();
  return is_attached ? reinterpret_cast<Type>(table.slots[place]) : nullptr;
}

nvtx::EventAttributes attributes_of(nvtx::MessageType type, const void* message) {
  nvtx::EventAttributes attributes{};
  attributes.size = sizeof attributes;
  attributes.message_type = type;
  attributes.message = message;
  return attributes;
}

void push_with(const nvtx::EventAttributes& attributes) {
  if (const auto call = function<int (*)(const nvtx::EventAttributes*)>(core, nvtx::kRangePushEx))
    call(&attributes);
}

const void* domain() {
  const auto create = function<const void* (*)(const char*)>(core2, nvtx::kDomainCreateA);
  static const void* const handle = create == nullptr ? nullptr : create("test");
  return handle;
}

const void* wide_domain() {
  const auto create = function<const void* (*)(const wchar_t*)>(core2, nvtx::kDomainCreateW);
  static const void* const handle = create == nullptr ? nullptr : create(L"wide");
  return handle;
}

}  // namespace

void push(const char* name) {
  if (const auto call = function<int (*)(const char*)>(core, nvtx::kRangePushA)) call(name);
}
void pop() {
  if (const auto call = function<int (*)()>(core, nvtx::kRangePop)) call();
}
std::uint64_t start(const char* name) {
  const auto call = function<std::uint64_t (*)(const char*)>(core, nvtx::kRangeStartA);
  return call == nullptr ? 0 : call(name);
}
void end(std::uint64_t id) {
  if (const auto call = function<void (*)(std::uint64_t)>(core, nvtx::kRangeEnd)) call(id);
}
void push_in_domain(const char* name) {
  const auto intern = function<const void* (*)(const void*, const char*)>(core2, nvtx::kDomainRegisterStringA);
  const auto call =
      function<int (*)(const void*, const nvtx::EventAttributes*)>(core2, nvtx::kDomainRangePushEx);
  if (intern == nullptr || call == nullptr) return;
  const nvtx::EventAttributes attributes = attributes_of(nvtx::kRegistered, intern(domain(), name));
  call(domain(), &attributes);
}
void pop_in_domain() {
  if (const auto call = function<int (*)(const void*)>(core2, nvtx::kDomainRangePop)) call(domain());
}

void push_wide(const wchar_t* name) {
  if (const auto call = function<int (*)(const wchar_t*)>(core, nvtx::kRangePushW)) call(name);
}
void push_with_attributes(const char* name) { push_with(attributes_of(nvtx::kAscii, name)); }
void push_with_attributes(const wchar_t* name) { push_with(attributes_of(nvtx::kUnicode, name)); }
std::uint64_t start_wide(const wchar_t* name) {
  const auto call = function<std::uint64_t (*)(const wchar_t*)>(core, nvtx::kRangeStartW);
  return call == nullptr ? 0 : call(name);
}
std::uint64_t start_with_attributes(const char* name) {
  const auto call = function<std::uint64_t (*)(const nvtx::EventAttributes*)>(core, nvtx::kRangeStartEx);
  const nvtx::EventAttributes attributes = attributes_of(nvtx::kAscii, name);
  return call == nullptr ? 0 : call(&attributes);
}
std::uint64_t start_in_wide_domain(const wchar_t* name) {
  const auto intern =
      function<const void* (*)(const void*, const wchar_t*)>(core2, nvtx::kDomainRegisterStringW);
  const auto call =
      function<std::uint64_t (*)(const void*, const nvtx::EventAttributes*)>(core2, nvtx::kDomainRangeStartEx);
  if (intern == nullptr || call == nullptr) return 0;
  const nvtx::EventAttributes attributes = attributes_of(nvtx::kRegistered, intern(wide_domain(), name));
  return call(wide_domain(), &attributes);
}
void end_in_wide_domain(std::uint64_t id) {
  if (const auto call = function<void (*)(const void*, std::uint64_t)>(core2, nvtx::kDomainRangeEnd)) {
    call(wide_domain(), id);
  }
}

}  // namespace nvtx_client
