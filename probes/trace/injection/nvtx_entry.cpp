// Called by NVTX in each module that uses it, because NVTX_INJECTION64_PATH names this library.
//
// Ranges are taken here and not from CUPTI's marker records: so they are there without a device, without CUPTI
// and beside another tool's CUPTI subscription, on the host's clock, and CUPTI's own NVTX handling, which
// crashes in some versions (13.0.0: nvtxNameOsThread), is not in the way.
#include <array>
#include <cstdlib>
#include <cwchar>
#include <deque>
#include <initializer_list>
#include <mutex>
#include <string>

#include "probes/trace/injection/nvtx_abi.h"
#include "probes/trace/injection/recorder.h"

namespace sextant::trace {
namespace {

using nvtx::EventAttributes;

// ---- text ----

std::string narrow(const wchar_t* text) {
  std::string out;
  if (text == nullptr) return out;
  for (; *text != L'\0' && out.size() < kLongestName; ++text) {
    const std::wint_t code = std::char_traits<wchar_t>::to_int_type(*text);
    constexpr std::wint_t kAsciiEnd = 0x80;
    out += code < kAsciiEnd ? static_cast<char>(code) : '?';
  }
  return out;
}

std::string copied(const char* text) { return text == nullptr ? "" : text; }

// Handles of registered strings and domains are addresses in here; they stay valid for the process.
const std::string* kept(std::string text) {
  static std::mutex mutex;
  static auto* const all = new std::deque<std::string>;
  const std::lock_guard lock(mutex);
  all->push_back(std::move(text));
  return &all->back();
}

struct Message {
  std::string_view text;
  std::string own;  // where the text had to be converted
};

void read_message(const EventAttributes* attributes, Message& message) {
  if (attributes == nullptr || attributes->message == nullptr) return;
  switch (attributes->message_type) {
    case nvtx::kAscii:
      message.text = static_cast<const char*>(attributes->message);
      break;
    case nvtx::kUnicode:
      message.own = narrow(static_cast<const wchar_t*>(attributes->message));
      message.text = message.own;
      break;
    case nvtx::kRegistered:
      message.text = *static_cast<const std::string*>(attributes->message);
      break;
    default:
      break;
  }
}

// ---- ranges ----

// Ranges that a thread has pushed and not popped. Plain data: no destructor runs when a thread ends.
struct Pushed {
  const void* domain;
  std::uint64_t id;
};
struct Stack {
  static constexpr int kMaximum = 256;
  std::array<Pushed, kMaximum> ranges;
  int depth;
};
thread_local Stack stack;

constexpr const char* kUnnamed = "(unnamed)";

int push(const void* domain, std::string_view name) {
  Recorder* recorder = Recorder::instance();
  const int depth = stack.depth++;
  if (recorder == nullptr || depth >= Stack::kMaximum) return depth;
  const std::uint64_t id = Recorder::next_id();
  stack.ranges[static_cast<std::size_t>(depth)] = {domain, id};
  recorder->begin_range(id, name.empty() ? kUnnamed : name, RangeStyle::push_pop, depth > 0);
  return depth;
}

// The innermost open range of the domain: domains need not be nested in each other.
int pop(const void* domain) {
  if (stack.depth <= 0) return -1;
  const int top = stack.depth - 1;
  if (top >= Stack::kMaximum) return --stack.depth;
  const auto range = [](int place) -> Pushed& { return stack.ranges[static_cast<std::size_t>(place)]; };
  int at = top;
  while (at >= 0 && range(at).domain != domain) --at;
  if (at < 0) return -1;
  const std::uint64_t id = range(at).id;
  for (; at < top; ++at) range(at) = range(at + 1);
  stack.depth = top;
  if (Recorder* recorder = Recorder::instance()) recorder->end_range(id);
  return top;
}

std::uint64_t start(std::string_view name) {
  const std::uint64_t id = Recorder::next_id();
  if (Recorder* recorder = Recorder::instance()) {
    recorder->begin_range(id, name.empty() ? kUnnamed : name, RangeStyle::start_end, stack.depth > 0);
  }
  return id;
}

void end(std::uint64_t id) {
  if (Recorder* recorder = Recorder::instance()) recorder->end_range(id);
}

// ---- what NVTX calls ----

int push_a(const char* text) { return push(nullptr, text == nullptr ? "" : text); }
int push_w(const wchar_t* text) { return push(nullptr, narrow(text)); }
int push_ex(const EventAttributes* attributes) {
  Message message;
  read_message(attributes, message);
  return push(nullptr, message.text);
}
int domain_push_ex(const void* domain, const EventAttributes* attributes) {
  Message message;
  read_message(attributes, message);
  return push(domain, message.text);
}
int pop_default() { return pop(nullptr); }
int domain_pop(const void* domain) { return pop(domain); }

std::uint64_t start_a(const char* text) { return start(text == nullptr ? "" : text); }
std::uint64_t start_w(const wchar_t* text) { return start(narrow(text)); }
std::uint64_t start_ex(const EventAttributes* attributes) {
  Message message;
  read_message(attributes, message);
  return start(message.text);
}
std::uint64_t domain_start_ex(const void* /*domain*/, const EventAttributes* attributes) {
  return start_ex(attributes);
}
void domain_end(const void* /*domain*/, std::uint64_t id) { end(id); }

const void* register_a(const void* /*domain*/, const char* text) { return kept(copied(text)); }
const void* register_w(const void* /*domain*/, const wchar_t* text) { return kept(narrow(text)); }
const void* create_domain_a(const char* name) { return kept(copied(name)); }
const void* create_domain_w(const wchar_t* name) { return kept(narrow(name)); }

// ---- attaching ----

struct Place {
  unsigned number;
  nvtx::Function function;
};
template <typename Pointer>
Place at(unsigned number, Pointer function) {
  return {number, reinterpret_cast<nvtx::Function>(function)};
}

bool attach(const nvtx::CallbacksTable& callbacks, unsigned module, std::initializer_list<Place> places) {
  nvtx::FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.get_module_function_table(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Place& place : places) {
    if (place.number < size && table[place.number] != nullptr) *table[place.number] = place.function;
  }
  return true;
}

bool attach_core(const nvtx::CallbacksTable& callbacks) {
  return attach(callbacks, nvtx::kCore,
                {at(nvtx::kRangePushA, push_a), at(nvtx::kRangePushW, push_w), at(nvtx::kRangePushEx, push_ex),
                 at(nvtx::kRangePop, pop_default), at(nvtx::kRangeStartA, start_a),
                 at(nvtx::kRangeStartW, start_w), at(nvtx::kRangeStartEx, start_ex), at(nvtx::kRangeEnd, end)});
}

// Old versions have no domains.
void attach_domains(const nvtx::CallbacksTable& callbacks) {
  attach(callbacks, nvtx::kCore2,
         {at(nvtx::kDomainRangePushEx, domain_push_ex), at(nvtx::kDomainRangePop, domain_pop),
          at(nvtx::kDomainRangeStartEx, domain_start_ex), at(nvtx::kDomainRangeEnd, domain_end),
          at(nvtx::kDomainRegisterStringA, register_a), at(nvtx::kDomainRegisterStringW, register_w),
          at(nvtx::kDomainCreateA, create_domain_a), at(nvtx::kDomainCreateW, create_domain_w)});
}

}  // namespace
}  // namespace sextant::trace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    sextant::trace::nvtx::GetExportTable get_export_table) {
  using namespace sextant::trace;
  if (get_export_table == nullptr || Recorder::instance() == nullptr) return 0;
  const auto* callbacks = static_cast<const nvtx::CallbacksTable*>(get_export_table(nvtx::kCallbacksTable));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(nvtx::CallbacksTable)) return 0;
  if (!attach_core(*callbacks)) return 0;
  attach_domains(*callbacks);
  return 1;
}
