// The coordinator's connection to one agent: the process that leads to it (ssh, srun, ...), its state, and the
// reason if it was given up.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json_value.h"
#include "probes/fleet/child_process.h"
#include "probes/fleet/messages.h"
#include "probes/schedule/host_list.h"

namespace sextant::inline probes {

enum class AgentState {
  waiting,   // not started yet
  starting,  // no message so far
  idle,
  busy,      // with a task
  stopping,  // asked to end: a failure now loses no results
  stopped,   // confirmed the stop, or was late with it
  lost       // see why()
};

// The outcome of the task that an agent was given last.
struct TaskOutcome {
  std::optional<Json> result;
  std::string failure_reason;
};

class AgentLink {
 public:
  explicit AgentLink(Host host) : host_(std::move(host)) {}

  // Runs the launcher's arguments, "{target}" replaced by the host's, then the program's.
  void launch(const std::vector<std::string>& launcher, const std::string& program, const StartCommand& start,
              double limit_s);
  // Call it only if the agent is idle. The outcome is available once it is idle again, or lost.
  void begin(const DevicesCommand& command);
  void begin(const PairCommand& command);
  void stop(double limit_s);
  void give_up(const std::string& why);
  // Reads the available messages, and gives the agent up if it is gone or late.
  void attend();

  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] AgentState state() const { return state_; }
  [[nodiscard]] bool is_usable() const { return state_ == AgentState::idle || state_ == AgentState::busy; }
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] Endpoint endpoint() const { return {host_.address, port_}; }
  [[nodiscard]] const std::optional<Refusals>& refusals() const { return refusals_; }
  [[nodiscard]] TaskOutcome take_outcome() { return std::exchange(outcome_, {}); }
  [[nodiscard]] const ChildProcess* process() const { return process_.get(); }

 private:
  void follow(const std::string& line);
  void settle(const JsonView& view);
  void judge_silence();
  void start_task(const std::string& line, double limit_s);

  Host host_;
  AgentState state_ = AgentState::waiting;
  std::string why_;
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t port_ = 0;
  int task_ = 0;
  TaskOutcome outcome_;
  std::optional<Refusals> refusals_;
  Deadline last_word_ = Deadline::in(0);  // by which the next message must have come
  Deadline task_end_ = Deadline::in(0);
  Deadline next_wait_ = Deadline::in(0);
  std::optional<Deadline> ends_until_;  // for one that has closed its output
};

}  // namespace sextant::inline probes
