// The hosts of a probe, as a person lists them: one per line, the name first, then values that differ from the
// defaults.
//
//   # name   where it is                  how it is reached
//   va-1     region=us-east-1 zone=use1a
//   va-2     region=us-east-1 zone=use1a  target=ubuntu@10.1.0.5
//   oh-1     region=us-east-2             target=ubuntu@3.1.2.3 address=10.8.0.1 program=/opt/sextant
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/schedule/host_place.h"

namespace sextant::inline probes {

struct Host {
  std::string name;
  std::string region = "local";
  std::string zone;     // default: the name of the region
  std::string target;   // the launcher's name for it; default: the name
  std::string address;  // for the other hosts; default: the target without a user
  std::string program;  // path of Sextant on that host; empty: the common one

  friend bool operator==(const Host&, const Host&) = default;
};

[[nodiscard]] std::vector<HostPlace> places_of(const std::vector<Host>& hosts);

// `file` is for messages: Error(bad_input) "hosts.txt:3: ...". Names and zones over regions are unique.
[[nodiscard]] std::vector<Host> parse_host_list(std::string_view text, const std::string& file);

}  // namespace sextant::inline probes
