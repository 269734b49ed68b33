#include "probes/collective/group_point.h"

#include <array>
#include <exception>
#include <span>

#include "probes/report/rank_report.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// Runs and says what went wrong.
template <typename Action>
std::string complaint_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.empty() ? "failed without a reason" : text;
  }
  return "";
}

}  // namespace

std::string first_complaint(Communicator& group, const std::string& mine, const std::vector<int>& names) {
  std::array<double, 1> complains = {mine.empty() ? 0.0 : 1.0};
  group.all_reduce_max(std::span<double>(complains));
  if (complains[0] == 0) return "";
  const std::vector<std::string> texts = exchange_texts(group, mine);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    return "rank " + std::to_string(names.empty() ? static_cast<int>(rank) : names[rank]) + ": " + texts[rank];
  }
  return "";
}

int from_leader(Communicator& group, int value) {
  group.broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
  return value;
}

ProbeResult GroupPoints::measure(Communicator& group, const std::string& name, double share,
                                 const PrepareRun& prepare, const std::vector<int>& names) {
  names_ = names;
  ProbeResult result = waived_result(name, "s", "");
  if (const std::string why = first_complaint(group, broken_, names_); !why.empty()) {
    result.sentence = "not tried after a failure: " + why;
    return result;
  }
  std::unique_ptr<CollectiveRun> run;
  const std::string unready = complaint_of([&] { run = prepare(); });
  const std::string complaint = first_complaint(group, unready, names_);
  if (!complaint.empty()) return failed_result(std::move(result), complaint);
  return sample(group, *run, std::move(result), share);
}

ProbeResult GroupPoints::sample(Communicator& group, CollectiveRun& run, ProbeResult result, double share) {
  if (group.rank() == 0) {
    lead(group, run, result, share);
  } else {
    follow(group, run);
  }
  if (!broken_.empty()) {
    const std::string why = broken_;
    broken_ = result.name + ", " + why;
    return failed_result(std::move(result), why);
  }
  const std::string mine = complaint_of([&] {
    if (!run.is_right()) throw_machine_failed("the data was wrong");
  });
  const std::string complaint = first_complaint(group, mine, names_);
  return complaint.empty() ? std::move(result) : failed_result(std::move(result), complaint);
}

// False when a rank failed, and then broken_ says which and why.
bool GroupPoints::run_together(Communicator& group, CollectiveRun& run, int repeats, double& slowest_s) {
  group.barrier();
  double took_s = 0;
  const std::string mine = complaint_of([&] { took_s = run.run_s(repeats); });
  std::array<double, 2> of_all = {took_s, mine.empty() ? 0.0 : 1.0};
  group.all_reduce_max(std::span<double>(of_all));
  slowest_s = of_all[0];
  if (of_all[1] == 0) return true;
  broken_ = first_complaint(group, mine, names_);
  return false;
}

void GroupPoints::lead(Communicator& group, CollectiveRun& run, ProbeResult& result, double share) {
  const TimedBatch batch = [&](int repeats) {
    static_cast<void>(from_leader(group, repeats));
    double slowest_s = 0;
    if (!run_together(group, run, repeats, slowest_s)) throw_machine_failed(broken_);
    return slowest_s;
  };
  try {
    result = time_result(result.name, share, take_samples(sampling_, batch, clock_));
  } catch (const Error&) {
    if (broken_.empty()) throw;
    return;
  }
  static_cast<void>(from_leader(group, 0));
}

void GroupPoints::follow(Communicator& group, CollectiveRun& run) {
  double slowest_s = 0;
  while (const int repeats = from_leader(group, 0)) {
    if (!run_together(group, run, repeats, slowest_s)) return;
  }
}

}  // namespace sextant::inline probes
