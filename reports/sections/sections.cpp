#include "reports/sections/sections.h"

#include "reports/content/anonymous.h"
#include "reports/sections/answer.h"
#include "sextant/provenance.h"

namespace sextant::inline reports {

Content report_content(const ReportInput& input) {
  using Builder = std::optional<Section> (*)(const ReportInput&);
  constexpr Builder kBuilders[] = {
      summary_section,     accuracy_section,     plan_section,       search_section,
      explanation_section, timeline_section,     trust_section,      breakdown_section,
      memory_section,      coefficients_section, devices_section,    links_section,
      runs_section,        placement_section,    simulation_section, provenance_section};
  const Provenance here = current_provenance();
  Content content{input.title.empty() ? "Sextant report" : input.title, here.time_utc, here.tool_version, {}};
  for (const Builder build : kBuilders) {
    std::optional<Section> section = build(input);
    if (!section) continue;
    // The first section answers; the others are for those who ask on.
    section->folded = has_answer(input) && !content.sections.empty();
    content.sections.push_back(std::move(*section));
  }
  if (input.is_anonymous) make_anonymous(content, input);
  return content;
}

}  // namespace sextant::inline reports
