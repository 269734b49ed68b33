#include "planner/coschedule/control/phase_log.h"

#include <algorithm>
#include <array>
#include <optional>

namespace sextant::coschedule {
namespace {

constexpr std::array<std::string_view, 10> kEvents = {"joined",     "asked", "granted", "moved_tail",
                                                      "released",   "left",  "crashed", "set_aside",
                                                      "taken_back", "hung"};
constexpr std::array<std::string_view, 5> kStates = {"not seen", "running", "hung", "left", "crashed"};

std::string count_of_times(int count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

// Quoted if it has what separates cells.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text)
    quoted += character == '"' ? std::string("\"\"") : std::string(1, character);
  return quoted + "\"";
}

// Follows one job through the log.
class Follower {
 public:
  Follower(const std::string& job, int warm_up) : warm_up_(warm_up), job_{job} {}

  void see(const PhaseRecord& record) {
    const bool was_hung = job_.state == JobState::hung;
    if (record.event != PhaseEvent::set_aside) job_.state = state_after(record.event);
    switch (record.event) {
      case PhaseEvent::joined:
        return begin(record.time_s);
      case PhaseEvent::crashed:
        ++job_.crashes;
        released_s_.reset();
        return;
      case PhaseEvent::taken_back:
        ++job_.hangs;
        is_interrupted_ = true;
        return;
      case PhaseEvent::hung:
        if (!was_hung) ++job_.hangs;
        if (released_ == Phase::training || released_ == Phase::sync) end();
        is_interrupted_ = true;
        return;
      case PhaseEvent::asked:
        if (record.phase == Phase::rollout) is_interrupted_ ? begin(record.time_s) : end();
        asked_s_ = record.time_s;
        return;
      case PhaseEvent::granted:
        waited_s_ += record.time_s - asked_s_;
        return;
      case PhaseEvent::released:
        released_s_ = record.time_s;
        released_ = record.phase;
        return;
      case PhaseEvent::left:
        return end();
      case PhaseEvent::moved_tail:
      case PhaseEvent::set_aside:
        return;
    }
  }

  [[nodiscard]] MeasuredJob result() const {
    MeasuredJob job = job_;
    const int counted = job.iterations - warm_up_;
    if (counted <= 0) return job;
    job.iteration_s /= counted;
    job.waiting_s /= counted;
    return job;
  }

 private:
  [[nodiscard]] static JobState state_after(PhaseEvent event) {
    if (event == PhaseEvent::crashed) return JobState::crashed;
    if (event == PhaseEvent::left) return JobState::left;
    const bool hangs = event == PhaseEvent::taken_back || event == PhaseEvent::hung;
    return hangs ? JobState::hung : JobState::there;
  }

  void begin(double time_s) {
    began_s_ = time_s;
    is_interrupted_ = false;
    waited_s_ = 0;
    released_s_.reset();
  }

  // An iteration has ended with the last phase before the next rollout.
  void end() {
    if (!released_s_ || is_interrupted_) return;
    if (++job_.iterations > warm_up_) {
      job_.iteration_s += *released_s_ - began_s_;
      job_.waiting_s += waited_s_;
    }
    begin(*released_s_);
  }

  int warm_up_;
  MeasuredJob job_;  // sums until the result
  double began_s_ = 0, asked_s_ = 0, waited_s_ = 0;
  bool is_interrupted_ = false;  // a permit of this iteration was taken back: its time is none of the job's
  std::optional<double> released_s_;  // the last phase of the iteration so far
  std::optional<Phase> released_;     // the last phase
};

}  // namespace

std::string_view name_of(PhaseEvent event) { return kEvents.at(static_cast<std::size_t>(event)); }

std::string words_of_state(const MeasuredJob& job) {
  std::string now(kStates.at(static_cast<std::size_t>(job.state))), past;
  const auto add = [&](JobState state, int count) {
    const std::string what(kStates.at(static_cast<std::size_t>(state)));
    if (job.state == state && count > 1) now += " " + count_of_times(count);
    if (job.state != state && count > 0)
      past += (past.empty() ? " (" : ", ") + what + " " + count_of_times(count);
  };
  add(JobState::crashed, job.crashes);
  add(JobState::hung, job.hangs);
  return now + past + (past.empty() ? "" : ")");
}

std::vector<MeasuredJob> measured_jobs(const Group& group, const std::vector<PhaseRecord>& log, int warm_up) {
  std::vector<std::string> names;
  for (const Member& member : group.members) names.push_back(member.job.name);
  for (const PhaseRecord& record : log) {
    if (std::find(names.begin(), names.end(), record.job) == names.end()) names.push_back(record.job);
  }
  std::vector<MeasuredJob> jobs;
  for (const std::string& name : names) {
    Follower follower(name, warm_up);
    for (const PhaseRecord& record : log) {
      if (record.job == name) follower.see(record);
    }
    jobs.push_back(follower.result());
  }
  return jobs;
}

std::string csv_of(const std::vector<PhaseRecord>& log) {
  std::string text = "time_s,job,event,phase\n";
  for (const PhaseRecord& record : log) {
    const bool has_phase = record.event == PhaseEvent::asked || record.event == PhaseEvent::granted ||
                           record.event == PhaseEvent::moved_tail || record.event == PhaseEvent::released ||
                           record.event == PhaseEvent::taken_back;
    text += std::to_string(record.time_s) + "," + cell(record.job) + "," + std::string(name_of(record.event)) +
            "," + (has_phase ? std::string(name_of(record.phase)) : "") + "\n";
  }
  return text;
}

}  // namespace sextant::coschedule
