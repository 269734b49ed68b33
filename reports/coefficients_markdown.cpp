#include "reports/coefficients_markdown.h"

#include <vector>

#include "core/units.h"
#include "sextant/coefficients.h"

namespace sextant {
namespace {

std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + cell + " |";
  return out + "\n";
}

std::string deviation_or_none(double deviation) { return deviation > 0 ? format_number(deviation) : ""; }

}  // namespace

std::string coefficients_as_markdown() {
  std::string out =
      "# Coefficients\n\n"
      "What `sextant calibrate` fits: " +
      std::to_string(coefficient_table().size()) +
      " numbers that turn the bounds of HetRL's Appendix B into predictions. With all of\n"
      "them neutral the model is the appendix. They are declared once, in\n"
      "`documents/coefficient_table.cpp`; `sextant coefficients --markdown` writes this page.\n\n"
      "*Bounds* bind the fit. The *prior* is where it starts and what stands without evidence; on CPU cores, "
      "which launch\n"
      "nothing and are their own hosts, some have another. A deviation is of the logarithm, for those that the "
      "fit moves by\n"
      "factors, else (marked +) of the value. *By device type* and *by framework*: how far, as deviation of "
      "the logarithm,\n"
      "the value of one is expected to lie from that of all; empty where one value serves all.\n\n"
      "*Prior from*: \"revised with fits\" means that the prior was moved in commits that also improved fits "
      "to "
      "those public\n"
      "runs, so these are not wholly unseen where a figure leaves some of them out. `sextant coefficients "
      "--evidence` holds priors\n"
      "against the measured kernels, collectives and weight transfers of `data/public/kernels`.\n\n";
  out += row({"name", "unit", "neutral", "bounds", "prior", "on CPU cores", "deviation", "by device type",
              "by framework", "meaning", "prior from"});
  out += row({"---", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---", "---"});
  for (const CoefficientSpec& spec : coefficient_table()) {
    const double on_cpu = prior_on_cpu(spec.id);
    const bool by_factors = spec.scale == CoefficientScale::logarithmic;
    out += row({"`" + std::string(spec.name) + "`", std::string(spec.unit), format_number(spec.neutral),
                format_number(spec.lower) + " to " + format_number(spec.upper), format_number(spec.prior),
                on_cpu == spec.prior ? "" : format_number(on_cpu),
                (by_factors ? "" : "+") + format_number(spec.prior_deviation),
                deviation_or_none(spec.type_deviation), deviation_or_none(spec.framework_deviation),
                std::string(spec.help), std::string(spec.source)});
  }
  return out;
}

}  // namespace sextant
