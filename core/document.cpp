#include "sextant/document.h"

#include <charconv>

#include "core/json_value.h"
#include "core/text.h"

namespace sextant::detail {
namespace {

std::string schema_name(std::string_view kind, SchemaVersion version) {
  return "sextant." + std::string(kind) + "/" + std::to_string(version.major) + "." +
         std::to_string(version.minor);
}

// Reads a number off the front of text; false when there is none.
bool take_number(std::string_view& text, int& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || number < 0) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool parse_version(std::string_view text, SchemaVersion& version) {
  if (!take_number(text, version.major) || !text.starts_with('.')) {
    return false;
  }
  text.remove_prefix(1);
  return take_number(text, version.minor) && text.empty();
}

void check_schema(const JsonView& view, std::string_view kind, SchemaVersion known) {
  const std::string schema = view.text();
  const std::string shown = in_quotes(schema);
  const std::string prefix = "sextant." + std::string(kind) + "/";
  if (!schema.starts_with(prefix)) {
    view.fail("expected a sextant." + std::string(kind) + " document, got " + shown);
  }
  SchemaVersion version;
  if (!parse_version(std::string_view(schema).substr(prefix.size()), version)) {
    view.fail("expected a version like \"" + schema_name(kind, known) + "\", got " + shown);
  }
  if (version.major > known.major || (version.major == known.major && version.minor > known.minor)) {
    view.fail(shown + " was written by a newer Sextant; this one reads " + schema_name(kind, known));
  }
  if (version.major < known.major) {
    view.fail(shown + " was written by an older Sextant; this one reads " + schema_name(kind, known));
  }
}

}  // namespace

void open_document(std::string_view text, std::string_view kind, SchemaVersion version, Provenance& provenance,
                   const std::function<void(const JsonView&)>& read_body) {
  Json body = parse_json(text);
  const JsonView view(body);
  check_schema(view.required("schema"), kind, version);
  const auto stated = view.optional("provenance");
  provenance = stated ? Provenance::parse(*stated) : Provenance{};
  for (const char* of_every_document : {"schema", "$schema", "provenance"}) body.erase(of_every_document);
  read_body(view);
}

std::string close_document(const Json& body, std::string_view kind, SchemaVersion version,
                           const Provenance& provenance) {
  Json document = Json::object();
  document["schema"] = schema_name(kind, version);
  if (provenance != Provenance{}) document["provenance"] = provenance.to_json();
  document.update(body);
  return format_json(document);
}

}  // namespace sextant::detail
