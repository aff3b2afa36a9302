// The arrows of the folder tree: a room includes only rooms below it. See CONTRIBUTING.md, "Rooms".

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tests/support/testing.hpp>

namespace {

namespace fs = std::filesystem;

/// The folders of the rooms that have some, from the ground up: a folder includes only those before it. Files at the
/// top of such a room may include all of its folders.
const std::map<std::string, std::vector<std::string>>& folders() {
  static const std::map<std::string, std::vector<std::string>> table{
      {"cache", {"records", "file", "query", "exchange", "tools"}},
      {"tuner/core", {"values", "expression", "device", "cpp", "space", "kernel", "kernel_file", "result"}},
      {"tuner/backend/cuda", {"driver", "compile", "run", "observe"}},
      {"tuner/backend/host", {"compile", "run"}},
      {"tuner/measure", {"numbers"}},
      {"tuner/session", {"wisdom", "tuning", "batch"}},
      {"tuner/runtime", {"background", "call", "decide", "interfaces"}},
      {"tuner/cli", {"input", "print", "commands", "commands/db"}}};
  return table;
}

/// What each room may include besides itself. `api` is the headers in include/tuner, which the runtime implements.
const std::map<std::string, std::set<std::string>>& allowed() {
  static const std::map<std::string, std::set<std::string>> table = [] {
    std::map<std::string, std::set<std::string>> rooms;
    rooms["errors"] = {};
    rooms["cache"] = {};
    rooms["tuner/core"] = {};
    rooms["tuner/search"] = {"tuner/core"};
    rooms["tuner/backend"] = {"tuner/core"};
    rooms["tuner/backend/host"] = {"tuner/core", "tuner/backend", "cache"};
    rooms["tuner/backend/cuda"] = {"tuner/core", "tuner/backend", "cache"};
    rooms["tuner/backend/all"] = {"tuner/core", "tuner/backend", "tuner/backend/host", "tuner/backend/cuda"};
    rooms["tuner/replay"] = {"tuner/core", "tuner/search", "cache"};
    rooms["tuner/measure"] = {"tuner/core", "tuner/backend"};
    rooms["tuner/explain"] = {"tuner/core", "tuner/measure", "tuner/backend"};
    rooms["tuner/worker"] = {"tuner/core", "cache", "tuner/measure", "tuner/backend", "tuner/backend/all"};
    rooms["tuner/session"] = rooms["tuner/worker"];
    rooms["tuner/session"].insert({"tuner/worker", "tuner/search", "tuner/replay"});
    rooms["tuner/recording"] = {"tuner/core", "tuner/measure", "tuner/session", "cache"};
    rooms["tuner/runtime"] = rooms["tuner/session"];
    rooms["tuner/runtime"].insert(
        {"tuner/session", "tuner/recording", "tuner/explain", "api", "tuner/backend/host", "tuner/backend/cuda"});
    rooms["api"] = {};
    rooms["tuner/mpi"] = {"tuner/core", "tuner/worker"};
    rooms["tuner/cli"] = rooms["tuner/runtime"];
    rooms["tuner/convert"] = {"tuner/core", "cache"};
    rooms["tuner/report"] = {"tuner/core", "cache", "tuner/explain", "tuner/measure"};
    rooms["tuner/cli"].insert({"tuner/runtime", "tuner/report", "tuner/convert", "tuner/mpi"});
    // Helpers that tests share, and fakes, which know what they stand for.
    rooms["tests/support"] = rooms["tuner/session"];
    rooms["tests/support"].insert({"tuner/session", "tuner/backend/cuda"});
    rooms["tests/bench"] = {"tests/support"};
    // The tests of a room know the room and what is below it, and tests/support.
    for (const std::string name : {"tuner/core", "tuner/search", "tuner/replay", "tuner/measure", "tuner/explain",
                                   "tuner/worker", "tuner/session", "tuner/recording", "tuner/runtime", "tuner/report",
                                   "tuner/convert", "tuner/cli", "tuner/backend/host", "tuner/backend/cuda", "cache"}) {
      std::set<std::string>& tests = rooms["tests/" + name.substr(name.find('/') + 1)];
      tests = rooms[name];
      tests.insert({name, "tests/support"});
    }
    rooms["tests/cache"].insert("tuner/core");                        // that both read configurations the same way
    rooms["tests/convert"].insert({"tuner/replay", "tuner/search"});  // which read what it writes
    rooms["tests/templates"] = rooms["tests/worker"];
    rooms["tests/templates"].insert(
        {"tuner/backend/host", "tuner/backend/cuda", "tuner/explain"});  // which it tests with kernels
    rooms["tests/project"] = rooms["tests/cli"];
    rooms["tests/fuzz"] = rooms["tests/cli"];
    for (auto& [name, may_include] : rooms) may_include.insert("errors");
    return rooms;
  }();
  return table;
}

/// The name by which sources include \p path.
std::string_view include_name(std::string_view path) {
  constexpr std::string_view top = "include/";
  return path.substr(0, top.size()) == top ? path.substr(top.size()) : path;
}

/// The room of a path relative to the root: `tuner/core/values/value.hpp` -> `tuner/core`; empty for what is in none.
std::string room_of(std::string_view path) {
  path = include_name(path);
  const std::string folder = fs::path(path).parent_path().string();
  if (path == "tuner/effort.hpp" || path == "tuner/error.hpp" || path == "tuner/use.hpp" || path == "tuner/version.hpp")
    return "errors";  // for everybody
  if (folder == "tuner") return "api";
  for (std::string at = folder; !at.empty(); at = fs::path(at).parent_path().string())
    if (allowed().count(at)) return at;
  return {};
}

/// `tuner/core/values/value.hpp` of `#include <tuner/core/values/value.hpp>`, `<` or `"` kept in front; empty for other
/// lines.
std::string include_of(std::string_view line) {
  const auto start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos || line.substr(start, 8) != "#include") return {};
  const auto open = line.find_first_of("<\"", start);
  if (open == std::string_view::npos) return {};
  const auto close = line.find_first_of(">\"", open + 1);
  return std::string(line.substr(open, close == std::string_view::npos ? close : close - open));
}

