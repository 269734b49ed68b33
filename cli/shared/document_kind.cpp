#include "cli/shared/document_kind.h"

#include "core/in_file.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/json.h"

namespace sextant::cli {

std::string kind_of_document(const std::string& file) {
  const std::string text = read_text_file(file);
  return in_file(file, [&] {
    const Json document = parse_json(text);
    const std::string schema = JsonView(document).required("schema").text();
    const std::string prefix = "sextant.";
    return schema.starts_with(prefix) ? schema.substr(prefix.size(), schema.find('/') - prefix.size()) : schema;
  });
}

}  // namespace sextant::cli
