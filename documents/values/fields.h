// Tables of the fields of a document's objects. A field is declared once, and parsing, printing and the JSON
// Schema of the object come from it: for example
//
//   const Fields<Stop>& stop_fields() {
//     static const Fields<Stop> fields{
//         required("town", &Stop::town, text(), "Name of the town."),
//         optional("wait_s", &Stop::wait_s, non_negative(), "Seconds; 0: passes through."),
//     };
//     return fields;
//   }
//
// Fields are read, written and listed in messages in the order of the table. A default is that of the member.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_value.h"
#include "documents/values/names.h"
#include "sextant/ids.h"
#include "sextant/precision.h"
#include "sextant/quantity.h"

namespace sextant::inline documents {

// A kind of value: how it is read, how it is written, and its JSON Schema.
template <typename V>
struct Kind {
  std::function<V(const JsonView&)> read;
  std::function<Json(const V&)> write;
  Json schema;
};

[[nodiscard]] Kind<int> count();      // an integer >= 1
[[nodiscard]] Kind<int> number_of();  // an integer >= 0
[[nodiscard]] Kind<int> whole(int minimum, int maximum);
[[nodiscard]] Kind<double> number();
[[nodiscard]] Kind<double> positive();
[[nodiscard]] Kind<double> non_negative();
[[nodiscard]] Kind<double> fraction();
[[nodiscard]] Kind<std::string> text();  // not empty
[[nodiscard]] Kind<std::string> any_text();
[[nodiscard]] Kind<bool> flag();
[[nodiscard]] Kind<DeviceId> device();
[[nodiscard]] Kind<Precision> precision();
[[nodiscard]] Kind<Quantity> quantity();
[[nodiscard]] Kind<Quantity> quantity_or_zero();
// A quantity from 0.1 to 1e24: bytes, or a rate of bytes or operations. What is smaller or larger is a mistake of the
// document, and products of it leave the numbers.
[[nodiscard]] Kind<Quantity> amount();

// A number from 1e-6 to 1. `refusal` is the message for a greater one.
[[nodiscard]] Kind<double> share(std::string_view refusal);

// A value of an enum, by its names in the order of the enum.
template <typename Enum, std::size_t kCount>
[[nodiscard]] Kind<Enum> one_of(const std::array<std::string_view, kCount>& names) {
  return {[&names](const JsonView& view) { return parse_name<Enum>(view, names); },
          [&names](const Enum& value) { return Json(name_in(names, value)); },
          {{"enum", names}}};
}

// A text that is one of several.
[[nodiscard]] Kind<std::string> one_of(const std::vector<std::string_view>& names);

// A type that reads and writes itself; its schema is elsewhere.
template <typename V>
[[nodiscard]] Kind<V> part(std::string_view schema) {
  return {[](const JsonView& view) { return V::parse(view); },
          [](const V& value) { return value.to_json(); },
          {{"$ref", schema}}};
}

// The kind with its schema elsewhere.
template <typename V>
[[nodiscard]] Kind<V> defined_at(std::string_view schema, Kind<V> kind) {
  kind.schema = {{"$ref", schema}};
  return kind;
}

template <typename V>
[[nodiscard]] Kind<std::vector<V>> list_of(const Kind<V>& kind) {
  return {[kind](const JsonView& view) {
            std::vector<V> out;
            for (const JsonView& item : view.items()) out.push_back(kind.read(item));
            return out;
          },
          [kind](const std::vector<V>& values) {
            Json out = Json::array();
            for (const V& value : values) out.push_back(kind.write(value));
            return out;
          },
          {{"type", "array"}, {"items", kind.schema}}};
}

template <typename V>
[[nodiscard]] Kind<std::map<std::string, V>> by_name(const Kind<V>& kind) {
  return {[kind](const JsonView& view) {
            std::map<std::string, V> out;
            for (const auto& [name, member] : view.members()) out.emplace(name, kind.read(member));
            return out;
          },
          [kind](const std::map<std::string, V>& values) {
            Json out = Json::object();
            for (const auto& [name, value] : values) out[name] = kind.write(value);
            return out;
          },
          {{"type", "object"}, {"additionalProperties", kind.schema}}};
}

template <typename T>
struct Field {
  std::string_view name;
  bool is_required;
  Json schema;  // null: docs/schemas describes the field by hand
  std::function<void(const JsonView& object, T& out)> read;
  std::function<void(const T& in, Json& object)> write;

