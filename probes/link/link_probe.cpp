#include "probes/link/link_probe.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "core/json_value.h"
#include "core/units.h"
#include "probes/link/kept_communicators.h"
#include "probes/link/limited_message.h"
#include "probes/link/ping_pong.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// Tags of a round, after its first: what rank 0 orders, what the others report (two each), and those of a pair.
constexpr int kTagsOfRound = 8;
constexpr int kReport = 2;
constexpr int kPair = 4;

constexpr int kLeader = 0;
// Answers that a slow pair may wait for in a round: one message of the largest size takes up to three.
constexpr double kSlowAnswers = 8;

std::string describe(const AlphaBeta& fit) {
  return "latency " + format_seconds(fit.latency_s) + " to " + format_percent(fit.latency_spread_fraction) +
         ", " + format_bytes_per_s(fit.bytes_per_s) + " to " + format_percent(fit.bytes_per_s_spread_fraction) +
         ", off by " + format_percent(fit.rms_error_fraction) + " (root mean square over sizes)";
}

// The message of rank 0 before each round and after the last.
struct Order {
  bool goes_on = true;
  bool is_interrupted = false;
  std::map<int, std::string> lost;

  static Order parse(const std::string& text) {
    const Json json = parse_json(text);
    Order order{json["goes_on"].get<bool>(), json["is_interrupted"].get<bool>(), {}};
    for (const Json& one : json["lost"]) order.lost[one["rank"].get<int>()] = one["why"].get<std::string>();
    return order;
  }
  [[nodiscard]] std::string text() const {
    Json json = {{"goes_on", goes_on}, {"is_interrupted", is_interrupted}, {"lost", Json::array()}};
    for (const auto& [rank, why] : lost) json["lost"].push_back({{"rank", rank}, {"why", why}});
    return json.dump();
  }
};

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
  RoundMember(const LinkRanks& ranks, const ProbeContext& context, const LinkOptions& options)
      : ranks_(*ranks.ranks), context_(context), options_(options), hosts_(ranks.hosts) {
    order_.lost = options.lost;
  }

  LinkOutcome lead(const PairRounds& rounds);
  LinkOutcome follow(const PairRounds& rounds);

 private:
  [[nodiscard]] std::string name_of(int rank) const {
    return "rank " + std::to_string(rank) + " on " + hosts_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool should_stop() const { return options_.should_stop && options_.should_stop(); }
  [[nodiscard]] bool is_lost(int rank) const { return order_.lost.contains(rank); }
  void lose(int rank, const std::string& why) { order_.lost.try_emplace(rank, name_of(rank) + " " + why); }

  [[nodiscard]] Report measure(const std::vector<RankPair>& round, int tag) const;
  void send_orders(int tag);
  void collect(const std::vector<RankPair>& round, int tag, std::vector<ProbeResult>& points);
  void add_pairs_without_leader(const std::vector<RankPair>& round, std::vector<ProbeResult>& points) const;

  Communicator& ranks_;
  const ProbeContext& context_;
  const LinkOptions& options_;
  std::vector<std::string> hosts_;
  Order order_;
};

Report RoundMember::measure(const std::vector<RankPair>& round, int tag) const {
  Report report;
  if (options_.on_wake) options_.on_wake();
  for (const RankPair& pair : round) {
    if (is_lost(pair.low) || is_lost(pair.high)) continue;
    const bool leads = pair.low == ranks_.rank();
    if (!leads && pair.high != ranks_.rank()) continue;
    const int peer = leads ? pair.high : pair.low;
    const PairLine line{peer, name_of(peer), tag + kPair, options_.answer_limit_s, options_.should_stop};
    if (leads) {
      report.points = lead_ping_pong(ranks_, line, options_.message_bytes, context_);
    } else {
      static_cast<void>(follow_ping_pong(ranks_, line));  // its leader says, or is lost
    }
  }
  report.should_stop = should_stop();
  return report;
}

void RoundMember::send_orders(int tag) {
  for (int rank = 1; rank < ranks_.size(); ++rank) {
    if (is_lost(rank)) continue;
    if (!send_text(ranks_, order_.text(), rank, tag, options_.answer_limit_s))
      lose(rank, "does not accept messages");
  }
}

