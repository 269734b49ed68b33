#include "sextant/document.h"

#include <algorithm>
#include <array>
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

// How people get a document of a kind.
struct Maker {
  std::string_view kind, command;
};
constexpr std::array<Maker, 13> kMakers{{
    {"accuracy", "sextant validate runs.json --coefficients coefficients.json --out accuracy.json"},
    {"cluster",
     "sextant probe --out cluster.json, or without measuring sextant plan --gpus ... --save-inputs FOLDER"},
    {"coefficients", "sextant calibrate runs.json --out coefficients.json"},
    {"experiments", "sextant calibrate runs.json --suggest 4 --suggested experiments.json"},
    {"explanation", "sextant plan --explain --explain-out explanation.json"},
    {"job", "sextant coschedule job --out job.json"},
    {"placement", "sextant coschedule create"},
    {"plan", "sextant plan --out plan.json"},
    {"prediction", "sextant predict --out prediction.json"},
    {"runs", "sextant proxy --cluster cluster.json, or sextant import verl train.log"},
    {"search", "sextant plan --search-out search.json"},
    {"coschedule_simulation", "sextant coschedule simulate --out simulation.json"},
    {"workflow", "sextant plan --gpus ... --model ... --save-inputs FOLDER"},
}};

// "; to make one: sextant plan --out plan.json"
std::string advice_for(std::string_view kind) {
  const auto* maker =
      std::find_if(kMakers.begin(), kMakers.end(), [&](const Maker& known) { return known.kind == kind; });
  return maker == kMakers.end() ? "" : "; to make one: " + std::string(maker->command);
}

// Refuses what is no document at all: an empty file, "{}", a list.
void require_document(const Json& body, std::string_view kind, SchemaVersion known) {
  if (body.is_object() && body.contains("schema")) return;
  const char* found = body.is_object()  ? "an object without \"schema\""
                      : body.is_array() ? "an array"
                                        : "one value";
  throw_bad_input("expected a document with \"schema\": \"" + schema_name(kind, known) + "\", got " + found +
                  advice_for(kind));
}

void check_schema(const JsonView& view, std::string_view kind, SchemaVersion known) {
  const std::string schema = view.text();
  const std::string shown = in_quotes(schema);
  const std::string prefix = "sextant." + std::string(kind) + "/";
  if (!schema.starts_with(prefix)) {
    view.fail("expected a sextant." + std::string(kind) + " document, got " + shown + advice_for(kind));
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
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw_bad_input("the file is empty; expected a sextant." + std::string(kind) + " document" +
                    advice_for(kind));
  Json body = parse_json(text);
  require_document(body, kind, version);
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
