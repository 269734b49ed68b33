#include "tests/architecture/listed_tests.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace sextant::architecture {
namespace {

namespace fs = std::filesystem;

// The words of a file, which CMake separates by white space and parentheses.
std::vector<std::string> words_of(const fs::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  std::string content = text.str();
  std::replace_if(
      content.begin(), content.end(), [](char c) { return c == '(' || c == ')'; }, ' ');
  std::istringstream all(content);
  std::vector<std::string> words;
  for (std::string word; all >> word;) words.push_back(word);
  return words;
}

// True if a word of a list names the file. A variable in it stands for anything.
bool names(const std::string& word, const std::string& file) {
  const std::size_t variable = word.find("${"), end = word.find('}');
  if (variable == std::string::npos || end == std::string::npos) return word == file;
  return file.starts_with(word.substr(0, variable)) && file.ends_with(word.substr(end + 1));
}

bool is_listed(const fs::path& file, const fs::path& tests) {
  for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
    const std::vector<std::string> words = words_of(folder / "CMakeLists.txt");
    const std::string name = fs::relative(file, folder).generic_string();
    if (std::any_of(words.begin(), words.end(), [&](const std::string& word) { return names(word, name); }))
      return true;
    if (folder == tests) return false;
  }
}

}  // namespace

std::vector<std::string> find_unlisted_tests(const fs::path& root) {
  const fs::path tests = root / "tests";
  std::vector<std::string> unlisted;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tests)) {
    const bool is_test = entry.path().filename().string().ends_with("_test.cpp");
    if (is_test && !is_listed(entry.path(), tests))
      unlisted.push_back(fs::relative(entry.path(), root).generic_string());
  }
  std::sort(unlisted.begin(), unlisted.end());
  return unlisted;
}

}  // namespace sextant::architecture