// Collects the reports of all ranks that are not lost, as they arrive. A rank whose partner waited in vain has
// less time.
void RoundMember::collect(const std::vector<RankPair>& round, int tag, std::vector<ProbeResult>& points) {
  std::set<int> silent;
  for (int rank = 1; rank < ranks_.size(); ++rank) {
    if (!is_lost(rank)) silent.insert(rank);
  }
  const double end_s = steady_clock().now_s() + longest_round_s(context_, options_);
  std::map<int, double> end_of_suspect_s;
  const auto suspect = [&](const std::vector<ProbeResult>& of_pair) {
    if (of_pair.empty() || !is_unmeasured(of_pair)) return;
    const double soon_s = steady_clock().now_s() + 2 * options_.answer_limit_s;
    for (const int rank : {of_pair.front().rank, of_pair.front().peer}) end_of_suspect_s[rank] = soon_s;
  };
  suspect(points);
  while (!silent.empty()) {
    bool has_come = false;
    for (auto rank = silent.begin(); rank != silent.end();) {
      const auto doubt = end_of_suspect_s.find(*rank);
      const double limit_s = doubt == end_of_suspect_s.end() ? end_s : std::min(end_s, doubt->second);
      std::string text;
      if (!ranks_.has_message(*rank, tag + kReport)) {
        if (steady_clock().now_s() < limit_s) {
          ++rank;
          continue;
        }
        lose(*rank, "did not respond after a round of pairs");
      } else if (!receive_text(ranks_, text, *rank, tag + kReport, options_.answer_limit_s)) {
        lose(*rank, "stopped in the middle of a message");
      } else {
        Report report = Report::parse(text);
        order_.is_interrupted = order_.is_interrupted || report.should_stop;
        suspect(report.points);
        std::move(report.points.begin(), report.points.end(), std::back_inserter(points));
      }
      has_come = true;
      rank = silent.erase(rank);
    }
    if (!has_come) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  add_pairs_without_leader(round, points);
}

void RoundMember::add_pairs_without_leader(const std::vector<RankPair>& round,
                                           std::vector<ProbeResult>& points) const {
  for (const RankPair& pair : round) {
    const auto is_known = [&](const ProbeResult& point) {
      return point.rank == pair.low && point.peer == pair.high;
    };
    if (!is_lost(pair.low) || std::any_of(points.begin(), points.end(), is_known)) continue;
    ProbeResult point = waived_result("link/" + std::to_string(options_.message_bytes.front()), "s", "");
    point.rank = pair.low;
    point.peer = pair.high;
    points.push_back(failed_result(std::move(point), order_.lost.at(pair.low)));
  }
}

LinkOutcome RoundMember::lead(const PairRounds& rounds) {
  LinkOutcome outcome;
  int tag = 0;
  for (const auto& round : rounds) {
    order_.is_interrupted = order_.is_interrupted || should_stop();
    if (order_.is_interrupted) break;
    send_orders(tag);
    Report own = measure(round, tag);
    order_.is_interrupted = own.should_stop;
    std::vector<ProbeResult>& points = own.points;
    collect(round, tag, points);
    tag += kTagsOfRound;
    if (options_.on_round) options_.on_round(points);
    std::move(points.begin(), points.end(), std::back_inserter(outcome.points));
  }
  order_.goes_on = false;
  send_orders(tag);
  std::stable_sort(outcome.points.begin(), outcome.points.end(),
                   [](const ProbeResult& a, const ProbeResult& b) {
                     return std::pair(a.rank, a.peer) < std::pair(b.rank, b.peer);
                   });
  outcome.lost = order_.lost;
  outcome.is_interrupted = order_.is_interrupted;
  return outcome;
}

LinkOutcome RoundMember::follow(const PairRounds& rounds) {
  // The time for which rank 0 waits in the round before, and a margin.
  const double limit_s = longest_round_s(context_, options_) + 4 * options_.answer_limit_s;
  const auto check = [&](bool has_come) {
    if (!has_come) throw_machine_failed(name_of(kLeader) + ", which coordinates the rounds, does not respond");
  };
  for (int tag = 0;; tag += kTagsOfRound) {
    std::string text;
    check(wait_for_message(ranks_, kLeader, tag, limit_s));
    check(receive_text(ranks_, text, kLeader, tag, options_.answer_limit_s));
    order_ = Order::parse(text);
    if (!order_.goes_on) break;
    const Report report = measure(rounds[static_cast<std::size_t>(tag / kTagsOfRound)], tag);
    check(send_text(ranks_, report.text(), kLeader, tag + kReport, limit_s));
  }
  return {{}, order_.lost, order_.is_interrupted};
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

LinkRanks::LinkRanks(Communicator& world) : ranks(world.split(0, world.rank())), hosts(world.hosts()) {}

LinkOutcome measure_links(LinkRanks& link_ranks, const PairRounds& rounds, const ProbeContext& context,
                          const LinkOptions& options) {
  if (link_ranks.ranks->size() == 1) return {};
  RoundMember member(link_ranks, context, options);
  LinkOutcome outcome = link_ranks.ranks->rank() == kLeader ? member.lead(rounds) : member.follow(rounds);
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

}  // namespace sextant
