// Rules for every test, so that tests of two build trees run side by side and a skipped one gives its reason. Examples
// in the documentation are run, or a comment says why not; the files that pages for contributors name are there.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <tests/support/testing.hpp>

namespace {

namespace fs = std::filesystem;

struct Habit {
  std::string_view word;
  std::string_view instead;
};

constexpr std::string_view kFolder = "a test's files live in a TemporaryFolder (tests/support/temporary_folder.hpp)";
constexpr std::string_view kWaiting = "a test waits for what happens, never for time (tests/support/wait_until.hpp)";
constexpr std::string_view kTiming = "the clock also counts what other processes do (tests/support/processor_time.hpp)";
constexpr Habit kHabits[] = {{"temp_directory_path", kFolder},
                             {"TempDir()", kFolder},
                             {"mkdtemp(", kFolder},
                             {"mkstemp(", kFolder},
                             {"tmpnam", kFolder},
                             {"tmpfile", kFolder},
                             {"\"/tmp", kFolder},
                             {"/var/tmp", kFolder},
                             {"sleep_for", kWaiting},
                             {"sleep_until", kWaiting},
                             {"usleep(", kWaiting},
                             {" nanosleep(", kWaiting},
                             {"::sleep(", kWaiting},
                             {"seconds_since(", kTiming},
                             {"GTEST_SKIP();", "a skipped test says why: GTEST_SKIP() << reason"}};

/// What is wrong with a line of a test; empty when nothing is.
std::string complaint(std::string_view line) {
  for (const Habit& habit : kHabits)
    if (line.find(habit.word) != std::string_view::npos)
      return std::string(habit.word) + ": " + std::string(habit.instead);
  return {};
}

/// The helpers that do what tests must not do, and this file.
bool is_exempt(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "temporary_folder.hpp" || name == "wait_until.hpp" || name == "habits_test.cpp";
}

TEST(TestHabits, AreKeptByEveryTest) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TUNER_SOURCE_DIR) / "tests")) {
    const fs::path& path = entry.path();
    if ((path.extension() != ".cpp" && path.extension() != ".hpp") || is_exempt(path)) continue;
    ++files;
    std::ifstream file(path);
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      const std::string wrong = complaint(line);
      EXPECT_TRUE(wrong.empty()) << path.lexically_relative(TUNER_SOURCE_DIR).string() << ':' << number << ": "
                                 << wrong;
    }
  }
  EXPECT_GT(files, 50u) << "the walk over the tests found next to nothing: is TUNER_SOURCE_DIR right?";
}

TEST(TestHabits, FindAFixedPathASleepAndASilentSkip) {
  EXPECT_NE(complaint("  path = fs::temp_directory_path() / \"tuner-readers\";"), "");
  EXPECT_NE(complaint("  std::ofstream(\"/tmp/x\") << text;"), "");
  EXPECT_NE(complaint("    std::this_thread::sleep_for(50ms);"), "");
  EXPECT_NE(complaint("  EXPECT_LT(seconds_since(start), 5);"), "");
  EXPECT_NE(complaint("  if (!gpu) GTEST_SKIP();"), "");
  EXPECT_EQ(complaint("  if (!gpu) GTEST_SKIP() << \"no GPU\";"), "");
  EXPECT_EQ(complaint("  const TemporaryFolder folder;"), "");
}

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
  std::vector<fs::path> files{fs::path(TUNER_SOURCE_DIR) / "README.md", fs::path(TUNER_SOURCE_DIR) / "CONTRIBUTING.md"};
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

/// The files and folders of this project that \p text names between backticks: `tuner/core/`, `.ci/run`. A name in
/// capitals stands for many: `tests/ROOM/CMakeLists.txt`.
std::set<std::string> files_named_in(const std::string& text) {
  static const std::regex name(
      "`((?:\\.ci|bench|bindings|cache|cmake|docs|examples|include|packaging|scripts|templates|"
      "tests|tuner)/[a-z0-9_./]*)(?: [^`\n]*)?`");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

/// The folders in the boxes of the pictures in \p text, and the files that a box names after its folder:
/// `box["tuner/search: strategy.hpp<br>proposes"]`.
std::set<std::string> files_drawn_in(const std::string& text) {
  static const std::regex box("\\[\"([^\"]*)\"\\]"),
      part("((?:cache|include|tuner)(?:/[a-z_]+)+)|([a-z_0-9]+\\.[hc]pp)");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), box), end; at != end; ++at) {
    const std::string label = (*at)[1];
    std::string folder;
    for (std::sregex_iterator one(label.begin(), label.end(), part); one != end; ++one) {
      if ((*one)[1].matched) folder = (*one)[1];
      names.insert((*one)[1].matched ? folder : folder + '/' + (*one)[2].str());
    }
  }
  return names;
}

TEST(Documentation, ForContributorsNamesFilesThatAreThere) {
  const fs::path root(TUNER_SOURCE_DIR);
  for (const char* const page : {"CONTRIBUTING.md", "docs/architecture.md"}) {
    std::ifstream file(root / page);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    std::set<std::string> names = files_named_in(text);
    names.merge(files_drawn_in(text));
    EXPECT_GT(names.size(), 20u) << page;
    for (const std::string& name : names) EXPECT_TRUE(fs::exists(root / name)) << page << " names " << name;
  }
}

TEST(Documentation, FindsTheFilesThatAPageNames) {
  EXPECT_THAT(files_named_in("`tuner/core/` `tests/ROOM/x.cpp` `.ci/fuzz 300 csv` `include/tuner/reduce.hpp`: `n / 2`"),
              ::testing::ElementsAre(".ci/fuzz", "include/tuner/reduce.hpp", "tuner/core/"));
  EXPECT_THAT(files_drawn_in("a[\"tuner/search: strategy.hpp, then b.cpp<br>or tuner/core/space: c.hpp\"] --> b"),
              ::testing::ElementsAre("tuner/core/space", "tuner/core/space/c.hpp", "tuner/search", "tuner/search/b.cpp",
                                     "tuner/search/strategy.hpp"));
}

}  // namespace
