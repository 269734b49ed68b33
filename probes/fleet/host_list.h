// The hosts of a probe, as a person writes them down: one a line, the name first, then what differs from the
// usual.
//
//   # name   where it is                  how it is reached
//   va-1     region=us-east-1 zone=use1a
//   va-2     region=us-east-1 zone=use1a  target=ubuntu@10.1.0.5
//   oh-1     region=us-east-2             target=ubuntu@3.1.2.3 address=10.8.0.1 program=/opt/sextant
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct Host {
  std::string name;
  std::string region = "local";
  std::string zone;     // as the region is called, unless said otherwise
  std::string target;   // what the launcher calls it; the name unless said otherwise
  std::string address;  // where the others reach it; the target without a user unless said otherwise
  std::string program;  // Sextant on that host; empty: as everywhere

  friend bool operator==(const Host&, const Host&) = default;
};

// `file` is for messages: Error(bad_input) "hosts.txt:3: ...". Names are unique and so are zones over regions.
[[nodiscard]] std::vector<Host> parse_host_list(std::string_view text, const std::string& file);

}  // namespace sextant
