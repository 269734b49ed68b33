// Permits of phases on the nodes of a group (section 5.1): a FIFO for each rollout node, one for the training nodes, and
// one for the connection of the pools.
//
// A phase needs all nodes of its member at once. Its request joins their queues together and is granted when it is the
// first of each, so no two requests can wait for each other. By turns, a rollout node serves the members that are there
// in the order of the group's meta-iteration, which is what placements promise; jobs train in the order of their rollouts
// and synchronize in that of their training. First come serves whoever asks first.
//
// Turns are numbered through all meta-iterations, and a member takes its own ones, one after the other. A rollout node
// waits for the member with the lowest turn. Training does so too if a member has several turns, because the job that
// repeats would lose its second turn otherwise.
//
// A member that is there and asks for nothing would keep the others waiting. The caller, who has a clock, sets it aside:
// nobody waits for it then until it asks again, for a turn after all that have begun. The same holds for a member that keeps
// a permit for too long: the caller takes it back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/coschedule/group.h"

namespace sextant::coschedule {

enum class Phase { rollout, training, sync };
[[nodiscard]] std::string_view name_of(Phase phase);
[[nodiscard]] std::optional<Phase> phase_named(std::string_view name);

enum class ServingOrder { turns, first_come };

class PermitQueue {
 public:
  explicit PermitQueue(const Group& group, ServingOrder order = ServingOrder::turns,
                       double tail_threshold = 0.8);

  // A member is there from its first call until it leaves. Members are positions in the group.
  void join(int member);
  // Gives back whatever the member holds or waits for.
  void leave(int member);
  [[nodiscard]] bool is_there(int member) const { return of(member).is_there; }

  // Whether others may have to wait for the member although it holds nothing and waits for nothing.
  [[nodiscard]] bool is_idle(int member) const;
  // An idle member is not waited for until its next request.
  void set_aside(int member);

  // Takes the permit of a member back, if it holds one, and sets the member aside.
  void take_back(int member);

  // False if the member holds or waits for a permit already.
  [[nodiscard]] bool request(int member, Phase phase);
  // False if the member holds none.
  [[nodiscard]] bool release(int member);
  // The share of its rollout's responses that have ended. True: the member should move the others to few workers now,
  // and other members may use its nodes from then on. At most one tail is on a node.
  [[nodiscard]] bool progress(int member, double ended_fraction);

  // Members whose requests are granted since the last call, in order.
  [[nodiscard]] std::vector<int> granted();
  [[nodiscard]] std::optional<Phase> phase_of(int member) const { return of(member).held; }
  [[nodiscard]] bool waits(int member) const { return of(member).wanted.has_value(); }

 private:
  struct State {
    bool is_there = false, is_aside = false, has_tail = false;
    bool has_rolled_out = false;  // and not trained since
    std::optional<Phase> wanted, held;
    std::uint64_t turn = 0;  // of its iteration, or of the next one after its training
  };
  struct Node {
    std::vector<int> queue;     // members that wait, first come first
    std::optional<int> holder;  // has the node to itself
    std::optional<int> tail;    // finishes a rollout on some workers
    Phase phase = Phase::rollout;
  };

  [[nodiscard]] static bool is_awaited(const State& state) { return state.is_there && !state.is_aside; }
  [[nodiscard]] const State& of(int member) const { return states_.at(static_cast<std::size_t>(member)); }
  [[nodiscard]] State& of(int member) { return states_.at(static_cast<std::size_t>(member)); }
  [[nodiscard]] std::vector<int> nodes_of(int member, Phase phase) const;
  [[nodiscard]] bool uses(int member, const Node& node, int number) const;
  // Whether the node may serve the member now.
  [[nodiscard]] bool serves(int number, int member) const;
  // The member's first turn from that one on.
  [[nodiscard]] std::uint64_t turn_from(int member, std::uint64_t turn) const;
  [[nodiscard]] std::uint64_t rollout_turn(int member) const;
  [[nodiscard]] bool is_first_to_train(int member) const;
  void give_back(int member);

  const Group& group_;
  ServingOrder order_;
  double tail_threshold_;
  std::vector<State> states_;
  std::vector<Node> nodes_;      // rollout nodes, training, connection
  std::vector<int> turns_;       // of a meta-iteration: members
  std::uint64_t next_turn_ = 0;  // after the last one that has begun
};

}  // namespace sextant::coschedule
