// The compiled part of the Python package sextant: functions from a dictionary of options to one of documents.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <atomic>
#include <exception>

#include "ask/export/trainer_script.h"
#include "python/answers.h"
#include "python/interruptible.h"
#include "python/questions.h"
#include "sextant/error.h"
#include "sextant/provenance.h"

namespace sextant::python {
namespace {

namespace py = pybind11;

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    PyErr_SetString(error.kind() == ErrorKind::bad_input ? PyExc_ValueError : PyExc_RuntimeError, error.what());
  }
}

py::dict plan(const py::dict& options) {
  const PlanCall call = plan_call(options);
  const PlanAnswer answer =
      interruptible([&](const std::atomic<bool>& is_cancelled) { return answer_plan(call, is_cancelled); });
  using namespace py::literals;
  return py::dict("is_found"_a = answer.is_found, "message"_a = answer.message, "plan"_a = answer.plan,
                  "prediction"_a = answer.prediction, "search"_a = answer.search,
                  "explanation"_a = answer.explanation, "cluster"_a = answer.cluster,
                  "workflow"_a = answer.workflow, "layouts"_a = answer.layouts, "fits"_a = answer.fits,
                  "notes"_a = answer.notes);
}

py::dict predict(const py::dict& options) {
  const PredictCall call = predict_call(options);
  PredictAnswer answer;
  {
    const py::gil_scoped_release released;
    answer = answer_predict(call);
  }
  using namespace py::literals;
  return py::dict("prediction"_a = answer.prediction, "plan"_a = answer.plan, "fits"_a = answer.fits,
                  "notes"_a = answer.notes);
}

py::dict check(const py::dict& options) {
  const CheckCall call = check_call(options);
  const CheckAnswer answer = interruptible([&](const std::atomic<bool>&) { return answer_check(call); });
  using namespace py::literals;
  return py::dict("verdicts"_a = answer.verdicts, "notes"_a = answer.notes);
}

py::dict calibrate(const py::dict& options) {
  const CalibrateCall call = calibrate_call(options);
  const CalibrateAnswer answer =
      interruptible([&](const std::atomic<bool>&) { return answer_calibrate(call); });
  using namespace py::literals;
  return py::dict("coefficients"_a = answer.coefficients, "notes"_a = answer.notes);
}

py::dict export_plan(const py::dict& options) {
  const TrainerQuestion question = export_call(options);
  ExportedScript script;
  {
    const py::gil_scoped_release released;
    script = export_plan_of(question);
  }
  using namespace py::literals;
  return py::dict("text"_a = script.text, "refusal"_a = script.refusal, "framework"_a = script.framework,
                  "version"_a = script.version, "unsaid"_a = script.unsaid, "notes"_a = script.notes,
                  "costs"_a = script.costs, "inputs"_a = script.inputs);
}

}  // namespace
}  // namespace sextant::python

PYBIND11_MODULE(_sextant, module) {
  namespace py = pybind11;
  using namespace sextant::python;
  const std::array command{"python:sextant"};  // in the provenance of documents
  sextant::set_command_line(static_cast<int>(command.size()), command.data());
  py::register_exception_translator(translate);
  module.attr("version") = sextant::current_provenance().tool_version;
  module.def("plan", plan, py::arg("options"));
  module.def("predict", predict, py::arg("options"));
  module.def("check", check, py::arg("options"));
  module.def("calibrate", calibrate, py::arg("options"));
  module.def("export_plan", export_plan, py::arg("options"));
}
