#include "probes/fleet/messages.h"

#include "core/json_value.h"

namespace sextant::inline probes {
namespace {

constexpr int kMaxPort = 65535;

Json to_json(const PortRange& ports) { return Json::array({ports.first, ports.last}); }

PortRange parse_ports(const JsonView& view) {
  const auto ends = view.items();
  if (ends.size() != 2) view.fail("expected the first and the last port");
  const auto port = [&](std::size_t i) { return static_cast<std::uint16_t>(ends[i].integer(0, kMaxPort)); };
  return {port(0), port(1)};
}

}  // namespace

std::string compact(const Json& value) { return value.dump(); }

std::string say(const StartCommand& command) {
  return compact({{"do", "start"},
                  {"secret", command.secret.hex()},
                  {"version", command.version},
                  {"ports", to_json(command.ports)}});
}

std::string say(const DevicesCommand& command) {
  return compact(
      {{"do", "devices"}, {"task", command.task}, {"options", command.options}, {"limit_s", command.limit_s}});
}

std::string say(const PairCommand& command) {
  return compact({{"do", "pair"},
                  {"task", command.task},
                  {"to", {{"address", command.to.address}, {"port", command.to.port}}},
                  {"options", command.options.to_json()},
                  {"limit_s", command.limit_s}});
}

std::string say_wait() { return compact({{"do", "wait"}}); }
std::string say_stop() { return compact({{"do", "stop"}}); }

StartCommand parse_start(const JsonView& view) {
  StartCommand command;
  const auto secret = Secret::from_hex(view.required("secret").any_text());
  if (!secret) view.required("secret").fail("expected 64 hexadecimal digits");
  command.secret = *secret;
  command.version = view.required("version").text();
  command.ports = parse_ports(view.required("ports"));
  return command;
}

DevicesCommand parse_devices(const JsonView& view) {
  DevicesCommand command;
  command.task = view.required("task").count(0);
  for (const JsonView& option : view.required("options").items()) command.options.push_back(option.any_text());
  command.limit_s = view.required("limit_s").positive();
  return command;
}

PairCommand parse_pair(const JsonView& view) {
  PairCommand command;
  command.task = view.required("task").count(0);
  const JsonView to = view.required("to");
  command.to.address = to.required("address").text();
  command.to.port = static_cast<std::uint16_t>(to.required("port").integer(1, kMaxPort));
  command.options = PairOptions::parse(view.required("options"));
  command.limit_s = view.required("limit_s").positive();
  return command;
}

}  // namespace sextant::inline probes
