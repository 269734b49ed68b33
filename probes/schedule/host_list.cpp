#include "probes/schedule/host_list.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr std::array<std::pair<std::string_view, std::string Host::*>, 5> kKeys = {
    {{"region", &Host::region},
     {"zone", &Host::zone},
     {"target", &Host::target},
     {"address", &Host::address},
     {"program", &Host::program}}};

std::string Host::*member_for(const std::string& key) {
  for (const auto& [name, member] : kKeys) {
    if (name == key) return member;
  }
  return nullptr;
}

// "expected region=, zone=, ..."
std::string known_keys() {
  std::string text = "expected";
  for (const auto& [name, member] : kKeys) text += " " + std::string(name) + "=";
  return text;
}

void read_setting(Host& host, const std::string& word, std::set<std::string>& seen) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const auto member = equals == std::string::npos ? nullptr : member_for(key);
  if (member == nullptr) throw_bad_input(known_keys() + ", got " + in_quotes(word));
  if (!seen.insert(key).second) throw_bad_input(key + "= is given twice");
  host.*member = word.substr(equals + 1);
  if ((host.*member).empty()) throw_bad_input(key + "= has no value");
}

Host read_host(std::istringstream& words) {
  Host host;
  words >> host.name;
  if (host.name.find('=') != std::string::npos)
    throw_bad_input("expected the host's name at the start of the line");
  if (host.name.starts_with('-') || host.name.find('/') != std::string::npos) {
    throw_bad_input(in_quotes(host.name) + " is not a valid host name");
  }
  std::set<std::string> seen;
  for (std::string word; words >> word && !word.starts_with('#');) read_setting(host, word, seen);
  if (host.zone.empty()) host.zone = host.region;
  if (host.target.empty()) host.target = host.name;
  if (host.target.starts_with('-')) throw_bad_input(in_quotes(host.target) + " is not a valid target");
  if (host.address.empty()) host.address = host.target.substr(host.target.find('@') + 1);
  return host;
}

// Names go onto command lines and into documents.
bool is_text(const std::string& line) {
  const auto is_control = [](unsigned char byte) {
    return (byte < 0x20 && byte != '\t' && byte != '\r') || byte == 0x7f;
  };
  return std::none_of(line.begin(), line.end(), is_control) && valid_utf8(line) == line;
}

void check_against(const std::vector<Host>& earlier, const Host& host) {
  for (const Host& other : earlier) {
    if (other.name == host.name) throw_bad_input("another host is named " + host.name + " already");
    if (other.zone == host.zone && other.region != host.region) {
      throw_bad_input("zone " + host.zone + " is in region " + other.region +
                      " already: zones of different regions need different names");
    }
  }
}

}  // namespace

std::vector<HostPlace> places_of(const std::vector<Host>& hosts) {
  std::vector<HostPlace> places;
  places.reserve(hosts.size());
  for (const Host& host : hosts) places.push_back({host.name, host.region, host.zone});
  return places;
}

std::vector<Host> parse_host_list(std::string_view text, const std::string& file) {
  std::vector<Host> hosts;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    const std::string first = line.substr(0, line.find_first_of('#'));
    if (first.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      if (!is_text(line)) throw_bad_input("expected a text file");
      Host host = read_host(words);
      check_against(hosts, host);
      hosts.push_back(std::move(host));
    } catch (const Error& error) {
      throw_bad_input(file + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (hosts.empty()) throw_bad_input(file + ": expected at least one host");
  return hosts;
}

}  // namespace sextant::inline probes