/// The level of the folder of \p path in its room: 0 for the ground floor and in rooms without folders, the most at the
/// top of a room; nothing for a folder that folders() does not know.
std::optional<std::size_t> level_of(std::string_view path) {
  const std::string room = room_of(path);
  const auto known = folders().find(room);
  if (known == folders().end()) return 0;
  const std::string folder = fs::path(path).parent_path().string();
  if (folder == room) return known->second.size();
  const auto at = std::find(known->second.begin(), known->second.end(), folder.substr(room.size() + 1));
  if (at == known->second.end()) return std::nullopt;
  return static_cast<std::size_t>(at - known->second.begin());
}

/// What is wrong with \p path including \p target (as include_of gives it); empty when nothing is.
std::string complaint(const std::string& path, const std::string& target) {
  const std::string name = target.substr(1);
  const std::string from = room_of(path);
  const bool beside = from.rfind("tests/", 0) == 0 && name.find('/') == std::string::npos;
  if (target[0] == '"' && !beside)
    return path + " includes \"" + name + "\": write the path from the root in angle brackets";
  const std::string to = room_of(name);
  if (!to.empty() && to != from && !allowed().at(from).count(to))
    return path + " includes <" + name + ">: " + from + " must not know " + to;
  if (!to.empty() && to == from && level_of(name).value_or(0) > level_of(path).value_or(0))
    return path + " includes <" + name + ">: that folder is above its own";
  for (const std::string_view third_party : {"boost/", "fmt/", "SQLiteCpp/", "nlohmann/", "cuda", "nvrtc", "sqlite3"})
    if (from == "tuner/core" && name.rfind(third_party, 0) == 0)
      return path + " includes <" + name + ">: tuner/core uses the standard library only";
  return {};
}

