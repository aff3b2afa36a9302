#pragma once
/// Records to test with.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cache/database.hpp>
#include <cache/lookup.hpp>
#include <cache/session.hpp>

#include <tests/temporary_folder.hpp>
#include <tests/wait_until.hpp>

namespace tuner::cache::test {

using tuner::testing::TemporaryFolder;
using tuner::testing::wait_until;

/// Sets an environment variable for the length of a test; nullptr takes it away.
class Variable {
 public:
  Variable(const char* name, const char* value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// A folder that is the user's cache folder for the length of a test: its `wisdom.db` is tuner's own, come what may.
class CacheFolder : public TemporaryFolder {
  const Variable variable_{"TUNER_CACHE_DIR", path().c_str()};
};

/// Keeps what a database says.
struct Warnings {
  std::vector<std::string> texts;
  OpenOptions options() {
    OpenOptions result;
    result.warn = [this](const std::string& text) { texts.push_back(text); };
    return result;
  }
};

DeviceRecord h200();
/// Same compute capability, fewer multiprocessors.
DeviceRecord h100();
/// Another compute capability.
DeviceRecord a100();
EnvironmentRecord environment();
KernelRecord reduce_kernel();
ProblemRecord problem(std::int64_t n = 1 << 20);
SessionKey session_key(std::int64_t n = 1 << 20);
TrialRecord trial(const std::string& configuration, double median_ns);
TrialRecord failed_trial(const std::string& configuration, const std::string& kind, const std::string& message);
Context query(std::int64_t n = 1 << 20);

/// Stores one verified trial and makes it the best.
void store_best(Database& database, const SessionKey& key, const std::string& configuration, double median_ns);
WisdomMatch find(Database& database, const Context& query, const Accept& accept = {});

void write_file(const std::filesystem::path& file, const std::string& bytes);
std::string read_file(const std::filesystem::path& file);
/// Names in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);
/// What doctor() says of a file; of one that cannot be opened, why.
std::vector<std::string> findings(const std::filesystem::path& file);
/// Makes \p file what version \p version (4, 5) of the schema would have made of what it holds.
void rewrite_as_version(const std::filesystem::path& file, int version);
/// The first line that `PRAGMA integrity_check` gives.
std::string integrity(const std::filesystem::path& file);

}  // namespace tuner::cache::test
