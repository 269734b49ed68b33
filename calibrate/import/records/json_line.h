// The numbers of an object of JSON on one line, without the objects of a whole document: logs have gigabytes of such lines.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::inline calibrate {

struct JsonLineMember {
  std::string_view name;
  double number = 0;
  bool is_number = false;  // a finite one
  bool is_integer = false;
  bool is_object = false;
};

class JsonLine {
 public:
  // `nested`: the member whose own members are read too, if it is an object.
  explicit JsonLine(std::string nested) : nested_name_(std::move(nested)) {}

  // False if the line is no object, or was cut off. NaN and Infinity, which Python writes, are no numbers. The names are
  // part of the line, which has to outlive them; names with escapes are left out.
  [[nodiscard]] bool read(std::string_view line);

  [[nodiscard]] const std::vector<JsonLineMember>& members() const { return members_; }
  [[nodiscard]] const std::vector<JsonLineMember>& nested() const { return nested_; }
  // The member with this name, null if there is none.
  [[nodiscard]] const JsonLineMember* find(std::string_view name) const;

 private:
  bool take_members(std::vector<JsonLineMember>& out, bool is_outer);
  bool take_value(JsonLineMember& member, bool is_outer);
  bool take_number(JsonLineMember& member);
  bool take_text(std::string_view& text, bool& has_escapes);
  bool skip_nested();
  bool take(char wanted);
  void skip_spaces();

  std::string nested_name_;
  std::string_view rest_;
  std::vector<JsonLineMember> members_, nested_;
};

}  // namespace sextant::inline calibrate
