#include <cache/rows.hpp>

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/checksum.hpp>
#include <cache/samples.hpp>

namespace tuner::cache {
namespace {

using nlohmann::json;

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }
double stored(double value) { return std::isfinite(value) ? value : kAbsent; }

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string numbers_text(const std::map<std::string, double>& numbers) {
  json object = json::object();
  for (const auto& [name, value] : numbers) object[name] = value;
  return dump(object);
}

std::map<std::string, double> numbers_from(const std::string& text) {
  std::map<std::string, double> numbers;
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object()) return numbers;
  for (const auto& [name, value] : object.items()) {
    numbers[name] = value.is_number() ? value.get<double>() : kAbsent;
  }
  return numbers;
}

std::optional<std::string> resources_text(const std::optional<ResourceRecord>& r) {
  if (!r) return std::nullopt;
  return dump({{"registers", r->registers},
               {"spill_bytes", r->spill_bytes},
               {"stack_bytes", r->stack_bytes},
               {"static_shared_bytes", r->static_shared_bytes},
               {"constant_bytes", r->constant_bytes},
               {"blocks_per_sm", r->blocks_per_sm},
               {"occupancy", r->occupancy}});
}

std::optional<ResourceRecord> resources_from(const std::string& text) {
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto get = [&](const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  return ResourceRecord{static_cast<int>(get("registers")),
                        static_cast<int>(get("spill_bytes")),
                        static_cast<int>(get("stack_bytes")),
                        static_cast<std::int64_t>(get("static_shared_bytes")),
                        static_cast<std::int64_t>(get("constant_bytes")),
                        static_cast<int>(get("blocks_per_sm")),
                        get("occupancy")};
}

std::int64_t inserted_or_found(Statements& store) { return store.connection().getLastInsertRowid(); }

}  // namespace

// ---- identities ----------------------------------------------------------------------------------------------------

double log2_first(const Sizes& sizes) {
  if (sizes.empty()) return 0;
  const auto value = sizes.begin()->second;
  return value == 0 ? -2 : std::log2(static_cast<double>(value));
}

std::int64_t ensure_device(Statements& store, DeviceRecord& device) {
  {
    Query insert(store,
                 "INSERT INTO device(key, name, backend, compute_capability, sm_count, l2_bytes, bus_bits, "
                 "max_shared_bytes, registers_per_sm, properties) VALUES(?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                 device.key, device.name, device.backend, device.compute_capability, device.sm_count, device.l2_bytes,
                 device.memory_bus_bits, device.max_shared_bytes, device.registers_per_sm, device.properties);
    insert.run();
  }
  Query row(store, "SELECT id, backend, compute_capability, sm_count FROM device WHERE key = ?", device.key);
  row.next();
  device.backend = row.text(1);
  device.compute_capability = static_cast<int>(row.integer(2));
  device.sm_count = static_cast<int>(row.integer(3));
  return row.integer(0);
}

namespace {

std::optional<std::int64_t> first(Query query) {
  if (!query.next()) return std::nullopt;
  return query.integer(0);
}

std::optional<std::int64_t> find_environment(Statements& store, const EnvironmentRecord& e) {
  return first(Query(store, "SELECT id FROM environment WHERE driver = ? AND compiler = ? AND tuner = ? AND os = ?",
                     e.driver, e.compiler, e.tuner, e.os));
}

std::optional<std::int64_t> find_configuration(Statements& store, const std::string& text) {
  return first(Query(store, "SELECT id FROM configuration WHERE text = ?", text));
}

}  // namespace

std::optional<std::int64_t> find_device(Statements& store, const std::string& key) {
  return first(Query(store, "SELECT id FROM device WHERE key = ?", key));
}

std::optional<std::int64_t> find_kernel(Statements& store, const KernelRecord& kernel) {
  return first(Query(store, "SELECT id FROM kernel WHERE name = ? AND objective = ? AND source_hash = ?", kernel.name,
                     kernel.objective, kernel.source_hash));
}

std::optional<std::int64_t> find_problem(Statements& store, const ProblemRecord& problem) {
  return first(Query(store, "SELECT id FROM problem WHERE choices = ? AND sizes = ?", problem.choices,
                     sizes_text(problem.sizes)));
}

std::int64_t ensure_environment(Statements& store, const EnvironmentRecord& e) {
  if (const auto id = find_environment(store, e)) return *id;
  Query(store, "INSERT INTO environment(driver, compiler, tuner, os) VALUES(?,?,?,?)", e.driver, e.compiler, e.tuner,
        e.os)
      .run();
  return inserted_or_found(store);
}

std::int64_t ensure_kernel(Statements& store, const KernelRecord& kernel) {
  if (const auto id = find_kernel(store, kernel)) return *id;
  Query(store, "INSERT INTO kernel(name, objective, source_hash) VALUES(?,?,?)", kernel.name, kernel.objective,
        kernel.source_hash)
      .run();
  return inserted_or_found(store);
}

std::int64_t ensure_problem(Statements& store, const ProblemRecord& problem) {
  if (const auto id = find_problem(store, problem)) return *id;
  Query(store, "INSERT INTO problem(choices, sizes, log2_first) VALUES(?,?,?)", problem.choices,
        sizes_text(problem.sizes), log2_first(problem.sizes))
      .run();
  return inserted_or_found(store);
}

std::int64_t ensure_configuration(Statements& store, const std::string& text) {
  if (const auto id = find_configuration(store, text)) return *id;
  Query(store, "INSERT INTO configuration(text) VALUES(?)", text).run();
  return inserted_or_found(store);
}

// ---- best ----------------------------------------------------------------------------------------------------------

namespace {

void add_identity(Checksum& sum, const KernelRecord& k, const DeviceRecord& d, const EnvironmentRecord& e,
                  const ProblemRecord& p) {
  sum.add(k.name).add(k.source_hash).add(k.objective);
  sum.add(d.key).add(d.backend).add(d.compute_capability).add(d.sm_count);
  sum.add(e.driver).add(e.compiler).add(e.tuner).add(e.os);
  sum.add(p.choices).add(sizes_text(p.sizes));
}

/// False when the sizes are not what parse_sizes() takes.
bool read_identity(Query& row, KernelRecord& k, DeviceRecord& d, EnvironmentRecord& e, ProblemRecord& p) {
  k = {row.text(0), row.text(1), row.text(2)};
  d.key = row.text(3);
  d.name = row.text(4);
  d.backend = row.text(5);
  d.compute_capability = static_cast<int>(row.integer(6));
  d.sm_count = static_cast<int>(row.integer(7));
  d.l2_bytes = row.integer(8);
  d.memory_bus_bits = static_cast<int>(row.integer(9));
  d.max_shared_bytes = row.integer(10);
  d.registers_per_sm = static_cast<int>(row.integer(11));
  d.properties = row.text(12);
  e = {row.text(13), row.text(14), row.text(15), row.text(16)};
  p.choices = row.text(17);
  auto sizes = parse_sizes(row.text(18));
  if (!sizes) return false;
  p.sizes = std::move(*sizes);
  return true;
}

}  // namespace

std::int64_t checksum(const BestRecord& best) {
  Checksum sum;
  sum.add("best");
  add_identity(sum, best.kernel, best.device, best.environment, best.problem);
  sum.add(best.configuration).add(stored(best.median_ns)).add(stored(best.low_ns)).add(stored(best.high_ns));
  sum.add(stored(best.relative_noise)).add(best.samples).add(best.measured_ms);
  return sum.value();
}

std::optional<BestRecord> best_from(Query& row) {
  BestRecord best;
  if (!read_identity(row, best.kernel, best.device, best.environment, best.problem)) return std::nullopt;
  best.configuration = row.text(19);
  best.median_ns = row.real(20);
  best.low_ns = row.real(21);
  best.high_ns = row.real(22);
  best.relative_noise = row.real(23);
  best.samples = row.integer(24);
  best.measured_ms = row.integer(25);
  if (checksum(best) != row.integer(26)) return std::nullopt;
  return best;
}

void put_best(Statements& store, BestRecord best) {
  const auto device = ensure_device(store, best.device);
  const auto kernel = ensure_kernel(store, best.kernel);
  const auto problem = ensure_problem(store, best.problem);
  const auto environment = ensure_environment(store, best.environment);
  const auto configuration = ensure_configuration(store, best.configuration);
  Query(store,
        "INSERT INTO best(device_id, kernel_id, problem_id, environment_id, configuration_id, median_ns, low_ns, "
        "high_ns, relative_noise, samples, measured_ms, crc) VALUES(?,?,?,?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT(device_id, kernel_id, problem_id, environment_id) DO UPDATE SET "
        "configuration_id = excluded.configuration_id, median_ns = excluded.median_ns, low_ns = excluded.low_ns, "
        "high_ns = excluded.high_ns, relative_noise = excluded.relative_noise, samples = excluded.samples, "
        "measured_ms = excluded.measured_ms, crc = excluded.crc",
        device, kernel, problem, environment, configuration, best.median_ns, finite(best.low_ns), finite(best.high_ns),
        finite(best.relative_noise), best.samples, best.measured_ms, checksum(best))
      .run();
}

// ---- sessions and trials -------------------------------------------------------------------------------------------

std::int64_t checksum(const SessionRecord& session) {
  Checksum sum;
  sum.add("session");
  add_identity(sum, session.key.kernel, session.key.device, session.key.environment, session.key.problem);
  sum.add(session.uuid).add(session.key.conditions).add(session.strategy);
  sum.add(static_cast<std::int64_t>(session.seed)).add(session.origin).add(session.started_ms);
  return sum.value();
}

std::optional<SessionRecord> session_from(Query& row) {
  SessionRecord s;
  if (!read_identity(row, s.key.kernel, s.key.device, s.key.environment, s.key.problem)) return std::nullopt;
  s.uuid = row.text(19);
  s.key.conditions = row.text(20);
  s.strategy = row.text(21);
  s.seed = static_cast<std::uint64_t>(row.integer(22));
  s.origin = row.text(23);
  s.started_ms = row.integer(24);
  if (!row.null(25)) s.finished_ms = row.integer(25);
  if (checksum(s) != row.integer(26)) return std::nullopt;
  return s;
}

std::int64_t ensure_session(Statements& store, SessionRecord s, bool* added) {
  if (added != nullptr) *added = false;
  if (const auto id = first(Query(store, "SELECT id FROM session WHERE uuid = ?", s.uuid))) return *id;
  const auto device = ensure_device(store, s.key.device);
  const auto kernel = ensure_kernel(store, s.key.kernel);
  const auto problem = ensure_problem(store, s.key.problem);
  const auto environment = ensure_environment(store, s.key.environment);
  Query(store,
        "INSERT INTO session(uuid, kernel_id, device_id, environment_id, problem_id, conditions, strategy, seed, "
        "origin, started_ms, finished_ms, crc) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
        s.uuid, kernel, device, environment, problem, s.key.conditions, s.strategy, static_cast<std::int64_t>(s.seed),
        s.origin, s.started_ms, s.finished_ms, checksum(s))
      .run();
  if (added != nullptr) *added = true;
  return inserted_or_found(store);
}

namespace {

std::int64_t trial_checksum(const std::string& uuid, std::int64_t seq, const TrialRecord& t, const std::string& samples,
                            const std::string& metrics, const std::string& times,
                            const std::optional<std::string>& resources) {
  Checksum sum;
  sum.add("trial").add(uuid).add(seq).add(t.configuration).add(t.kind).add(t.message).add(t.log).add(samples);
  sum.add(stored(t.median_ns)).add(stored(t.low_ns)).add(stored(t.high_ns)).add(stored(t.relative_noise));
  sum.add(t.cold).add(t.throttled).add(t.converged).add(t.abandoned).add(t.verified).add(stored(t.clock_mhz));
  sum.add(metrics).add(times).add(resources.has_value()).add(resources.value_or("")).add(t.created_ms);
  return sum.value();
}

}  // namespace

std::optional<StoredTrial> trial_from(Query& row, const std::string& uuid) {
  StoredTrial result;
  result.session = uuid;
  result.seq = row.integer(0);
  auto& t = result.trial;
  t.configuration = row.text(1);
  t.kind = row.text(2);
  t.message = row.text(3);
  t.log = row.text(4);
  const auto samples = row.text(5);
  t.median_ns = row.real(6);
  t.low_ns = row.real(7);
  t.high_ns = row.real(8);
  t.relative_noise = row.real(9);
  t.cold = row.integer(10) != 0;
  t.throttled = row.integer(11) != 0;
  t.converged = row.integer(12) != 0;
  t.abandoned = row.integer(13) != 0;
  t.verified = row.integer(14) != 0;
  t.clock_mhz = row.real(15);
  const auto metrics = row.text(16);
  const auto times = row.text(17);
  std::optional<std::string> resources;
  if (!row.null(18)) resources = row.text(18);
  t.created_ms = row.integer(19);
  if (trial_checksum(uuid, result.seq, t, samples, metrics, times, resources) != row.integer(20)) return std::nullopt;
  auto unpacked = unpack_samples(samples);
  if (!unpacked) return std::nullopt;
  t.samples_ns = std::move(*unpacked);
  t.metrics = numbers_from(metrics);
  t.times_s = numbers_from(times);
  if (resources) t.resources = resources_from(*resources);
  return result;
}

bool put_trial(Statements& store, std::int64_t session_id, const StoredTrial& stored_trial) {
  const auto& t = stored_trial.trial;
  const auto samples = pack_samples(t.samples_ns);
  const auto metrics = numbers_text(t.metrics);
  const auto times = numbers_text(t.times_s);
  const auto resources = resources_text(t.resources);
  const auto crc = trial_checksum(stored_trial.session, stored_trial.seq, t, samples, metrics, times, resources);
  Query(store,
        "INSERT INTO trial(session_id, seq, configuration_id, kind, message, log, samples, median_ns, low_ns, high_ns, "
        "relative_noise, cold, throttled, converged, abandoned, verified, clock_mhz, metrics, times, resources, "
        "created_ms, crc) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT(session_id, seq) DO NOTHING",
        session_id, stored_trial.seq, ensure_configuration(store, t.configuration), t.kind, t.message, t.log,
        Blob{samples}, finite(t.median_ns), finite(t.low_ns), finite(t.high_ns), finite(t.relative_noise), t.cold,
        t.throttled, t.converged, t.abandoned, t.verified, finite(t.clock_mhz), metrics, times, resources, t.created_ms,
        crc)
      .run();
  return store.connection().getChanges() > 0;
}

void put_quarantine(Statements& store, const QuarantineRecord& record) {
  // The earliest report stays, so that the order of merging does not matter.
  Query(store,
        "INSERT INTO quarantine(device_key, kernel_id, configuration_id, reason, created_ms) VALUES(?,?,?,?,?) "
        "ON CONFLICT DO UPDATE SET reason = excluded.reason, created_ms = excluded.created_ms "
        "WHERE (excluded.created_ms, excluded.reason) < (created_ms, reason)",
        record.device_key, ensure_kernel(store, record.kernel), ensure_configuration(store, record.configuration),
        record.reason, record.created_ms)
      .run();
}

void warn_of_damaged_rows(Store& store) {
  store.warn_once("rows", fmt::format("wisdom database {}: damaged rows were left out", store.display_path()));
}

}  // namespace tuner::cache
