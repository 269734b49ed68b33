#include "probes/fleet/fleet_probe.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/json_value.h"
#include "sextant/error.h"
#include "sextant/provenance.h"

namespace sextant::inline probes {
namespace {

constexpr double kLookAround_s = 0.2;
constexpr double kStopLimit_s = 5;

class FleetRun {
 public:
  FleetRun(const std::vector<Host>& hosts, const FleetOptions& options, const ProbeJournal& done,
           JournalWriter& journal, const std::atomic<bool>& interrupted, const FleetProgress& progress)
      : options_(options), journal_(journal), interrupted_(interrupted), progress_(progress) {
    for (const Host& host : hosts) {
      agents_.push_back(std::make_unique<AgentLink>(host));
      HostOutcome& outcome = outcome_.hosts.emplace_back();
      outcome.host = host;
      if (const auto devices = done.hosts.find(host.name); devices != done.hosts.end()) {
        outcome.devices = devices->second;
      }
    }
    outcome_.pairs = done.pairs;
    for (const PairMeasurement& pair : done.pairs) round_ = std::max(round_, pair.round);
  }

  FleetRecord run(const PairRounds& rounds) {
    start_all();
    if (options_.probe_devices) probe_devices();
    std::size_t number = 0;
    for (const auto& round : rounds) {
      if (interrupted_) break;
      progress_("round " + std::to_string(++number) + " of " + std::to_string(rounds.size()));
      measure_round(round);
    }
    retry_failed();
    stop_all();
    journal_.flush();
    outcome_.is_interrupted = interrupted_;
    return std::move(outcome_);
  }

 private:
  using State = AgentState;

  [[nodiscard]] AgentLink& agent(int number) { return *agents_[static_cast<std::size_t>(number)]; }

  [[nodiscard]] int count(State state) const {
    return static_cast<int>(std::count_if(agents_.begin(), agents_.end(),
                                          [&](const auto& agent) { return agent->state() == state; }));
  }

  // Until something comes from any agent, or for a moment.
  void attend_all() {
    std::vector<pollfd> entries;
    for (const auto& agent : agents_) {
      const ChildProcess* process = agent->process();
      if (process == nullptr) continue;
      for (const Descriptor* end : {&process->output(), &process->errors()}) {
        if (end->is_open()) entries.push_back({end->number(), POLLIN, 0});
      }
      if (process->has_more_to_say()) entries.push_back({process->input().number(), POLLOUT, 0});
    }
    static_cast<void>(poll(entries.data(), entries.size(), static_cast<int>(kLookAround_s * 1e3)));
    for (const auto& agent : agents_) agent->attend();
    journal_.check();
  }

  void start_all() {
    StartCommand start;
    start.secret = Secret::fresh();
    start.version = current_provenance().tool_version;
    start.ports = options_.ports;
    auto next = agents_.begin();
    while (!interrupted_ && (next != agents_.end() || count(State::starting) > 0)) {
      for (; next != agents_.end() && count(State::starting) < options_.max_starting; ++next) {
        progress_("starting " + (*next)->host().name);
        (*next)->launch(options_.launcher, options_.program, start, options_.start_limit_s);
      }
      attend_all();
    }
    for (; next != agents_.end(); ++next) (*next)->give_up("was not started: interrupted");
  }

  void wait_for_tasks() {
    while (!interrupted_ && count(State::busy) > 0) attend_all();
  }

  void probe_devices() {
    progress_("probing devices");
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      if (outcome_.hosts[i].devices || agents_[i]->state() != State::idle) continue;
      agents_[i]->begin(DevicesCommand{0, options_.device_options, options_.device_limit_s});
      asked.push_back(i);
    }
    // Each is on disk as soon as it is there.
    while (!asked.empty() && !interrupted_) {
      attend_all();
      std::erase_if(asked,
                    [this](std::size_t i) { return agents_[i]->state() != State::busy && keep_devices(i); });
    }
  }

  bool keep_devices(std::size_t i) {
    TaskOutcome outcome = agents_[i]->take_outcome();
    HostOutcome& host = outcome_.hosts[i];
    host.why_no_devices = outcome.failure_reason;
    if (!outcome.result) return true;
    try {
      host.devices = DeviceReport::parse(JsonView(*outcome.result));
    } catch (const Error& error) {
      host.why_no_devices = std::string("an answer that makes no sense: ") + error.what();
      return true;
    }
    journal_.add_host(host.host.name, *host.devices);
    return true;
  }

  // One pair that is under way; `leader` measures.
  struct Pair {
    int leader = 0;
    int other = 0;
  };

  void measure_round(const std::vector<RankPair>& round) {
    std::vector<Pair> pairs;
    pairs.reserve(round.size());
    for (const RankPair& pair : round) pairs.push_back({pair.low, pair.high});
    measure(std::move(pairs));
  }

