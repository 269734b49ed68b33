// A report that can be shown outside: without names of machines and places, and without command lines.
#pragma once

#include "reports/content/content.h"
#include "reports/content/report_input.h"

namespace sextant::inline reports {

// Replaces the names of the cluster, its nodes, zones and regions, and of hosts in all texts, tables and charts by
// numbers ("node3"), and leaves out command lines. Names of GPUs, models and tasks stay, and so does the title.
void make_anonymous(Content& content, const ReportInput& input);

}  // namespace sextant::inline reports
