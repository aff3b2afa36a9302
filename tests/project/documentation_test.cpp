// Examples in the documentation are run, or a comment says why not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Lines that begin an example in a language (```sh, ```cpp) without a comment in front that says what becomes of it:
/// `<!-- test -->`, `<!-- file NAME -->` (readme_test.cmake) or `<!-- not run: why -->`.
std::vector<std::string> unmarked_examples(std::istream& text) {
  std::vector<std::string> found;
  std::string before;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("```", 0) == 0) {
      const bool marked = before == "<!-- test -->" || before.rfind("<!-- file ", 0) == 0 ||
                          (before.rfind("<!-- not run: ", 0) == 0 && before.size() > 20);
      if (!inside && line.size() > 3 && !marked) found.push_back(line);
      inside = !inside;
    }
    if (!line.empty()) before = line;
  }
  return found;
}

TEST(Documentation, RunsItsExamplesOrSaysWhyNot) {
  std::vector<fs::path> files{fs::path(TUNER_SOURCE_DIR) / "README.md"};
  for (const auto& entry : fs::directory_iterator(fs::path(TUNER_SOURCE_DIR) / "docs"))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  EXPECT_GT(files.size(), 3u);
  for (const fs::path& file : files) {
    std::ifstream text(file);
    for (const std::string& example : unmarked_examples(text)) ADD_FAILURE() << file.filename() << ": " << example;
  }
}

TEST(Documentation, FindsAnExampleThatNothingRuns) {
  std::istringstream text(
      "```sh\na\n```\n<!-- test -->\n```sh\nb\n```\n```\noutput\n```\n<!-- not run: a part -->\n```cpp\n```\n");
  EXPECT_EQ(unmarked_examples(text), std::vector<std::string>{"```sh"});
}

}  // namespace
