#include "probes/trace/injection/process_facts.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace sextant::trace {
namespace {

// Set by torchrun, OpenMPI, Slurm, PMI.
std::string rank_text() {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    char* end = nullptr;
    const long rank = std::strtol(value, &end, 10);
    if (*end == '\0' && rank >= 0) return std::to_string(rank);
  }
  return "";
}

std::string command_line() {
  constexpr std::size_t kMaximum = 400;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return text.substr(0, kMaximum);
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\t') {
      out += ' ';
    } else {
      out += c >= ' ' && c < '\x7f' ? c : '?';
    }
  }
  return out + '"';
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string process_facts() {
  std::string facts = "{\"host\":" + json_text(host_name()) + ",\"pid\":" + std::to_string(getpid()) +
                      ",\"parent\":" + std::to_string(getppid());
  if (const std::string rank = rank_text(); !rank.empty()) facts += ",\"rank\":" + rank;
  return facts + ",\"command\":" + json_text(command_line()) + "}";
}

std::string device_facts(int device) {
  using Get = int (*)(int*, int);
  using GetName = int (*)(char*, int, int);
  using GetUuid = int (*)(unsigned char*, int);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return "";
  const auto get = reinterpret_cast<Get>(dlsym(driver, "cuDeviceGet"));
  const auto get_name = reinterpret_cast<GetName>(dlsym(driver, "cuDeviceGetName"));
  const auto get_uuid = reinterpret_cast<GetUuid>(dlsym(driver, "cuDeviceGetUuid_v2"));
  int handle = 0;
  std::array<char, 256> name{};
  std::array<unsigned char, 16> uuid{};
  if (get == nullptr || get_name == nullptr || get(&handle, device) != 0) return "";
  if (get_name(name.data(), static_cast<int>(name.size() - 1), handle) != 0) return "";
  std::string facts = "{\"device\":" + std::to_string(device) + ",\"name\":" + json_text(name.data());
  if (get_uuid != nullptr && get_uuid(uuid.data(), handle) == 0) {
    facts += ",\"uuid\":\"";
    for (const unsigned char byte : uuid) {
      std::array<char, 3> digits{};
      std::snprintf(digits.data(), digits.size(), "%02x", byte);
      facts += digits.data();
    }
    facts += '"';
  }
  return facts + "}";
}

}  // namespace sextant::trace