std::vector<std::string> files(const std::set<std::string>& extensions) {
  std::vector<std::string> paths;
  const fs::path root = TUNER_SOURCE_DIR;
  for (const char* top : {"include", "tuner", "cache", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top))
      if (extensions.contains(entry.path().extension().string()))
        paths.push_back(entry.path().lexically_relative(root).string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> sources() { return files({".hpp", ".cpp"}); }

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(fs::path(TUNER_SOURCE_DIR) / path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Layering, IncludesPointOnlyDown) {
  std::size_t includes = 0;
  for (const std::string& path : sources())
    for (const std::string& line : lines_of(path))
      if (const std::string target = include_of(line); !target.empty()) {
        ++includes;
        const std::string wrong = complaint(path, target);
        EXPECT_TRUE(wrong.empty()) << wrong;
      }
  EXPECT_GT(includes, 100u) << "the walk over the sources found next to nothing: is TUNER_SOURCE_DIR right?";
}

TEST(Layering, EveryFileLivesInARoom) {
  for (const std::string& path : sources()) {
    EXPECT_FALSE(room_of(path).empty()) << path;
    if (path.find("/shim/") == std::string::npos && path.find("/headers/") == std::string::npos) {
      EXPECT_TRUE(level_of(path)) << path << ": folders() does not know its folder";
    }
  }
}

TEST(Layering, NoFolderHasMoreThanThirtySources) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& path : files({".hpp", ".cpp", ".h", ".cu", ".cuh"}))
    ++counts[fs::path(path).parent_path().string()];
  for (const auto& [folder, count] : counts) EXPECT_LE(count, 30u) << folder;
}

TEST(Layering, EveryHeaderIsGuarded) {
  for (const std::string& path : sources()) {
    if (fs::path(path).extension() != ".hpp") continue;
    const auto lines = lines_of(path);
    EXPECT_NE(std::find(lines.begin(), lines.end(), "#pragma once"), lines.end()) << path;
  }
}

TEST(LayeringRule, ComplainsAboutArrowsThatPointUp) {
  EXPECT_NE(complaint("tuner/core/values/value.cpp", "<tuner/search/strategy.hpp").find("must not know tuner/search"),
            std::string::npos);
  const struct {
    const char *path, *include;
    bool is_allowed;
  } table[] = {{"tuner/search/random.cpp", "<tuner/session/wisdom/wisdom.hpp", false},
               {"tuner/search/random.cpp", "<tuner/core/values/value.hpp", true},
               {"tuner/backend/host/run/fibers.cpp", "<tuner/backend/cuda/driver/driver.hpp", false},
               {"cache/query/database.cpp", "<tuner/core/values/value.hpp", false},
               {"tuner/session/tuning/tune_session.cpp", "<tuner/tuner.hpp", false},
               {"include/tuner/kernel.hpp", "<tuner/core/values/value.hpp", false},
               {"tuner/cli/commands/main.cpp", "<tuner/session/wisdom/wisdom.hpp", true},
               // Within a room.
               {"tuner/core/values/value.cpp", "<tuner/core/kernel/kernel_spec.hpp", false},
               {"tuner/core/kernel/kernel_spec.cpp", "<tuner/core/values/value.hpp", true},
               {"tuner/backend/cuda/run/stream_timer.cpp", "<tuner/backend/cuda/cuda_backend.hpp", false},
               {"tuner/backend/cuda/cuda_backend.cpp", "<tuner/backend/cuda/run/stream_timer.hpp", true},
               // Of tests.
               {"tests/core/values/value_test.cpp", "<tuner/search/strategy.hpp", false},
               {"tests/replay/readers_test.cpp", "<tests/cache/fixture.hpp", false},
               {"tests/cache/query/session_test.cpp", "\"../../core/kernel_texts.hpp", false},
               {"tests/cache/query/session_test.cpp", "\"fixture.hpp", true},
               {"tests/search/strategy_test.cpp", "<tuner/core/values/value.hpp", true},
               {"tests/search/strategy_test.cpp", "<tests/support/temporary_folder.hpp", true},
               // Paths start at the root, and core is plain.
               {"tuner/core/values/value.cpp", "\"value.hpp", false},
               {"tuner/core/values/value.cpp", "<fmt/format.h", false},
               {"tuner/core/values/value.cpp", "<vector", true}};
  for (const auto& [path, include, is_allowed] : table)
    EXPECT_EQ(complaint(path, include) == "", is_allowed) << path << ' ' << include;
  EXPECT_FALSE(level_of("tuner/core/misc/value.hpp"));
}

TEST(LayeringRule, ReadsIncludesInBothForms) {
  EXPECT_EQ(include_of("#include <tuner/core/values/value.hpp>  // why"), "<tuner/core/values/value.hpp");
  EXPECT_EQ(include_of("  #include \"value.hpp\""), "\"value.hpp");
  EXPECT_EQ(include_of("// #include <vector>"), "");
  EXPECT_EQ(include_of("include"), "");
}

}  // namespace
