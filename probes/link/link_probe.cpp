#include "probes/link/link_probe.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "core/json_value.h"
#include "core/units.h"
#include "probes/comm/kept_communicators.h"
#include "probes/link/ping_pong.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr int kTagsOfRound = 3;  // those of a pair
// Answers that a slow pair may wait for in a round: one message of the largest size takes up to three.
constexpr double kSlowAnswers = 8;

constexpr const char* kGoOn = "go on";
constexpr const char* kStop = "stop";

std::string describe(const AlphaBeta& fit) {
  return "latency " + format_seconds(fit.latency_s) + " to " + format_percent(fit.latency_spread_fraction) +
         ", " + format_bytes_per_s(fit.bytes_per_s) + " to " + format_percent(fit.bytes_per_s_spread_fraction) +
         ", off by " + format_percent(fit.rms_error_fraction) + " (root mean square over sizes)";
}

// The message of a rank after each round.
struct Report {
  std::vector<ProbeResult> points;
  bool should_stop = false;

  static Report parse(const std::string& text) {
    const Json json = parse_json(text);
    return {parse_results(JsonView(json["points"])), json["should_stop"].get<bool>()};
  }
  [[nodiscard]] std::string text() const {
    return Json{{"points", to_json(points)}, {"should_stop", should_stop}}.dump();
  }
};

bool is_unmeasured(const std::vector<ProbeResult>& points) {
  return std::any_of(points.begin(), points.end(), [](const ProbeResult& point) { return !point.has_value(); });
}

// One rank's part of the rounds.
class RoundMember {
 public:
  RoundMember(LinkRanks& ranks, const ProbeContext& context, const LinkOptions& options)
      : ranks_(*ranks.ranks), muster_(*ranks.muster), context_(context), options_(options) {
    // The time for which rank 0 waits in a round, and a margin.
    const double round_s = longest_round_s(context, options);
    muster_.begin_phase(
        {round_s, round_s + 4 * options.answer_limit_s, options.answer_limit_s},
        [this](int, const std::string& text) { collect(Report::parse(text)); }, options.lost);
  }

  LinkOutcome run(const PairRounds& rounds);

 private:
  [[nodiscard]] bool should_stop() const { return options_.should_stop && options_.should_stop(); }
  [[nodiscard]] bool is_lost(int rank) const { return muster_.lost().contains(rank); }

  [[nodiscard]] Report measure(const std::vector<RankPair>& round, int tag) const;
  void collect(Report report);
  [[nodiscard]] const char* end_round(const std::vector<RankPair>& round);
  void add_pairs_without_leader(const std::vector<RankPair>& round);

  Communicator& ranks_;
  LivenessBarrier& muster_;
  const ProbeContext& context_;
  const LinkOptions& options_;
  std::vector<ProbeResult> points_;  // at rank 0: of this round
  LinkOutcome outcome_;
};

LinkOutcome RoundMember::run(const PairRounds& rounds) {
  int tag = 0;
  for (const auto& round : rounds) {
    muster_.tell(measure(round, tag).text());
    const std::string order =
        muster_.meet("did not respond after a round of pairs", [&] { return end_round(round); });
    outcome_.is_interrupted = order == kStop;
    if (outcome_.is_interrupted) break;
    tag += kTagsOfRound;
  }
  std::stable_sort(outcome_.points.begin(), outcome_.points.end(),
                   [](const ProbeResult& a, const ProbeResult& b) {
                     return std::pair(a.rank, a.peer) < std::pair(b.rank, b.peer);
                   });
  outcome_.lost = muster_.lost();
  return std::move(outcome_);
}

Report RoundMember::measure(const std::vector<RankPair>& round, int tag) const {
  Report report;
  if (options_.on_wake) options_.on_wake();
  for (const RankPair& pair : round) {
    if (is_lost(pair.low) || is_lost(pair.high)) continue;
    const bool leads = pair.low == ranks_.rank();
    if (!leads && pair.high != ranks_.rank()) continue;
    const int peer = leads ? pair.high : pair.low;
    const PairLine line{peer, muster_.name_of(peer), tag, options_.answer_limit_s, options_.should_stop};
    if (leads) {
      report.points = lead_ping_pong(ranks_, line, options_.message_bytes, context_);
    } else {
      static_cast<void>(follow_ping_pong(ranks_, line));  // its leader says, or is lost
    }
  }
  report.should_stop = should_stop();
  return report;
}

