#pragma once
/// Records to test with.

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <cache/database.hpp>
#include <cache/lookup.hpp>
#include <cache/session.hpp>
#include <cache/store.hpp>

#include <tests/environment_variable.hpp>
#include <tests/error_of.hpp>
#include <tests/temporary_folder.hpp>
#include <tests/wait_until.hpp>

namespace tuner::cache::test {

using tuner::testing::EnvironmentVariable;
using tuner::testing::read_file;
using tuner::testing::TemporaryFolder;
using tuner::testing::wait_until;
using tuner::testing::write_file;

/// Collects the warnings of a database.
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
/// The same with another driver, device or source: the digit \p of, 64 times.
SessionKey key_with_driver(const std::string& driver, std::int64_t n = 1 << 20);
SessionKey key_on(const DeviceRecord& device, std::int64_t n = 1 << 20);
SessionKey key_of_source(char of, std::int64_t n = 1 << 20);
TrialRecord trial(const std::string& configuration, double median_ns);
TrialRecord failed_trial(const std::string& configuration, const std::string& kind, const std::string& message);
Context query(std::int64_t n = 1 << 20);

/// Stores one verified trial and makes it the best.
void store_best(Database& database, const SessionKey& key, const std::string& configuration, double median_ns);
WisdomMatch find(Database& database, const Context& query, const Accept& accept = {});

/// Names in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);
/// The findings of doctor() for a file, or why it cannot be opened.
std::vector<std::string> findings(const std::filesystem::path& file);
/// Runs \p sql on a database without the tested library. Creates the file if needed.
void execute(const std::filesystem::path& file, const std::string& sql);
/// The first line of `PRAGMA integrity_check`.
std::string integrity(const std::filesystem::path& file);
/// Permission bits.
unsigned mode_of(const std::filesystem::path& file);

/// Counts how often SQLite's virtual machine makes \p many steps while \p action runs. Reading a row takes about
/// twenty.
int steps_of(Database& database, const auto& action, int many = 1) {
  int steps = 0;
  auto* const connection = database.store().connection().getHandle();
  sqlite3_progress_handler(
      connection, many, [](void* count) { return ++*static_cast<int*>(count), 0; }, &steps);
  action();
  sqlite3_progress_handler(connection, 0, nullptr, nullptr);
  return steps;
}

/// A test of a database in a file, which open() creates.
class FileTest : public ::testing::Test {
 protected:
  Database open() { return Database::open_user(file, warnings.options()); }
  /// A file whose best configuration is block=1.
  void make() {
    auto database = Database::open_user(file);
    store_best(database, session_key(), "block=1", 1);
  }

  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "wisdom.db";
  Warnings warnings;
};

/// A test of a database in memory, or in a file once the test asks for one.
class DatabaseTest : public FileTest {
 protected:
  /// Closes the open database and opens the file.
  void use_file() {
    database = Database::in_memory();
    database = open();
  }
  /// Stores \p configuration as the best for \p n.
  void know(std::int64_t n, const std::string& configuration, double median_ns = 1000) {
    store_best(database, session_key(n), configuration, median_ns);
  }

  Database database = Database::in_memory();
};

}  // namespace tuner::cache::test
