// The log of a permit server, and the measured iterations of its jobs.
#pragma once

#include <string>
#include <vector>

#include "planner/coschedule/control/permit_queue.h"

namespace sextant::coschedule {

enum class PhaseEvent {
  joined,
  asked,
  granted,
  moved_tail,
  released,
  left,
  crashed,
  set_aside,
  taken_back,
  hung
};
[[nodiscard]] std::string_view name_of(PhaseEvent event);

struct PhaseRecord {
  double time_s = 0;  // since the server started
  std::string job;
  PhaseEvent event = PhaseEvent::joined;
  Phase phase = Phase::rollout;  // of asked, granted, moved_tail, released and taken_back
  double silent_s = 0;           // of taken_back and hung: how long the job had neither asked nor progressed
};

// The state of a job at the end of the log.
enum class JobState { absent, there, hung, left, crashed };

struct MeasuredJob {
  std::string name;
  int iterations = 0;  // that ended
  double iteration_s =
      0;  // mean, from the end of one to the end of the next; the last phase before a rollout ends one
  double waiting_s = 0;  // for permits, mean of an iteration
  JobState state = JobState::absent;
  int crashes = 0, hangs = 0;  // a job may come back after each
};

// "left", "left (crashed 2 times)", or "crashed 2 times" of a job that has not come back.
[[nodiscard]] std::string words_of_state(const MeasuredJob& job);

// One for each member, then one for each other job of the log; the first `warm_up` iterations of each are left out of
// the means.
[[nodiscard]] std::vector<MeasuredJob> measured_jobs(const Group& group, const std::vector<PhaseRecord>& log,
                                                     int warm_up = 1);

// CSV with a header: time_s,job,event,phase.
[[nodiscard]] std::string csv_of(const std::vector<PhaseRecord>& log);

}  // namespace sextant::coschedule