  // All at the same time: they are disjoint. Those that were measured.
  std::vector<Pair> measure(std::vector<Pair> pairs) {
    std::vector<Pair> measured;
    ++round_;
    std::erase_if(pairs, [this](const Pair& pair) { return !begin(pair); });
    while (!pairs.empty() && !interrupted_) {
      attend_all();
      std::erase_if(pairs, [&](const Pair& pair) {
        if (!is_over(pair)) return false;
        if (keep(pair)) measured.push_back(pair);
        return true;
      });
    }
    return measured;
  }

  bool begin(const Pair& pair) {
    for (const int end : {pair.leader, pair.other}) {
      if (agent(end).state() == State::idle) continue;
      fail(pair, agent(end).host().name + " " + agent(end).why());
      return false;
    }
    PairCommand command;
    command.to = agent(pair.other).endpoint();
    command.options = options_.pair;
    command.limit_s = options_.pair.longest_s(options_.round_trip_limit_s);
    agent(pair.leader).begin(command);
    return true;
  }

  // The leader notices by itself when the other end has gone; nobody waits for its limit then.
  bool is_over(const Pair& pair) { return agent(pair.leader).state() != State::busy; }

  // Whether it was measured.
  bool keep(const Pair& pair) {
    TaskOutcome outcome = agent(pair.leader).take_outcome();
    if (!outcome.result) {
      const AgentLink& other = agent(pair.other);
      fail(pair, other.state() == State::lost ? other.host().name + " " + other.why() : outcome.failure_reason);
      return false;
    }
    std::optional<PairMeasurement> measured;
    try {
      measured = parse_result(pair, *outcome.result);
    } catch (const Error& error) {
      fail(pair, std::string("an answer that makes no sense: ") + error.what());
      return false;
    }
    journal_.add_pair(*measured);
    outcome_.pairs.push_back(std::move(*measured));
    return true;
  }

  PairMeasurement parse_result(const Pair& pair, Json result) {
    if (!result.is_object()) throw_bad_input("no object");
    result["from"] = agent(pair.leader).host().name;
    result["to"] = agent(pair.other).host().name;
    result["time_utc"] = time_utc_now();
    result["round"] = round_;
    return PairMeasurement::parse(JsonView(result));
  }

  void fail(const Pair& pair, const std::string& why) {
    outcome_.failed_pairs.push_back({agent(pair.leader).host().name, agent(pair.other).host().name, why});
    failed_.push_back(pair);
  }

  // Once more and the other way round: a firewall may let only one of them in. In rounds of disjoint pairs too.
  void retry_failed() {
    std::vector<Pair> pairs = std::exchange(failed_, {});
    const std::vector<FailedPair> reasons = std::exchange(outcome_.failed_pairs, {});
    std::vector<Pair> left;
    for (const Pair& pair : pairs) {
      if (agent(pair.leader).is_usable() && agent(pair.other).is_usable())
        left.push_back({pair.other, pair.leader});
    }
    std::set<std::pair<int, int>> measured;
    while (!left.empty() && !interrupted_) {
      progress_("retrying " + std::to_string(left.size()) + " pairs");
      for (const Pair& pair : measure(take_round(left))) measured.insert({pair.other, pair.leader});
    }
    outcome_.failed_pairs.clear();  // for the reasons of the first time
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!measured.contains({pairs[i].leader, pairs[i].other})) outcome_.failed_pairs.push_back(reasons[i]);
    }
  }

  // Disjoint ones of those that are left, which lose them.
  static std::vector<Pair> take_round(std::vector<Pair>& left) {
    std::set<int> busy;
    std::vector<Pair> round, rest;
    for (const Pair& pair : left) {
      const bool is_free = !busy.contains(pair.leader) && !busy.contains(pair.other);
      (is_free ? round : rest).push_back(pair);
      if (is_free) busy.insert({pair.leader, pair.other});
    }
    left = std::move(rest);
    return round;
  }

  void stop_all() {
    progress_("stopping");
    for (const auto& agent : agents_) agent->stop(kStopLimit_s);
    const Deadline deadline = Deadline::in(kStopLimit_s);
    const auto is_going = [](const auto& agent) { return agent->process() != nullptr; };
    while (std::any_of(agents_.begin(), agents_.end(), is_going) && !deadline.is_over()) attend_all();
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      outcome_.hosts[i].refusals = agents_[i]->refusals();
      if (agents_[i]->state() == State::lost) outcome_.hosts[i].why_lost = agents_[i]->why();
    }
    agents_.clear();  // kills what is left on this side, which ends what is left on the other
  }

  const FleetOptions& options_;
  JournalWriter& journal_;
  const std::atomic<bool>& interrupted_;
  const FleetProgress& progress_;
  std::vector<std::unique_ptr<AgentLink>> agents_;
  std::vector<Pair> failed_;
  int round_ = 0;  // of the pairs that are measured, counted on from an earlier probe
  FleetRecord outcome_;
};

}  // namespace

FleetRecord probe_fleet(const std::vector<Host>& hosts, const PairRounds& rounds, const FleetOptions& options,
                        const ProbeJournal& done, JournalWriter& journal, const std::atomic<bool>& interrupted,
                        const FleetProgress& progress) {
  return FleetRun(hosts, options, done, journal, interrupted, progress).run(rounds);
}

}  // namespace sextant::inline probes
