#include "reports/coefficients_markdown.h"

#include <vector>

#include "core/units.h"
#include "sextant/coefficients.h"

namespace sextant::inline reports {
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
      "# Coefficients\n"
      "\n"
      "`sextant calibrate` fits " +
      std::to_string(coefficient_table().size()) +
      " coefficients, which turn the bounds of HetRL's Appendix B into predictions. If all\n"
      "of them are neutral, the model is the appendix. They are declared in "
      "`documents/coefficient_table.cpp`;\n"
      "`sextant coefficients --markdown` writes this page.\n"
      "\n"
      "*Bounds* limit the fit. The *prior* is its starting point, and the value of a coefficient for which "
      "there is no\n"
      "evidence. CPU cores launch no kernels and are their own hosts, so some priors differ there. A deviation "
      "is the\n"
      "standard deviation of the logarithm if the fit changes the coefficient by factors, otherwise (marked +) "
      "that of the\n"
      "value. *By device type* and *by framework*: expected deviation of the logarithm between the value for "
      "one type or\n"
      "framework and the value for all; empty if one value applies to all.\n"
      "\n"
      "*Prior from*: \"revised with fits\" means that the prior was changed in commits that also improved fits "
      "to those public\n"
      "runs. These runs are therefore not wholly unseen by an accuracy figure that leaves some of them out. "
      "`sextant\n"
      "coefficients --evidence` compares priors with the measured kernels, collectives and weight transfers "
      "of\n"
      "`data/public/kernels`.\n"
      "\n";
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

}  // namespace sextant::inline reports
