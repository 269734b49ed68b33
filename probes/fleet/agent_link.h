// The coordinator's side of one agent: the process that leads to it (ssh, srun, ...), what it is doing, and why
// it was given up.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json_value.h"
#include "probes/fleet/child_process.h"
#include "probes/fleet/host_list.h"
#include "probes/fleet/messages.h"

namespace sextant {

enum class AgentState {
  waiting,   // not started yet
  starting,  // no word from it so far
  idle,
  busy,      // with a task
  stopping,  // asked to end: whatever comes of it, nothing is lost
  stopped,   // said good-bye, or was late with it
  lost       // see why()
};

// What came of the task that an agent was given last.
struct TaskOutcome {
  std::optional<Json> result;
  std::string failure_reason;
};

class AgentLink {
 public:
  explicit AgentLink(Host host) : host_(std::move(host)) {}

  // The launcher's words, "{target}" replaced by the host's, then the program's.
  void launch(const std::vector<std::string>& launcher, const std::string& program, const StartCommand& start,
              double limit_s);
  // Only when idle. The outcome is there when it is idle again, or lost.
  void begin(const DevicesCommand& command);
  void begin(const PairCommand& command);
  void stop(double limit_s);
  void give_up(const std::string& why);
  // Reads what has come, and gives the agent up when it is gone or late.
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
  Deadline last_word_ = Deadline::in(0);  // until when the next word must have come
  Deadline task_end_ = Deadline::in(0);
  Deadline next_wait_ = Deadline::in(0);
  std::optional<Deadline> ends_until_;  // one that has closed its output
};

}  // namespace sextant
