#include "probes/fleet/agent_link.h"

#include <algorithm>

#include "core/json_value.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr double kEndsWithin_s = 5;  // after it has closed its output
constexpr double kGrace_s = 15;      // beyond a task's own limit, for what is under way when it is over

std::string with_target(std::string word, const std::string& target) {
  constexpr std::string_view kPlace = "{target}";
  for (std::size_t at = word.find(kPlace); at != std::string::npos;
       at = word.find(kPlace, at + target.size())) {
    word.replace(at, kPlace.size(), target);
  }
  return word;
}

}  // namespace

void AgentLink::launch(const std::vector<std::string>& launcher, const std::string& program,
                       const StartCommand& start, double limit_s) {
  std::vector<std::string> command;
  command.reserve(launcher.size() + 2);
  for (const std::string& word : launcher) command.push_back(with_target(word, host_.target));
  command.push_back(host_.program.empty() ? program : host_.program);
  command.emplace_back("agent");
  state_ = AgentState::starting;
  task_end_ = Deadline::in(limit_s);
  next_wait_ = Deadline::in(kSayHereEvery_s);
  try {
    process_ = std::make_unique<ChildProcess>(command);
    process_->say(say(start));
  } catch (const Error& error) {
    give_up(error.what());
  }
}

void AgentLink::start_task(const std::string& line, double limit_s) {
  SEXTANT_CHECK(state_ == AgentState::idle);
  outcome_ = {};
  state_ = AgentState::busy;
  task_end_ = Deadline::in(limit_s + kGrace_s);
  process_->say(line);
}

void AgentLink::begin(const DevicesCommand& command) {
  DevicesCommand numbered = command;
  numbered.task = ++task_;
  start_task(say(numbered), command.limit_s);
}

void AgentLink::begin(const PairCommand& command) {
  PairCommand numbered = command;
  numbered.task = ++task_;
  start_task(say(numbered), command.limit_s);
}

void AgentLink::stop(double limit_s) {
  if (!is_usable()) return;
  state_ = AgentState::stopping;
  task_end_ = Deadline::in(limit_s);
  process_->say(say_stop());
}

void AgentLink::give_up(const std::string& why) {
  if (state_ == AgentState::lost || state_ == AgentState::stopped) return;
  if (state_ == AgentState::stopping) {  // all that it had to do is done
    state_ = AgentState::stopped;
    process_.reset();
    return;
  }
  state_ = AgentState::lost;
  why_ = why;
  outcome_.failure_reason = why;
  process_.reset();
}

void AgentLink::attend() {
  if (!process_) return;
  process_->flush();
  for (const std::string& line : process_->hear()) {
    last_word_ = Deadline::in(kGoneAfter_s);
    follow(line);
    if (!process_) return;
  }
  if (state_ == AgentState::stopped) {
    if (process_->is_silent()) process_.reset();
    return;
  }
  judge_silence();
  if (process_ && next_wait_.is_over()) {
    process_->say(say_wait());
    next_wait_ = Deadline::in(kSayHereEvery_s);
  }
}

void AgentLink::judge_silence() {
  if (process_->is_silent()) {
    const std::string words = process_->last_words();
    const std::string end = process_->how_it_ended();
    if (end.empty()) {  // its output is closed, it itself will be in a moment
      if (!ends_until_) ends_until_ = Deadline::in(kEndsWithin_s);
      if (ends_until_->is_over()) give_up("does not respond and does not exit");
      return;
    }
    return give_up((state_ == AgentState::starting ? "could not be started: it " : "") + end +
                   (words.empty() ? "" : ": " + words));
  }
  if (state_ == AgentState::starting) {
    if (task_end_.is_over()) give_up("did not answer in time");
    return;
  }
  if (state_ == AgentState::stopping) {
    if (task_end_.is_over()) give_up("did not confirm the end");
    return;
  }
  if (last_word_.is_over()) return give_up("has sent nothing for " + format_seconds(kGoneAfter_s));
  if (state_ == AgentState::busy && task_end_.is_over()) give_up("did not finish its task in time");
}

void AgentLink::follow(const std::string& line) {
  try {
    const Json json = parse_json(line);
    const JsonView view(json);
    const std::string what = view.required("is").text();
    if (what == "here") return;
    if (what == "ready") {
      port_ = static_cast<std::uint16_t>(view.required("port").integer(1, 65535));
      state_ = AgentState::idle;
    } else if (what == "stopped") {
      refusals_ = Refusals::parse(view.required("refusals"));
      state_ = AgentState::stopped;
      process_->close_input();
    } else {
      settle(view);
    }
  } catch (const Error& error) {
    // Before it is started a login script may print something.
    if (state_ != AgentState::starting) give_up(std::string("sent an invalid answer: ") + error.what());
  }
}

void AgentLink::settle(const JsonView& view) {
  const std::string what = view.required("is").text();
  const auto task = view.required("task").integer();
  if (what == "failed" && task < 0) return give_up(view.required("why").any_text());
  if (task != task_ || state_ != AgentState::busy) return;  // of a task that was given up
  if (what == "done") {
    outcome_.result = view.required("result").json();
  } else {
    outcome_.failure_reason = view.required("why").any_text();
  }
  state_ = AgentState::idle;
}

}  // namespace sextant::inline probes
