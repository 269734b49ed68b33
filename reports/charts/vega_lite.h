// Parts that the Vega-Lite specifications share. Specifications name no theme: the page adds fonts and the
// colours of the light or dark theme when it draws them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/json.h"

namespace sextant::charts {

// Returns a specification as wide as its container. `body` is the rest of it, as JSON text.
[[nodiscard]] Json specification(const std::string& description, int height_px, std::string_view body);

// Height of a chart with one row for each name. (Vega-Lite's own {"step": ...} does not go with a width that
// follows the page.)
[[nodiscard]] int row_height(std::size_t rows, int row_px);

[[nodiscard]] Json inline_data(Json rows);

// Colours that remain apart with the common colour vision deficiencies (Okabe and Ito, 2008), on light and dark
// ground. A chart with more names than this should merge the least of them.
inline constexpr std::size_t kColourCount = 8;

// {"domain": names, "range": colours}: the colour of a name depends on its place only, and no two are equal.
[[nodiscard]] Json colour_scale(const std::vector<std::string>& names);

// Colours of the tasks: a task of the usual workflows has the same colour in every chart, and no two tasks share one.
[[nodiscard]] Json task_colour_scale(const std::vector<std::string>& shown_tasks);

// Axis of times from 0 to max_s in one unit that fits: "time (ms)".
[[nodiscard]] Json seconds_axis(std::string_view title, double max_s);

// Logarithmic scale and axis of times that hold [low_s, high_s], each tick with its own unit.
[[nodiscard]] Json log_seconds_scale(double low_s, double high_s);
[[nodiscard]] Json log_seconds_axis(std::string_view title, double low_s, double high_s);

// An expression of Vega that shows datum.value seconds with its unit.
extern const char* const kSecondsLabel;

// Round numbers 1, 2, 5 x 10^k within [low, high]; fewer (10^k) when the range is long.
[[nodiscard]] std::vector<double> log_ticks(double low, double high);

}  // namespace sextant::charts
