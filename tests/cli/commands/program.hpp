#pragma once
/// Runs the real `tune` program in its own folder, on the host backend, with a private cache.

#include <sys/types.h>

#include <chrono>
#include <filesystem>

#include <nlohmann/json.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner::cli {

using nlohmann::json;

/// All bytes of a file; nothing when it cannot be read.
inline std::string contents(const std::filesystem::path& path) { return testing::read_file(path); }

struct Finished {
  int code = -1;  ///< exit code; 128 + signal when it was killed
  std::string out, err;
};

/// A program that was started. Its process group is its own, so that signals reach its children too.
class Started {
 public:
  Started(pid_t pid, std::filesystem::path out, std::filesystem::path err);
  ~Started();  ///< kills what still runs
  Started(Started&& other) noexcept;
  Started& operator=(Started&&) = delete;

  bool running();
  void signal_group(int signal);
  /// Waits; kills it and fails the test after \p limit.
  Finished finish();
  /// What it has written to stderr so far.
  std::string err() const;

 private:
  pid_t pid_;
  int status_ = -1;
  std::filesystem::path out_, err_;
};

/// A scratch folder with small_kernel() and a cache in it, and the means to run `tune` there.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;
  /// Without what earlier tests have compiled: for tests that need the time that compiling takes, or its failures.
  void compile_anew() { shares_compiled_ = false; }
  /// Tunings measure how fast the host streams, which takes a third of a second.
  void measure_ceilings() { measures_ceilings_ = true; }

  /// `tune` with \p arguments; stderr and stdout are files. Where it tunes, each configuration is measured for a
  /// twentieth of a second.
  Finished tune(const std::vector<std::string>& arguments);
  /// The same of a line of words; quotes keep blanks: "scale.cu --trials 2".
  Finished call(const std::string& line);
  /// What such a line prints to stdout, or to stderr. It must end with \p code.
  std::string out_of(const std::string& line, int code = 0);
  std::string err_of(const std::string& line, int code = 0);
  /// The document that such a line prints.
  nlohmann::json document(const std::string& line);
  /// Each of \p lines ends with \p code, and with a message that holds \p text.
  void expect_failures(int code, const std::string& text, const std::vector<std::string>& lines);
  Started start(const std::vector<std::string>& arguments);
  /// A shell command with `$TUNE` set, for redirections and limits.
  Finished shell(const std::string& command);
  Started start_shell(const std::string& command);

  /// Writes \p text into the scratch folder and returns its path.
  std::string file(const std::string& name, const std::string& text);
  std::filesystem::path folder() const { return folder_.path(); }
  std::filesystem::path cache() const { return folder_ / "cache"; }
  void set(const std::string& variable, const std::string& value) { environment_[variable] = value; }

  static bool has_nvrtc();

  /// A small kernel that compiles in a moment: 8 valid configurations of 9.
  std::string small_kernel();

 private:
  Started launch(const std::string& program, const std::vector<std::string>& arguments);

  const testing::TemporaryFolder folder_;
  bool shares_compiled_ = true, measures_ceilings_ = false;
  std::map<std::string, std::string> environment_;
  int runs_ = 0;
};

}  // namespace tuner::cli
