#include "fixture.hpp"

#include <algorithm>

#include <sys/stat.h>

#include <cache/browse.hpp>

namespace tuner::cache::test {
namespace fs = std::filesystem;

DeviceRecord h200() {
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

DeviceRecord h100() {
  auto device = h200();
  device.key = "cuda cc=9.0 sm=114 l2=52428800 bus=5120 smem=232448 regs=65536";
  device.name = "NVIDIA H100 PCIe";
  device.sm_count = 114;
  return device;
}

DeviceRecord a100() {
  auto device = h200();
  device.key = "cuda cc=8.0 sm=108 l2=41943040 bus=5120 smem=166912 regs=65536";
  device.name = "NVIDIA A100";
  device.compute_capability = 80;
  device.sm_count = 108;
  return device;
}

EnvironmentRecord environment() { return {"13.0", "nvrtc 13.0", "0.1.0", "Debian 12"}; }

KernelRecord reduce_kernel() { return {"reduce", std::string(64, 'a'), "time"}; }

ProblemRecord problem(std::int64_t n) { return {"T=float operation=sum", {{"n", n}}}; }

SessionKey session_key(std::int64_t n) {
  return {{reduce_kernel(), h200(), environment(), problem(n)}, R"({"cold":true})"};
}

SessionKey key_with_driver(const std::string& driver, std::int64_t n) {
  auto key = session_key(n);
  key.environment.driver = driver;
  return key;
}

SessionKey key_on(const DeviceRecord& device, std::int64_t n) {
  auto key = session_key(n);
  key.device = device;
  return key;
}

SessionKey key_of_source(char of, std::int64_t n) {
  auto key = session_key(n);
  key.kernel.source_hash = std::string(64, of);
  return key;
}

TrialRecord trial(const std::string& configuration, double median_ns) {
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

TrialRecord failed_trial(const std::string& configuration, const std::string& kind, const std::string& message) {
  TrialRecord t;
  t.configuration = configuration;
  t.kind = kind;
  t.message = message;
  return t;
}

Context query(std::int64_t n) { return session_key(n); }

void store_best(Database& database, const SessionKey& key, const std::string& configuration, double median_ns) {
  SessionWriter writer(database, key);
  writer.add(trial(configuration, median_ns));
  writer.set_best(configuration);
  writer.finish();
}

WisdomMatch find(Database& database, const Context& query, const Accept& accept) {
  Database* databases[] = {&database};
  return lookup(query, databases, accept);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> findings(const fs::path& file) {
  try {
    auto database = Database::open_read_only(file, {.check_bytes = -1});
    return doctor(database);
  } catch (const CacheError& error) {
    return {error.what()};
  }
}

void execute(const fs::path& file, const std::string& sql) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

std::string integrity(const fs::path& file) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
  SQLite::Statement check(db, "PRAGMA integrity_check");
  check.executeStep();
  return check.getColumn(0).getString();
}

unsigned mode_of(const fs::path& file) {
  struct stat info {};
  EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
  return info.st_mode & 0777;
}

}  // namespace tuner::cache::test
