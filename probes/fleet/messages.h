// The messages between the coordinator and its agents: one JSON object per line, over the agent's standard
// input and output.
//
//   coordinator                                         agent
//   {"do": "start", "secret", "version", "ports"}       {"is": "ready", "port", "version", "host"}
//   {"do": "devices", "task", "options"}                {"is": "done", "task", "result": a DeviceReport}
//   {"do": "pair", "task", "to", "options", "limit_s"}  {"is": "done", "task", "result": a PairMeasurement}
//                                                       {"is": "failed", "task", "why"}
//   {"do": "wait"}                                      {"is": "here"}
//   {"do": "stop"}                                      {"is": "stopped", "refusals"}
//
// "wait" and "here" are sent every few seconds, so that each side notices the silent loss of the other.
#pragma once

#include <string>
#include <vector>

#include "probes/network/doorkeeper.h"
#include "probes/network/pair_measurement.h"
#include "sextant/json.h"

namespace sextant::inline probes {

inline constexpr double kSayHereEvery_s = 2;
inline constexpr double kGoneAfter_s = 20;  // without a message from the other side

struct StartCommand {
  Secret secret;
  std::string version;  // of the coordinator; an agent of another version refuses to start
  PortRange ports;
};

struct DevicesCommand {
  int task = 0;
  std::vector<std::string> options;  // options of `sextant probe`
  double limit_s = 0;
};

struct PairCommand {
  int task = 0;
  Endpoint to;
  PairOptions options;
  double limit_s = 0;
};

// Returns one line each, without its end.
[[nodiscard]] std::string say(const StartCommand& command);
[[nodiscard]] std::string say(const DevicesCommand& command);
[[nodiscard]] std::string say(const PairCommand& command);
[[nodiscard]] std::string say_wait();
[[nodiscard]] std::string say_stop();

[[nodiscard]] StartCommand parse_start(const JsonView& view);
[[nodiscard]] DevicesCommand parse_devices(const JsonView& view);
[[nodiscard]] PairCommand parse_pair(const JsonView& view);

// Returns the JSON on one line.
[[nodiscard]] std::string compact(const Json& value);

}  // namespace sextant::inline probes
