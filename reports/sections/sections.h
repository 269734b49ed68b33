// The sections of a report, each from the documents it needs; empty if these are absent.
#pragma once

#include <optional>

#include "reports/content/content.h"
#include "reports/content/report_input.h"

namespace sextant::inline reports {

[[nodiscard]] std::optional<Section> summary_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> accuracy_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> plan_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> search_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> explanation_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> breakdown_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> timeline_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> trust_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> memory_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> coefficients_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> devices_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> links_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> runs_section(const ReportInput& input);
// The jobs on shared pools in a sentence or two; there must be a placement or a simulation.
[[nodiscard]] std::string coschedule_summary(const ReportInput& input);
[[nodiscard]] std::optional<Section> placement_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> simulation_section(const ReportInput& input);
[[nodiscard]] std::optional<Section> provenance_section(const ReportInput& input);

// Returns all sections in reading order, with the title.
[[nodiscard]] Content report_content(const ReportInput& input);

}  // namespace sextant::inline reports
