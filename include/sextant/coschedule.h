// Co-scheduling of jobs (Wu et al. 2026, "WEAVE") inside a cluster's own scheduler: what `sextant coschedule place` and
// `leave` do, without their files. examples/coschedule is a program that uses it.
//
// Placements and jobs are documents (docs/guide/file-formats.md), as the text of their JSON. Nothing here is saved, and no phase of a job
// is started or stopped: the caller does both. An object is for one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// The place of a job.
struct CoscheduledJob {
  bool is_placed = false;
  std::string group;                                      // name
  std::vector<int> rollout_nodes;                         // numbers inside the group
  int group_rollout_nodes = 0, group_training_nodes = 0;  // of the group with the job
  double added_usd_per_hour = 0;
  double iteration_s = 0;   // of each job of the group, at most; of a placement with a probability, on average
  int iterations = 1;       // of the job in that time: it may fit several times
  std::string explanation;  // "group-3 as it is", or why there is no place
};

class Coscheduler {
 public:
  // A placement document, with or without its "schema". Throws Error(bad_input) naming the place of a
  // fault, also if the placement breaks a promise.
  explicit Coscheduler(std::string_view placement);
  ~Coscheduler();
  Coscheduler(Coscheduler&&) noexcept;
  Coscheduler& operator=(Coscheduler&&) noexcept;

  // Takes the cheapest place with which every job keeps its promise. dry_run: changes nothing. Throws Error(bad_input)
  // for a faulty job, one that is placed already, and one whose times are of other GPUs than those of the pools.
  CoscheduledJob place(std::string_view job, bool dry_run = false);
  // Groups shrink or end; the other jobs stay on their nodes, whose numbers may change. Throws Error(bad_input) if no
  // group has the job.
  void leave(std::string_view job);

  // The placement document's content as text, to save.
  [[nodiscard]] std::string placement() const;
  [[nodiscard]] double usd_per_hour() const;
  // Lower bound of the cost of any placement of these jobs; 0 for placements with a probability. The search for it ends
  // after that much work, each unit of which takes about a second, so that every machine finds the same bound.
  [[nodiscard]] double min_usd_per_hour(double work = 1) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant
