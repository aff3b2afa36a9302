#include <cache/migration.hpp>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/checksum.hpp>
#include <cache/database.hpp>
#include <cache/record_checks.hpp>
#include <cache/rows.hpp>
#include <cache/samples.hpp>
#include <cache/stamps.hpp>

namespace tuner::cache {
namespace {

using nlohmann::json;

void set_meta(SQLite::Database& db, const std::string& key, const std::string& value) {
  SQLite::Statement insert(db, "INSERT INTO meta(key, value) VALUES(?, ?)");
  insert.bind(1, key);
  insert.bind(2, value);
  insert.exec();
}

void fill_meta(SQLite::Database& db, const std::string& role, const std::string& uuid) {
  set_meta(db, "uuid", uuid);
  set_meta(db, "role", role);
  set_meta(db, "writer", std::to_string(kSchemaVersion));
  set_meta(db, "min_reader", std::to_string(kSchemaVersion));
}

/// Version 1 kept configurations and sizes as JSON objects: `{"block_x": 32}` becomes `block_x=32`, sorted by name.
std::string assignments(const std::string& text) {
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object()) return text;
  std::string result;
  for (const auto& [name, value] : object.items()) {
    if (!result.empty()) result += ' ';
    result += name + '=' + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return result;
}

/// Version 1 did not say how samples were kept; arrays of doubles or floats of the right length are taken over.
std::vector<double> old_samples(const std::string& blob, std::int64_t count) {
  std::vector<double> samples;
  const auto n = static_cast<std::size_t>(count < 0 ? 0 : count);
  if (n != 0 && blob.size() == n * sizeof(double)) {
    samples.resize(n);
    std::memcpy(samples.data(), blob.data(), blob.size());
  } else if (n != 0 && blob.size() == n * sizeof(float)) {
    std::vector<float> narrow(n);
    std::memcpy(narrow.data(), blob.data(), blob.size());
    samples.assign(narrow.begin(), narrow.end());
  }
  return samples;
}

std::string text(const SQLite::Column& column) {
  const auto* bytes = static_cast<const char*>(column.getBlob());
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(column.getBytes()));
}

std::string hex(const std::string& bytes) {
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

std::string properties_member(const std::string& properties, const char* name) {
  const auto object = json::parse(properties, nullptr, false);
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_number() ? found->dump() : "0";
}

constexpr const char* kDrop[] = {
    "DROP VIEW IF EXISTS v_best",       "DROP TABLE IF EXISTS quarantine", "DROP TABLE IF EXISTS best",
    "DROP TABLE IF EXISTS measurement", "DROP TABLE IF EXISTS session",    "DROP TABLE IF EXISTS problem",
    "DROP TABLE IF EXISTS config",      "DROP TABLE IF EXISTS space",      "DROP TABLE IF EXISTS kernel",
    "DROP TABLE IF EXISTS env",         "DROP TABLE IF EXISTS device",     "DROP TABLE IF EXISTS meta"};

/// What version 1 knew, read before its tables go.
struct Version1 {
  std::map<std::int64_t, DeviceRecord> devices;
  std::map<std::int64_t, EnvironmentRecord> environments;
  std::map<std::int64_t, KernelRecord> kernels;
  std::map<std::int64_t, std::string> configurations;
  std::map<std::int64_t, std::pair<std::int64_t, ProblemRecord>> problems;  // kernel, problem
  struct Session {
    std::int64_t device, environment;
    SessionRecord record;
  };
  std::map<std::int64_t, Session> sessions;
  struct Row {
    std::int64_t session, problem, configuration;
    TrialRecord trial;
  };
  std::vector<Row> trials;
  std::vector<BestRecord> best;
  std::vector<QuarantineRecord> quarantine;
};

Version1 read_version_1(SQLite::Database& db) {
  Version1 old;
  SQLite::Statement d(db, "SELECT id, name, cc, sm_count, l2_bytes, bus_bits, props FROM device");
  while (d.executeStep()) {
    DeviceRecord r;
    r.name = text(d.getColumn(1));
    r.backend = d.getColumn(2).getInt() == 0 ? "host" : "cuda";
    r.compute_capability = d.getColumn(2).getInt();
    r.sm_count = d.getColumn(3).getInt();
    r.l2_bytes = d.getColumn(4).getInt64();
    r.memory_bus_bits = d.getColumn(5).getInt();
    r.properties = text(d.getColumn(6));
    r.max_shared_bytes = std::strtoll(properties_member(r.properties, "smem_optin").c_str(), nullptr, 10);
    r.registers_per_sm = std::atoi(properties_member(r.properties, "regs_sm").c_str());
    r.key = fmt::format("{} cc={}.{} sm={} l2={} bus={} smem={} regs={}", r.backend, r.compute_capability / 10,
                        r.compute_capability % 10, r.sm_count, r.l2_bytes, r.memory_bus_bits, r.max_shared_bytes,
                        r.registers_per_sm);
    old.devices[d.getColumn(0).getInt64()] = r;
  }
  SQLite::Statement e(db, "SELECT id, driver, nvrtc, lib_version, os FROM env");
  while (e.executeStep()) {
    old.environments[e.getColumn(0).getInt64()] = {text(e.getColumn(1)), "nvrtc " + text(e.getColumn(2)),
                                                   text(e.getColumn(3)), text(e.getColumn(4))};
  }
  SQLite::Statement k(db, "SELECT id, name, src_hash, objective FROM kernel");
  while (k.executeStep()) {
    const auto objective = text(k.getColumn(3));
    old.kernels[k.getColumn(0).getInt64()] = {text(k.getColumn(1)), hex(text(k.getColumn(2))),
                                              objective == "time_ns" ? "time" : objective};
  }
  SQLite::Statement c(db, "SELECT id, params FROM config");
  while (c.executeStep()) old.configurations[c.getColumn(0).getInt64()] = assignments(text(c.getColumn(1)));
  SQLite::Statement p(db, "SELECT id, kernel_id, cls, dims FROM problem");
  while (p.executeStep()) {
    const auto sizes = parse_sizes(assignments(text(p.getColumn(3))));
    if (!sizes) continue;
    old.problems[p.getColumn(0).getInt64()] = {p.getColumn(1).getInt64(), {assignments(text(p.getColumn(2))), *sizes}};
  }
  SQLite::Statement s(
      db, "SELECT id, uuid, device_id, env_id, strategy, seed, started, finished, conditions, origin FROM session");
  while (s.executeStep()) {
    Version1::Session session{s.getColumn(2).getInt64(), s.getColumn(3).getInt64(), {}};
    session.record.uuid = hex(text(s.getColumn(1)));
    session.record.strategy = text(s.getColumn(4));
    session.record.seed = static_cast<std::uint64_t>(s.getColumn(5).getInt64());
    session.record.started_ms = s.getColumn(6).getInt64();
    if (!s.getColumn(7).isNull()) session.record.finished_ms = s.getColumn(7).getInt64();
    session.record.key.conditions = text(s.getColumn(8));
    session.record.origin = text(s.getColumn(9));
    old.sessions[s.getColumn(0).getInt64()] = session;
  }
  SQLite::Statement m(db,
                      "SELECT session_id, problem_id, config_id, status, n, min_ns, med_ns, mad_ns, samples, verified, "
                      "regs, smem, compile_us, t FROM measurement ORDER BY t");
  while (m.executeStep()) {
    Version1::Row row{m.getColumn(0).getInt64(), m.getColumn(1).getInt64(), m.getColumn(2).getInt64(), {}};
    auto& t = row.trial;
    const auto status = text(m.getColumn(3));
    t.kind = status == "noisy" ? "ok" : status;
    t.converged = status == "ok";
    t.median_ns = m.getColumn(6).isNull() ? 0 : m.getColumn(6).getDouble();
    t.low_ns = t.high_ns = t.median_ns;
    t.relative_noise = t.median_ns > 0 ? 1.4826 * m.getColumn(7).getDouble() / t.median_ns : 0;
    t.samples_ns = old_samples(text(m.getColumn(8)), m.getColumn(4).getInt64());
    t.verified = m.getColumn(9).getInt() != 0;
    if (!m.getColumn(10).isNull()) {
      t.resources = ResourceRecord{};
      t.resources->registers = m.getColumn(10).getInt();
      t.resources->static_shared_bytes = m.getColumn(11).getInt64();
    }
    if (!m.getColumn(12).isNull()) t.times_s["compile"] = m.getColumn(12).getDouble() * 1e-6;
    t.created_ms = m.getColumn(13).getInt64();
    old.trials.push_back(std::move(row));
  }
  // What was stored as best without a verified measurement behind it does not come along.
  SQLite::Statement b(db,
                      "SELECT b.device_id, b.problem_id, b.env_id, b.config_id, b.med_ns, b.n, m.t FROM best b JOIN "
                      "measurement m ON m.session_id = b.session_id AND m.problem_id = b.problem_id AND m.config_id = "
                      "b.config_id WHERE m.status IN ('ok', 'noisy') AND m.verified = 1");
  while (b.executeStep()) {
    const auto problem = old.problems.find(b.getColumn(1).getInt64());
    if (problem == old.problems.end()) continue;
    BestRecord best;
    best.device = old.devices[b.getColumn(0).getInt64()];
    best.kernel = old.kernels[problem->second.first];
    best.problem = problem->second.second;
    best.environment = old.environments[b.getColumn(2).getInt64()];
    best.configuration = old.configurations[b.getColumn(3).getInt64()];
    best.median_ns = best.low_ns = best.high_ns = b.getColumn(4).getDouble();
    best.samples = b.getColumn(5).getInt64();
    best.measured_ms = b.getColumn(6).getInt64();
    if (!problem_with(best)) old.best.push_back(best);
  }
  SQLite::Statement q(db,
                      "SELECT q.device_id, c.kernel_id, q.config_id, q.reason, q.t FROM quarantine q JOIN config c ON "
                      "c.id = q.config_id");
  while (q.executeStep()) {
    old.quarantine.push_back({old.devices[q.getColumn(0).getInt64()].key, old.kernels[q.getColumn(1).getInt64()],
                              old.configurations[q.getColumn(2).getInt64()], text(q.getColumn(3)),
                              q.getColumn(4).getInt64()});
  }
  return old;
}

void write_version_2(Statements& store, Version1& old) {
  for (const auto& best : old.best) put_best(store, best);
  for (const auto& record : old.quarantine) put_quarantine(store, record);
  // A session of version 1 could hold several problems; one of version 2 holds one.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sequence;
  for (const auto& row : old.trials) {
    const auto session = old.sessions.find(row.session);
    const auto problem = old.problems.find(row.problem);
    if (session == old.sessions.end() || problem == old.problems.end()) continue;
    auto record = session->second.record;
    record.key.device = old.devices[session->second.device];
    record.key.environment = old.environments[session->second.environment];
    record.key.kernel = old.kernels[problem->second.first];
    record.key.problem = problem->second.second;
    record.uuid = fmt::format("{}-{}", record.uuid, row.problem);
    StoredTrial trial{record.uuid, ++sequence[{row.session, row.problem}], row.trial};
    trial.trial.configuration = old.configurations[row.configuration];
    if (problem_with(trial.trial)) continue;
    put_trial(store, ensure_session(store, record), trial);
  }
}

}  // namespace

void migrate_wisdom(SQLite::Database& db, int from) {
  if (from == 0) return fill_meta(db, "user", make_uuid());
  if (from != 1) throw CacheError(fmt::format("no step from schema version {}", from));
  std::string uuid = make_uuid();
  std::string role = "user";
  {
    SQLite::Statement meta(db, "SELECT value FROM meta WHERE key = 'role'");
    if (meta.executeStep()) role = text(meta.getColumn(0));
  }
  auto old = read_version_1(db);
  for (const char* drop : kDrop) db.exec(drop);
  db.exec(kSchema);
  fill_meta(db, role, uuid);
  Statements store(std::shared_ptr<SQLite::Database>(&db, [](SQLite::Database*) {}));
  write_version_2(store, old);
}

}  // namespace tuner::cache
