#include <tuner/cli/print/terminal.hpp>

#include <fstream>
#include <thread>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner::cli {
namespace {

// ThreadSanitizer runs it too (.ci/run).
TEST(Console, KeepsLinesAndWarningsWholeWhateverThreadTheyComeFrom) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "said";
  constexpr int kThreads = 4, kEach = 200;
  std::FILE* const file = std::fopen(path.c_str(), "w");
  {
    Console console(file, false);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&console] {
        for (int i = 0; i < kEach; ++i) console.warning("the database is full");
      });
    for (int i = 0; i < kEach; ++i) {
      console.status([](std::size_t) { return std::string("status"); });
      console.line("line");
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::fclose(file);
  int warnings = 0, lines = 0;
  std::ifstream said(path);
  for (std::string line; std::getline(said, line);) {
    warnings += line == "warning: the database is full" ? 1 : 0;
    lines += line == "line" ? 1 : 0;
  }
  EXPECT_EQ(warnings, kThreads * kEach);
  EXPECT_EQ(lines, kEach);
}

}  // namespace
}  // namespace tuner::cli
