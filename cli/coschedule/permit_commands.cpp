#include "cli/coschedule/permit_commands.h"

#include <cstdio>
#include <numeric>

#include "cli/shared/command.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "planner/coschedule/control/permit_server.h"
#include "planner/coschedule/round_robin.h"
#include "sextant/error.h"

namespace sextant::cli {

using namespace coschedule;

namespace {

const Group& served_group(const Placement& placement, const CoscheduleOptions& options) {
  for (const Group& group : placement.groups) {
    if (group.name == options.group) return group;
  }
  if (options.group.empty() && placement.groups.size() == 1) return placement.groups.front();
  std::string names;
  for (const Group& group : placement.groups) names += (names.empty() ? "" : ", ") + group.name;
  throw_bad_input(options.state + ": --group: expected one of its groups (" + names + ")");
}

double promised_s(const Group& group) {
  std::vector<int> order(group.members.size());
  std::iota(order.begin(), order.end(), 0);
  return turns_in_order(group, order).period_s;
}

void print_measured(const Group& group, const std::vector<PhaseRecord>& log) {
  Table table({"job", "iterations", "iteration", "of that waiting", "at most, as placed", "end"});
  const double bound_s = promised_s(group);
  for (const MeasuredJob& job : measured_jobs(group, log)) {
    const bool is_measured = job.iteration_s > 0;
    table.add({job.name, std::to_string(job.iterations), is_measured ? format_seconds(job.iteration_s) : "",
               is_measured ? format_seconds(job.waiting_s) : "", format_seconds(bound_s),
               job.has_crashed ? "crashed" : "left"});
  }
  std::fputs(table.text().c_str(), stdout);
  print_line("iterations are means, the first of each job left out");
}

}  // namespace

int run_group(const CoscheduleOptions& options) {
  if (options.socket.empty())
    throw_bad_input("coschedule run: --socket is required, a path for the Unix socket");
  const Placement placement = load_document<Placement>(options.state).content;
  const Group& group = served_group(placement, options);
  const Interrupt interrupt;
  PermitServerOptions serving;
  serving.order = options.order;
  serving.tail_threshold = options.tail_threshold;
  serving.ends_when_all_left = options.until_left;
  serving.is_cancelled = &interrupt.flag();
  serving.on_event = [](const PhaseRecord& record) {
    if (record.event != PhaseEvent::joined && record.event != PhaseEvent::left &&
        record.event != PhaseEvent::crashed)
      return;
    const bool has_crashed = record.event == PhaseEvent::crashed;
    std::fprintf(stderr, "%s %s%s\n", record.job.c_str(),
                 has_crashed ? "crashed" : std::string(name_of(record.event)).c_str(),
                 has_crashed ? "; its permit has returned, and the others go on" : "");
  };
  std::fprintf(stderr, "permits for %s at %s\n", group.name.c_str(), options.socket.c_str());
  const std::vector<PhaseRecord> log = serve_permits(group, options.socket, serving);
  print_measured(group, log);
  if (!options.out.empty()) {
    write_text_file(options.out, csv_of(log));
    say_wrote(options.out);
  }
  return kDone;
}

}  // namespace sextant::cli
