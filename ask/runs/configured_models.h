// The models that a framework's configuration names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/model.h"

namespace sextant::inline ask {

// A model whose path is not on this machine is known by its last part.
class ConfiguredModels {
 public:
  // `file`: of the configuration, for messages. `in_script`: by variable, the names in the comments of an exported
  // script.
  ConfiguredModels(std::string file, std::map<std::string, std::string> in_script);

  // `given`: in place of the configured one, if it is not empty; `option`: the one that names it. Throws
  // Error(bad_input) if the shape of the model is not known.
  [[nodiscard]] Model find(const std::string& configured, const std::string& given, const char* option);

  // False for "" and for a variable that nothing sets, unless the comments name a known model for it.
  [[nodiscard]] bool is_named(const std::string& configured, const std::string& given) const;

  std::vector<std::string> notes;    // where a shape is that of another model
  std::vector<std::string> assumed;  // models that only the comments of the script name

 private:
  [[nodiscard]] std::string known_name(const std::string& configured, const std::string& last);
  [[nodiscard]] Model found(const std::string& name);
  // The name that the comments have for "${MODEL_PATH}"; otherwise the text itself.
  [[nodiscard]] std::string from_comments(const std::string& configured) const;

  Facts facts_;
  std::string file_;
  std::map<std::string, std::string> in_script_;
};

}  // namespace sextant::inline ask
