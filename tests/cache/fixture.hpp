#pragma once
/// Records to test with.

#include <filesystem>

#include <sys/stat.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>
#include <cache/query/lookup.hpp>
#include <cache/query/session.hpp>
#include <cache/query/store.hpp>

#include <tests/support/environment_variable.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tests/support/wait_until.hpp>

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

inline DeviceRecord h200() {
  return {"cuda cc=9.0 sm=132 l2=62914560 bus=6144 smem=232448 regs=65536",
          "NVIDIA H200",
          "cuda",
          90,
          132,
          62914560,
          6144,
          232448,
          65536,
          "{}"};
}

/// Same compute capability, fewer multiprocessors.
inline DeviceRecord h100() {
  auto device = h200();
  device.key = "cuda cc=9.0 sm=114 l2=52428800 bus=5120 smem=232448 regs=65536";
  device.name = "NVIDIA H100 PCIe";
  device.sm_count = 114;
  return device;
}

/// Another compute capability.
inline DeviceRecord a100() {
  auto device = h200();
  device.key = "cuda cc=8.0 sm=108 l2=41943040 bus=5120 smem=166912 regs=65536";
  device.name = "NVIDIA A100";
  device.compute_capability = 80;
  device.sm_count = 108;
  return device;
}

inline EnvironmentRecord environment() { return {"13.0", "nvrtc 13.0", "0.1.0", "Debian 12"}; }

inline KernelRecord reduce_kernel() { return {"reduce", std::string(64, 'a'), "time"}; }

inline ProblemRecord problem(std::int64_t n = 1 << 20) { return {"T=float operation=sum", {{"n", n}}}; }

inline SessionKey session_key(std::int64_t n = 1 << 20) {
  return {{reduce_kernel(), h200(), environment(), problem(n)}, R"({"cold":true})"};
}

/// session_key() with another driver.
inline SessionKey key_with_driver(const std::string& driver, std::int64_t n = 1 << 20) {
  auto key = session_key(n);
  key.environment.driver = driver;
  return key;
}

/// On another device.
inline SessionKey key_on(const DeviceRecord& device, std::int64_t n = 1 << 20) {
  auto key = session_key(n);
  key.device = device;
  return key;
}

/// Of another source: the digit \p of, 64 times.
inline SessionKey key_of_source(char of, std::int64_t n = 1 << 20) {
  auto key = session_key(n);
  key.kernel.source_hash = std::string(64, of);
  return key;
}

inline TrialRecord trial(const std::string& configuration, double median_ns) {
  TrialRecord t;
  t.configuration = configuration;
  t.samples_ns = {median_ns * 0.99, median_ns, median_ns * 1.01};
  t.median_ns = median_ns;
  t.low_ns = median_ns * 0.99;
  t.high_ns = median_ns * 1.01;
  t.relative_noise = 0.004;
  t.verified = true;
  t.converged = true;
  t.clock_mhz = 1980;
  t.metrics = {{"energy_j", 0.25}};
  t.times_s = {{"compile", 0.125}, {"measure", 0.5}};
  t.resources = ResourceRecord{32, 0, 16, 4096, 360, 8, 1.0};
  return t;
}

inline TrialRecord failed_trial(const std::string& configuration, const std::string& kind, const std::string& message) {
  TrialRecord t;
  t.configuration = configuration;
  t.kind = kind;
  t.message = message;
  return t;
}

inline Context query(std::int64_t n = 1 << 20) { return session_key(n); }

/// Stores one verified trial and makes it the best.
inline void store_best(Database& database, const SessionKey& key, const std::string& configuration, double median_ns) {
  SessionWriter writer(database, key);
  writer.add(trial(configuration, median_ns));
  writer.set_best(configuration);
  writer.finish();
}

/// A result that is the choice of a rule.
inline void store_choice(Database& database, const SessionKey& key, const std::string& configuration,
                         const std::string& rule) {
  SessionWriter writer(database, key);
  writer.add(trial(configuration, 1000));
  writer.set_best(configuration, {.effort = "quick", .rule = rule});
  writer.finish();
}

inline WisdomMatch find(Database& database, const Context& query, const Accept& accept = {}) {
  Database* databases[] = {&database};
  return lookup(query, databases, accept);
}

/// Names in a folder, sorted.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The findings of doctor() for a file, or why it cannot be opened.
inline std::vector<std::string> findings(const std::filesystem::path& file) {
  try {
    auto database = Database::open_read_only(file, {.check_bytes = -1});
    return doctor(database);
  } catch (const CacheError& error) {
    return {error.what()};
  }
}

/// Runs \p sql on a database without the tested library. Creates the file if needed.
inline void execute(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

/// The first line of `PRAGMA integrity_check`.
inline std::string integrity(const std::filesystem::path& file) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
  SQLite::Statement check(db, "PRAGMA integrity_check");
  check.executeStep();
  return check.getColumn(0).getString();
}

/// Permission bits.
inline unsigned mode_of(const std::filesystem::path& file) {
  struct stat info {};
  EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
  return info.st_mode & 0777;
}

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
