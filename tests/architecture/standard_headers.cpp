#include "tests/architecture/standard_headers.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include "tests/architecture/source_tree.h"

namespace sextant::architecture {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// The headers that declare each name, as in the standard.
const std::map<std::string, Names>& headers_of_names() {
  static const std::map<std::string, Names> table = [] {
    const std::vector<std::pair<Names, std::vector<std::string>>> groups = {
        {{"algorithm"},
         {"all_of", "any_of", "clamp", "fill", "find", "find_if", "includes", "max", "max_element", "min",
          "next_permutation", "none_of", "set_difference", "sort", "stable_sort"}},
        {{"numeric"}, {"accumulate"}},
        {{"array"}, {"array"}},
        {{"bit"}, {"countr_zero", "popcount"}},
        {{"atomic"}, {"atomic", "memory_order_relaxed"}},
        {{"chrono"}, {"chrono"}},
        {{"cmath"},
         {"abs", "ceil", "cos", "exp", "floor", "isfinite", "isinf", "log", "log1p", "log2", "pow", "sqrt"}},
        {{"condition_variable"}, {"condition_variable"}},
        {{"cstddef"}, {"byte", "ptrdiff_t", "size_t", "to_integer"}},
        {{"cstdint"},
         {"int16_t", "int32_t", "int64_t", "int8_t", "uint16_t", "uint32_t", "uint64_t", "uint8_t",
          "uintptr_t"}},
        {{"deque"}, {"deque"}},
        {{"exception"}, {"exception", "exception_ptr"}},
        {{"filesystem"}, {"filesystem"}},
        {{"iterator"}, {"back_inserter"}},
        {{"functional"}, {"equal_to", "function", "greater", "less", "reference_wrapper"}},
        {{"functional", "optional", "string", "string_view"}, {"hash"}},
        {{"initializer_list"}, {"initializer_list"}},
        {{"limits"}, {"numeric_limits"}},
        {{"list"}, {"list"}},
        {{"deque", "map", "set", "string", "unordered_map", "vector"}, {"erase_if"}},
        {{"map"}, {"map"}},
        {{"memory"}, {"make_shared", "make_unique", "shared_ptr", "unique_ptr"}},
        {{"mutex"}, {"lock_guard", "mutex", "unique_lock"}},
        {{"new"}, {"align_val_t"}},
        {{"optional"}, {"nullopt", "optional"}},
        {{"random"}, {"mt19937", "mt19937_64", "seed_seq"}},
        {{"set"}, {"set"}},
        {{"span"}, {"as_bytes", "span"}},
        {{"stdexcept"}, {"logic_error", "runtime_error"}},
        {{"stop_token"}, {"stop_token"}},
        {{"string"}, {"string", "to_string"}},
        {{"string_view"}, {"string_view"}},
        {{"future"}, {"async", "future", "future_status", "launch"}},
        {{"thread"}, {"jthread", "thread"}},
        {{"tuple"}, {"tie", "tuple"}},
        {{"type_traits"}, {"type_identity_t"}},
        {{"unordered_map"}, {"unordered_map"}},
        {{"utility"}, {"exchange", "forward", "move", "pair", "swap"}},
        {{"variant"}, {"get_if", "monostate", "variant"}},
        {{"vector"}, {"vector"}},
    };
    std::map<std::string, Names> headers;
    for (const auto& [from, names] : groups) {
      for (const std::string& name : names) headers[name] = from;
    }
    return headers;
  }();
  return table;
}

struct Header {
  std::vector<std::string> includes;
  Names names;  // behind "std::"
};

// The header in `#include <name>` or `#include "name"`; empty for every other line.
std::string included_name(const std::string& line) {
  constexpr std::string_view kInclude = "#include ";
  if (!line.starts_with(kInclude) || line.size() <= kInclude.size()) return "";
  const std::size_t begin = kInclude.size() + 1;
  const std::size_t end = line.find_first_of(">\"", begin);
  return end == std::string::npos ? "" : line.substr(begin, end - begin);
}

// Without comments, and without what stands in double quotes.
std::string code_of(const std::string& line) {
  std::string code;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!in_text && line.compare(i, 2, "//") == 0) break;
    if (line[i] == '"') in_text = !in_text;
    if (in_text && line[i] == '\\') ++i;  // what is escaped ends no text
    if (!in_text) code += line[i];
  }
  return code;
}

void collect_names(const std::string& code, Names& names) {
  constexpr std::string_view kStd = "std::";
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = code.find(kStd); at != std::string::npos; at = code.find(kStd, at + 1)) {
    if (at > 0 && is_word(code[at - 1])) continue;
    const auto begin = code.begin() + static_cast<std::ptrdiff_t>(at + kStd.size());
    names.emplace(begin, std::find_if_not(begin, code.end(), is_word));
  }
}

Header read_header(const fs::path& file) {
  Header header;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::string include = included_name(line);
    if (!include.empty()) {
      header.includes.push_back(include);
    } else {
      collect_names(code_of(line), header.names);
    }
  }
  return header;
}

std::map<std::string, Header> read_headers(const fs::path& root) {
  std::map<std::string, Header> headers;
  for (const std::string& path : sources_below(root)) {
    // The name that includes use.
    const std::string prefix = "include/";
    const std::string name = path.starts_with(prefix) ? path.substr(prefix.size()) : path;
    if (path.ends_with(".h")) headers[name] = read_header(root / path);
  }
  return headers;
}

// Standard headers that a header includes, itself or through the project's own.
void collect_standard(const std::map<std::string, Header>& headers, const std::string& path, Names& seen,
                      Names& standard) {
  for (const std::string& include : headers.at(path).includes) {
    if (!headers.contains(include)) {
      standard.insert(include);
    } else if (seen.insert(include).second) {
      collect_standard(headers, include, seen, standard);
    }
  }
}

}  // namespace

std::vector<std::string> find_missing_standard_headers(const fs::path& root) {
  const std::map<std::string, Header> headers = read_headers(root);
  if (headers.empty()) throw std::runtime_error("no headers below " + root.string());
  std::vector<std::string> missing;
  for (const auto& [path, header] : headers) {
    Names seen, standard;
    collect_standard(headers, path, seen, standard);
    for (const std::string& name : header.names) {
      const auto known = headers_of_names().find(name);
      if (known == headers_of_names().end()) {
        missing.push_back(path + " names std::" + name + ", which is not in the table of standard_headers.cpp");
      } else if (std::none_of(known->second.begin(), known->second.end(),
                              [&](const std::string& from) { return standard.contains(from); })) {
        missing.push_back(path + " names std::" + name + " without <" + *known->second.begin() + ">");
      }
    }
  }
  return missing;
}

}  // namespace sextant::architecture
