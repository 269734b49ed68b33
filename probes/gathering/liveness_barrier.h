// Ranks that work for a while, each alone or in step, and rank 0, which receives messages from all of them.
//
// A rank's messages go to rank 0 without waiting, and are heartbeats. Rank 0 checks for them whenever it sends
// one itself, and while it waits for the others to meet. Every wait has a timeout: a rank that is silent for
// longer is lost, and the rest continues.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "probes/comm/communicator.h"

namespace sextant::inline probes {

class LivenessBarrier {
 public:
  struct Limits {
    double silence_s = 30;   // maximum silence of a rank: above the longest time between two messages
    double longest_s = 600;  // between two meetings, for ranks that wait for rank 0
    double message_s = 30;   // for the rest of a message that has begun
  };
  // Called at rank 0 with the messages of all ranks (its own too), in each one's order; may be empty.
  using OnText = std::function<void(int rank, const std::string& text)>;

  // Collective without a timeout: construct it while all ranks respond.
  LivenessBarrier(Communicator& world, Limits limits, OnText on_text);
  ~LivenessBarrier();
  LivenessBarrier(const LivenessBarrier&) = delete;
  LivenessBarrier& operator=(const LivenessBarrier&) = delete;

  void tell(const std::string& text);
  // Sends a heartbeat: "I am still here."
  void show() { tell(""); }

  // Returns whether it is true on any rank; all call it together. Once a rank missed the timeout, each returns
  // its own value.
  [[nodiscard]] bool any(bool mine);

  // Waits until all ranks have come, or are lost; "... while `what`" is part of the reason. Afterwards lost()
  // is the same on all others. Throws Error(machine) if rank 0 does not answer.
  void meet(const std::string& what);
  // The same for ranks with a task after each meeting: returns the order that rank 0 gives all of them, once
  // they have come. A rank that was silent is lost because it `is_silent` ("did not respond").
  [[nodiscard]] std::string meet(const std::string& is_silent, const std::function<std::string()>& order);

  // At rank 0: the rank is lost if it does not come to the next meeting within this time.
  void suspect(int rank, double within_s);

  // Starts another phase of the work, with other messages and limits. `lost`: lost before, the same on all others.
  void begin_phase(Limits limits, OnText on_text, std::map<int, std::string> lost);

  // Ranks and reasons.
  [[nodiscard]] const std::map<int, std::string>& lost() const { return lost_; }
  [[nodiscard]] std::string name_of(int rank) const;

 private:
  void send(char kind, const std::string& text);
  void attend();
  void hear(int rank, const std::string& message);
  void wait_for_all(const std::string& is_silent);
  void send_order(const std::string& order);
  [[nodiscard]] std::string wait_for_order();

  Limits limits_;
  OnText on_text_;
  std::unique_ptr<Communicator> ranks_;  // its messages do not mix with others
  std::vector<std::string> hosts_;
  std::map<int, std::string> lost_;
  std::vector<double> heard_s_;       // at rank 0, by rank: time of the last message
  std::vector<bool> has_come_;        // at rank 0, by rank: came to the meeting
  std::map<int, double> suspects_s_;  // at rank 0: by when these must come
  std::set<int> deaf_;                // at rank 0: did not take the last order
  bool is_in_step_ = true;
};

}  // namespace sextant::inline probes
