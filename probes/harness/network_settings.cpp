#include "probes/harness/network_settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "core/text.h"

namespace sextant::inline probes {
namespace {

constexpr std::string_view kMachineFile = "/etc/nccl.conf";
constexpr std::string_view kUserFile = "~/.nccl.conf";

// NCCL and its network plug-ins (aws-ofi-nccl on libfabric, SHARP, UCX, verbs of Mellanox), NVSHMEM, what MPI
// chooses its transport by, and which GPUs there are. Open MPI's other variables are the launcher's own:
// addresses and keys of one job.
constexpr std::array<std::string_view, 24> kPrefixes = {"NCCL_",
                                                        "OFI_NCCL_",
                                                        "SHARP_",
                                                        "NVSHMEM_",
                                                        "MLX5_",
                                                        "FI_",
                                                        "UCX_",
                                                        "IBV_",
                                                        "RDMAV_",
                                                        "PSM2_",
                                                        "PSM3_",
                                                        "GLOO_",
                                                        "MPICH_",
                                                        "I_MPI_",
                                                        "MV2_",
                                                        "OMPI_MCA_btl",
                                                        "OMPI_MCA_pml",
                                                        "OMPI_MCA_mtl",
                                                        "OMPI_MCA_coll",
                                                        "OMPI_MCA_osc",
                                                        "OMPI_MCA_opal_cuda",
                                                        "CUDA_VISIBLE_DEVICES",
                                                        "CUDA_DEVICE_ORDER",
                                                        "LD_PRELOAD"};
constexpr std::array<std::string_view, 7> kSecretWords = {"KEY",      "TOKEN",      "SECRET",     "PASS",
                                                          "PASSWORD", "CREDENTIAL", "CREDENTIALS"};
constexpr const char* kNotRecorded = "(not recorded)";

bool is_network_setting(const std::string& name) {
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_secret(const std::string& name, const std::string& value) {
  std::istringstream words(name);
  for (std::string word; std::getline(words, word, '_');) {
    for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    if (std::find(kSecretWords.begin(), kSecretWords.end(), word) != kSecretWords.end()) return true;
  }
  const std::size_t scheme = value.find("://");
  return scheme != std::string::npos && value.find('@', scheme) != std::string::npos;
}

// "NAME=value" under prefix + NAME; other lines say nothing.
void add(NetworkSettings& settings, const std::string& prefix, const std::string& line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos) return;
  const std::string name = line.substr(0, equals);
  if (!is_network_setting(name)) return;
  const std::string value = line.substr(equals + 1);
  settings[prefix + name] = is_secret(name, value) ? kNotRecorded : valid_utf8(value);
}

void add_file(NetworkSettings& settings, std::string_view shown, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t"));
    if (!line.starts_with('#')) add(settings, std::string(shown) + ":", line);
  }
}

}  // namespace

NetworkSettings read_network_settings(const std::vector<std::string>& environment, const SystemFiles& files,
                                      const std::string& home) {
  NetworkSettings settings;
  for (const std::string& variable : environment) add(settings, "", variable);
  add_file(settings, kMachineFile, files.text(std::string(kMachineFile)).value_or(""));
  // NCCL_CONF_FILE takes the place of the user's file.
  const auto other = settings.find("NCCL_CONF_FILE");
  const std::string user = other != settings.end() ? other->second : home + "/.nccl.conf";
  add_file(settings, kUserFile, files.text(user).value_or(""));
  return settings;
}

NetworkSettings network_settings() {
  std::vector<std::string> environment;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  const char* home = std::getenv("HOME");
  return read_network_settings(environment, SystemFiles(), home == nullptr ? "" : home);
}

NetworkSettings effective_settings(const NetworkSettings& settings) {
  NetworkSettings effective;
  for (const std::string_view file : {kMachineFile, kUserFile}) {
    const std::string prefix = std::string(file) + ":";
    for (const auto& [name, value] : settings) {
      if (name.starts_with(prefix)) effective[name.substr(prefix.size())] = value;
    }
  }
  for (const auto& [name, value] : settings) {
    if (name.find(':') == std::string::npos) effective[name] = value;
  }
  return effective;
}

}  // namespace sextant::inline probes
