#include "python/options.h"

#include <cmath>

#include "sextant/error.h"

namespace sextant::python {
namespace {

namespace py = pybind11;

[[noreturn]] void refuse_type(const char* name, const std::string& expected, const py::handle& value) {
  throw py::type_error(std::string(name) + ": expected " + expected + ", got " +
                       py::str(py::type::of(value).attr("__name__")).cast<std::string>());
}

std::string text_of(const char* name, const py::handle& value) {
  if (!py::isinstance<py::str>(value)) refuse_type(name, "a text", value);
  return value.cast<std::string>();
}

// An int, or what converts to one without loss, such as an integer of NumPy; bool is none.
bool is_integer(const py::handle& value) {
  return !py::isinstance<py::bool_>(value) && PyIndex_Check(value.ptr()) != 0;
}

}  // namespace

void Options::refuse(const std::string& name, const std::string& expected, const std::string& got) {
  throw_bad_input(name + ": " + expected + ", got " + got);
}

py::object Options::find(const char* name) {
  known_.insert(name);
  if (!given_.contains(name)) return {};
  py::object value = given_[name];
  return value.is_none() ? py::object() : value;
}

std::optional<std::int64_t> Options::integer(const char* name, const Range& range) {
  const py::object value = find(name);
  if (!value) return std::nullopt;
  if (!is_integer(value)) refuse_type(name, "an integer", value);
  constexpr std::int64_t kMaxShown = 1'000'000'000;
  const std::string expected = range.maximum > kMaxShown
                                   ? "expected an integer >= " + std::to_string(range.minimum)
                                   : "expected an integer from " + std::to_string(range.minimum) + " to " +
                                         std::to_string(range.maximum);
  int overflow = 0;
  const py::object exact = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!exact) throw py::error_already_set();
  const std::int64_t number = PyLong_AsLongLongAndOverflow(exact.ptr(), &overflow);
  if (overflow != 0 || number < range.minimum || number > range.maximum)
    refuse(name, expected, py::str(value).cast<std::string>());
  return number;
}

std::optional<double> Options::number(const char* name) {
  const py::object value = find(name);
  if (!value) return std::nullopt;
  if (py::isinstance<py::bool_>(value) || PyNumber_Check(value.ptr()) == 0)
    refuse_type(name, "a number", value);
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

void Options::take(const char* name, std::string& value) {
  if (const py::object given = find(name)) value = text_of(name, given);
}

void Options::take(const char* name, bool& value) {
  const py::object given = find(name);
  if (!given) return;
  if (!py::isinstance<py::bool_>(given)) refuse_type(name, "True or False", given);
  value = given.cast<bool>();
}

void Options::take(const char* name, int& value, const Range& range) {
  if (const auto given = integer(name, range)) value = static_cast<int>(*given);
}

void Options::take(const char* name, unsigned& value, const Range& range) {
  if (const auto given = integer(name, range)) value = static_cast<unsigned>(*given);
}

void Options::take(const char* name, std::uint64_t& value, const Range& range) {
  if (const auto given = integer(name, range)) value = static_cast<std::uint64_t>(*given);
}

void Options::take(const char* name, std::optional<int>& value, const Range& range) {
  if (const auto given = integer(name, range)) value = static_cast<int>(*given);
}

void Options::take(const char* name, std::optional<std::uint64_t>& value, const Range& range) {
  if (const auto given = integer(name, range)) value = static_cast<std::uint64_t>(*given);
}

void Options::take_positive(const char* name, double& value) {
  std::optional<double> given;
  take_positive(name, given);
  if (given) value = *given;
}

void Options::take_positive(const char* name, std::optional<double>& value) {
  const std::optional<double> given = number(name);
  if (!given) return;
  if (!std::isfinite(*given) || *given <= 0)
    refuse(name, "expected a number above 0", py::str(py::float_(*given)).cast<std::string>());
  value = given;
}

void Options::take_between(const char* name, std::optional<double>& value, double minimum, double maximum) {
  const std::optional<double> given = number(name);
  if (!given) return;
  const auto text = [](double of) { return py::str(py::float_(of)).cast<std::string>(); };
  if (!(*given >= minimum && *given <= maximum))
    refuse(name, "expected a number from " + text(minimum) + " to " + text(maximum), text(*given));
  value = given;
}

void Options::take(const char* name, std::vector<std::string>& values) {
  const py::object given = find(name);
  if (!given) return;
  values.clear();
  if (py::isinstance<py::str>(given)) {
    values.push_back(given.cast<std::string>());
    return;
  }
  if (!py::isinstance<py::iterable>(given)) refuse_type(name, "a list of texts", given);
  for (const py::handle one : py::iter(given)) values.push_back(text_of(name, one));
}

std::map<std::string, std::string> Options::texts(const char* name) {
  std::map<std::string, std::string> all;
  const py::object given = find(name);
  if (!given) return all;
  if (!py::isinstance<py::dict>(given)) refuse_type(name, "a dictionary", given);
  for (const auto& [key, value] : given.cast<py::dict>()) all[text_of(name, key)] = text_of(name, value);
  return all;
}

void Options::expect_all_taken() const {
  for (const auto& item : given_) {
    const std::string name = py::str(item.first).cast<std::string>();
    if (!known_.contains(name)) throw py::type_error("there is no option " + name);
  }
}

}  // namespace sextant::python
