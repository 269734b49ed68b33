#include "reports/report.h"

#include "core/json_value.h"
#include "reports/render/html.h"
#include "reports/render/json.h"
#include "reports/render/markdown.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {

std::string render_html(const ReportInput& input) { return write_html(report_content(input)); }
std::string render_markdown(const ReportInput& input) { return write_markdown(report_content(input)); }
Json report_json(const ReportInput& input) { return write_json(report_content(input)); }

}  // namespace sextant::inline reports