  // Adds a check that needs the fields before this one; it runs after the field was read or found missing.
  [[nodiscard]] Field then(const std::function<void(const JsonView& object, T& out)>& check) const {
    Field field = *this;
    field.read = [first = read, check](const JsonView& object, T& out) {
      first(object, out);
      check(object, out);
    };
    return field;
  }

  // The same for a check that also sets the default, which depends on the fields before this one.
  [[nodiscard]] Field completed_by(const std::function<void(const JsonView& object, T& out)>& check) const {
    Field field = then(check);
    field.schema.erase("default");
    return field;
  }

  // Leaves the description in docs/schemas to people: it says more than the kind of the value.
  [[nodiscard]] Field described_by_hand() const {
    Field field = *this;
    field.schema = nullptr;
    return field;
  }
};

template <typename T>
using Fields = std::vector<Field<T>>;

// The schema of a field. A default that is an object or an array, or that is null, is left out.
[[nodiscard]] Json described(std::string_view help, const Json& schema, const Json& default_value = nullptr);

// The default of a field, or null if a document cannot state it: 0 for an integer >= 1 that may be missing.
template <typename V>
[[nodiscard]] Json stated_default(const Kind<V>& kind, const V& value) {
  Json json = kind.write(value);
  try {
    (void)kind.read(JsonView(json));
  } catch (const Error&) {
    return nullptr;
  }
  return json;
}

template <typename T, typename V>
[[nodiscard]] Field<T> required(std::string_view name, V T::*member, const Kind<V>& kind,
                                std::string_view help = "") {
  return {name, true, described(help, kind.schema),
          [=](const JsonView& object, T& out) { out.*member = kind.read(object.required(name)); },
          [=](const T& in, Json& object) { object[name] = kind.write(in.*member); }};
}

// The field may be missing when read; it is always written.
template <typename T, typename V>
[[nodiscard]] Field<T> defaulted(std::string_view name, V T::*member, const Kind<V>& kind,
                                 std::string_view help = "") {
  return {name, false, described(help, kind.schema, stated_default(kind, T{}.*member)),
          [=](const JsonView& object, T& out) {
            if (const auto view = object.optional(name)) out.*member = kind.read(*view);
          },
          [=](const T& in, Json& object) { object[name] = kind.write(in.*member); }};
}

// The field may be missing when read; it is written if it differs from its default.
template <typename T, typename V>
[[nodiscard]] Field<T> optional(std::string_view name, V T::*member, const Kind<V>& kind,
                                std::string_view help = "") {
  Field<T> field = defaulted(name, member, kind, help);
  field.write = [=, unset = T{}.*member](const T& in, Json& object) {
    if (in.*member != unset) object[name] = kind.write(in.*member);
  };
  return field;
}

template <typename T, typename V>
[[nodiscard]] Field<T> optional(std::string_view name, std::optional<V> T::*member, const Kind<V>& kind,
                                std::string_view help = "") {
  return {name, false, described(help, kind.schema),
          [=](const JsonView& object, T& out) {
            if (const auto view = object.optional(name)) out.*member = kind.read(*view);
          },
          [=](const T& in, Json& object) {
            if (in.*member) object[name] = kind.write(*(in.*member));
          }};
}

template <typename T>
[[nodiscard]] T parse_fields(const JsonView& view, const Fields<T>& fields) {
  std::vector<std::string_view> names;
  for (const Field<T>& field : fields) names.push_back(field.name);
  view.allow_only(names);
  T out{};
  for (const Field<T>& field : fields) field.read(view, out);
  return out;
}

template <typename T>
[[nodiscard]] Json fields_to_json(const T& in, const Fields<T>& fields) {
  Json out = Json::object();
  for (const Field<T>& field : fields) field.write(in, out);
  return out;
}

// "required" and "properties" of an object's JSON Schema. Fields that are described by hand are null.
template <typename T>
[[nodiscard]] Json schema_of(const Fields<T>& fields) {
  Json out = Json::object();
  for (const Field<T>& field : fields) {
    if (field.is_required) out["required"].push_back(field.name);
    out["properties"][field.name] = field.schema;
  }
  return out;
}

// An object inside another one, described where it is used.
template <typename T>
[[nodiscard]] Kind<T> object(const Fields<T>& fields) {
  Json schema{{"type", "object"}, {"additionalProperties", false}};
  schema.update(schema_of(fields));
  return {[&fields](const JsonView& view) { return parse_fields(view, fields); },
          [&fields](const T& in) { return fields_to_json(in, fields); }, std::move(schema)};
}

}  // namespace sextant::inline documents