// Ranks of a pair that waited in vain have less time.
void RoundMember::collect(Report report) {
  outcome_.is_interrupted = outcome_.is_interrupted || report.should_stop;
  if (!report.points.empty() && is_unmeasured(report.points)) {
    for (const int rank : {report.points.front().rank, report.points.front().peer}) {
      muster_.suspect(rank, 2 * options_.answer_limit_s);
    }
  }
  append(points_, std::move(report.points));
}

const char* RoundMember::end_round(const std::vector<RankPair>& round) {
  add_pairs_without_leader(round);
  if (options_.on_round) options_.on_round(points_);
  append(outcome_.points, std::exchange(points_, {}));
  return outcome_.is_interrupted || should_stop() ? kStop : kGoOn;
}

void RoundMember::add_pairs_without_leader(const std::vector<RankPair>& round) {
  for (const RankPair& pair : round) {
    const auto is_known = [&](const ProbeResult& point) {
      return point.rank == pair.low && point.peer == pair.high;
    };
    if (!is_lost(pair.low) || std::any_of(points_.begin(), points_.end(), is_known)) continue;
    ProbeResult point = waived_result("link/" + std::to_string(options_.message_bytes.front()), "s", "");
    point.rank = pair.low;
    point.peer = pair.high;
    points_.push_back(failed_result(std::move(point), muster_.lost().at(pair.low)));
  }
}

}  // namespace

std::vector<std::size_t> default_message_bytes() { return {1, 8, 4096, 65536, 1 << 20, 4 << 20, 16 << 20}; }

LinkMeasurement fit_link(RankPair pair, std::vector<ProbeResult> points) {
  LinkMeasurement link{pair, std::move(points), std::nullopt, ""};
  std::vector<TimedMessage> messages;
  for (const ProbeResult& point : link.points) {
    if (!point.has_value()) {
      link.sentence = point.name + ": " + point.sentence;
      return link;
    }
    messages.push_back({point.work, point.value});
  }
  link.fit = fit_alpha_beta(messages);
  link.sentence = link.fit ? describe(*link.fit) : "the time of a message does not grow with its size";
  return link;
}

std::vector<LinkMeasurement> fit_links(const std::vector<ProbeResult>& points) {
  std::map<RankPair, std::vector<ProbeResult>> by_pair;
  for (const ProbeResult& point : points) by_pair[{point.rank, point.peer}].push_back(point);
  std::vector<LinkMeasurement> links;
  links.reserve(by_pair.size());
  for (auto& [pair, of_pair] : by_pair) links.push_back(fit_link(pair, std::move(of_pair)));
  return links;
}

std::set<RankPair> measured_pairs(const std::vector<ProbeResult>& points) {
  std::set<RankPair> pairs;
  for (const LinkMeasurement& link : fit_links(points)) {
    if (link.fit) pairs.insert(link.pair);
  }
  return pairs;
}

std::vector<ProbeResult> points_of_measured_pairs(const std::vector<ProbeResult>& points) {
  const std::set<RankPair> pairs = measured_pairs(points);
  std::vector<ProbeResult> measured = points;
  std::erase_if(measured, [&](const ProbeResult& point) { return !pairs.contains({point.rank, point.peer}); });
  return measured;
}

double longest_round_s(const ProbeContext& context, const LinkOptions& options) {
  const double point_s = context.sampling.warm_up_s + context.sampling.stopping.budget_s;
  return static_cast<double>(options.message_bytes.size()) * point_s + kSlowAnswers * options.answer_limit_s;
}

LinkRanks::LinkRanks(Communicator& world)
    : ranks(world.split(0, world.rank())),
      muster(std::make_unique<LivenessBarrier>(world, LivenessBarrier::Limits(), LivenessBarrier::OnText())),
      hosts(world.hosts()) {}

LinkOutcome measure_links(LinkRanks& link_ranks, const PairRounds& rounds, const ProbeContext& context,
                          const LinkOptions& options) {
  if (link_ranks.ranks->size() == 1) return {};
  LinkOutcome outcome = RoundMember(link_ranks, context, options).run(rounds);
  if (!outcome.lost.empty()) keep_for_good(std::move(link_ranks.ranks));
  return outcome;
}

LinkOutcome measure_links(Communicator& world, const PairRounds& rounds, const ProbeContext& context,
                          const LinkOptions& options) {
  LinkRanks link_ranks(world);
  return measure_links(link_ranks, rounds, context, options);
}

ProbeResult waived_links() {
  return waived_result("link", "s",
                       "there is only one rank, so there is no pair to measure between; start "
                       "several with mpirun or srun");
}

}  // namespace sextant::inline probes
