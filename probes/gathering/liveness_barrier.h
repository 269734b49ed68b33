// Ranks that work for a while, each on its own or in step, and rank 0, which hears from all of them.
//
// What a rank tells goes to rank 0 without waiting, and is a sign of life. Rank 0 looks for it whenever it has
// something to tell itself, and while it waits for the others to meet. Every wait has a limit: who says nothing
// for longer is lost, and the rest goes on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probes/comm/communicator.h"

namespace sextant {

class LivenessBarrier {
 public:
  struct Limits {
    double silence_s = 30;   // of a rank: more than the longest it takes between two things that it tells
    double longest_s = 600;  // between two meetings, for who waits for rank 0
  };

  // Collective, in a way that knows no limit: made while all ranks answer. `on_text`: at rank 0, what any rank
  // told (its own too), in the order of each.
  LivenessBarrier(Communicator& world, Limits limits,
                  std::function<void(int rank, const std::string& text)> on_text);
  ~LivenessBarrier();
  LivenessBarrier(const LivenessBarrier&) = delete;
  LivenessBarrier& operator=(const LivenessBarrier&) = delete;

  void tell(const std::string& text);
  // "I am still here."
  void show() { tell(""); }

  // Whether it is true of any rank; all ask together. Once a rank has not come in time, each goes on with its
  // own answer.
  [[nodiscard]] bool any(bool mine);

  // All ranks have come, or are lost; "... while `what`" is part of the reason. Afterwards lost() is the same
  // on all that are not. Throws Error(machine) where rank 0 does not answer.
  void meet(const std::string& what);

  // Rank and why.
  [[nodiscard]] const std::map<int, std::string>& lost() const { return lost_; }

 private:
  [[nodiscard]] std::string name_of(int rank) const;
  void send(char kind, const std::string& text);
  void attend();
  void hear(int rank, const std::string& message);
  void wait_for_all(const std::string& what);
  void send_orders();
  void wait_for_order();

  Limits limits_;
  std::function<void(int, const std::string&)> on_text_;
  std::unique_ptr<Communicator> ranks_;  // no other message meets its own
  std::vector<std::string> hosts_;
  std::map<int, std::string> lost_;
  std::vector<double> heard_s_;  // at rank 0, by rank: when it said something last
  std::vector<bool> has_come_;   // likewise: to the meeting
  bool is_in_step_ = true;
};

}  // namespace sextant
