#include <cache/exchange.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cache/entries.hpp>
#include <cache/record_checks.hpp>
#include <cache/paths.hpp>
#include <cache/session.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

/// True when \p a is to be kept over \p b: a total order, so that the order of merging does not matter.
bool is_better_evidence(const BestRecord& a, const BestRecord& b) {
  const auto number = [](double value) { return std::isfinite(value) ? value : -1; };
  const auto key = [&](const BestRecord& r) {
    return std::make_tuple(-r.measured_ms, -r.samples, r.median_ns, std::string_view(r.configuration), number(r.low_ns),
                           number(r.high_ns), number(r.relative_noise));
  };
  return key(a) < key(b);
}

std::optional<BestRecord> known_best(Store& store, const BestRecord& like) {
  const auto device = find_device(store, like.device.key);
  const auto kernel = find_kernel(store, like.kernel);
  const auto problem = find_problem(store, like.problem);
  if (!device || !kernel || !problem) return std::nullopt;
  const auto environment = ensure_environment(store, like.environment);
  Query row(
      store,
      "SELECT " TUNER_CACHE_BEST_COLUMNS
      " FROM best b JOIN kernel k ON k.id = b.kernel_id JOIN device d ON d.id = b.device_id JOIN environment e "
      "ON e.id = b.environment_id JOIN problem p ON p.id = b.problem_id JOIN configuration c ON c.id = "
      "b.configuration_id WHERE b.device_id = ? AND b.kernel_id = ? AND b.problem_id = ? AND b.environment_id = ?",
      *device, *kernel, *problem, environment);
  return row.next() ? best_from(row) : std::nullopt;  // a damaged row may be replaced
}

/// People's descriptions of a device do not depend on the order of merging either.
void unite_descriptions(Store& store, DeviceRecord device) {
  ensure_device(store, device);
  Query(store,
        "UPDATE device SET name = max(name, ?1), properties = max(properties, ?2) WHERE key = ?3 AND (name < ?1 "
        "OR properties < ?2)",
        device.name, device.properties, device.key)
      .run();
}

void apply(Store& store, const BestRecord& best, ImportCount& count) {
  unite_descriptions(store, best.device);
  // The numbers of the stored device are part of the evidence.
  auto record = best;
  ensure_device(store, record.device);
  const auto known = known_best(store, record);
  if (known && !is_better_evidence(record, *known)) {
    ++count.unchanged;
    return;
  }
  put_best(store, record);
  ++count.best;
}

void apply(Store& store, const SessionRecord& session, ImportCount& count) {
  unite_descriptions(store, session.key.device);
  bool added = false;
  const auto id = ensure_session(store, session, &added);
  ++(added ? count.sessions : count.unchanged);
  if (added || !session.finished_ms) return;
  Query(store, "UPDATE session SET finished_ms = ?1 WHERE id = ?2 AND coalesce(finished_ms, 0) < ?1",
        session.finished_ms, id)
      .run();
}

void apply(Store& store, const StoredTrial& trial, ImportCount& count) {
  std::int64_t session = 0;
  {
    Query row(store, "SELECT id FROM session WHERE uuid = ?", trial.session);
    if (!row.next()) return;
    session = row.integer(0);
  }
  ++(put_trial(store, session, trial) ? count.trials : count.unchanged);
}

void apply(Store& store, const QuarantineRecord& record, ImportCount& count) {
  put_quarantine(store, record);
  ++(store.connection().getChanges() > 0 ? count.quarantined : count.unchanged);
}

std::vector<QuarantineRecord> all_quarantined(Database& database, const Filter& filter) {
  auto& store = database.store();
  return store.read([&] {
    std::vector<QuarantineRecord> found;
    Query row(store,
              "SELECT q.device_key, k.name, k.source_hash, k.objective, c.text, q.reason, q.created_ms FROM quarantine "
              "q JOIN kernel k ON k.id = q.kernel_id JOIN configuration c ON c.id = q.configuration_id WHERE (?1 = '' "
              "OR k.name = ?1) AND (?2 = '' OR q.device_key = ?2) ORDER BY 1, 2, 3, 4, 5",
              filter.kernel, filter.device_key);
    while (row.next()) {
      QuarantineRecord record{
          row.text(0), {row.text(1), row.text(2), row.text(3)}, row.text(4), row.text(5), row.integer(6)};
      if (!problem_with(record.kernel) && !problem_with_configuration(record.configuration)) {
        found.push_back(std::move(record));
      }
    }
    return found;
  });
}

}  // namespace

std::vector<Entry> entries_of(Database& database, const Filter& filter, bool everything) {
  std::vector<Entry> entries;
  // One transaction: best, sessions and trials of the same moment.
  database.store().read([&] {
    entries.clear();
    for (auto& best : best_rows(database, filter)) entries.emplace_back(std::move(best));
    if (!everything) return true;
    auto all = sessions(database, filter);
    const auto key = [](const SessionRecord& s) {
      const auto& e = s.key.environment;
      return std::tie(s.key.device.key, e.driver, e.compiler, e.tuner, e.os, s.started_ms, s.uuid);
    };
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    auto& store = database.store();
    for (auto& session : all) {
      const auto uuid = session.uuid;
      entries.emplace_back(std::move(session));
      Query row(store,
                "SELECT " TUNER_CACHE_TRIAL_COLUMNS
                " FROM session s JOIN trial t ON t.session_id = s.id JOIN configuration c ON c.id = t.configuration_id "
                "WHERE s.uuid = ? ORDER BY t.seq",
                uuid);
      while (row.next()) {
        if (auto trial = trial_from(row, uuid)) {
          entries.emplace_back(std::move(*trial));
        } else {
          warn_of_damaged_rows(store);
        }
      }
    }
    for (auto& record : all_quarantined(database, filter)) entries.emplace_back(std::move(record));
    return true;
  });
  return entries;
}

ImportCount apply_entries(Database& database, const std::vector<Entry>& entries) {
  ImportCount count;
  auto& store = database.store();
  store.write([&] {
    count = {};
    for (const auto& entry : entries) {
      std::visit([&](const auto& record) { apply(store, record, count); }, entry);
    }
  });
  return count;
}

std::string export_wisdom(Database& database, const Filter& filter) {
  return entries_text(entries_of(database, filter, false));
}

std::string export_all(Database& database, const Filter& filter) {
  return entries_text(entries_of(database, filter, true));
}

ImportCount import_text(Database& database, std::string_view text, const std::string& source) {
  return apply_entries(database, parse_entries(text, source));
}

ImportCount merge(Database& into, Database& from) {
  if (&into == &from) return {};
  return apply_entries(into, entries_of(from, {}, true));
}

void copy_database(Database& database, const fs::path& file) {
  std::error_code error;
  if (fs::exists(file, error)) throw CacheError(file.string() + " exists already; give another name", 0, file.string());
  auto& store = database.store();
  std::string failure;
  store.read([&] {
    // VACUUM cannot run inside the transaction that read() has begun.
    store.connection().exec("COMMIT");
    try {
      SQLite::Statement vacuum(store.connection(), "VACUUM INTO ?");
      vacuum.bind(1, file.string());
      vacuum.exec();
    } catch (const SQLite::Exception& exception) {
      failure = exception.what();
    }
    store.connection().exec("BEGIN");
    return true;
  });
  if (!failure.empty()) {
    fs::remove(file, error);
    throw CacheError(fmt::format("{} cannot be written: {}", file.string(), failure), 0, file.string());
  }
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, error);
}

void write_text(const fs::path& file, std::string_view text) {
  std::string bytes(text);
  if (file.extension() == ".gz") {
    z_stream stream{};
    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw CacheError("zlib cannot be used");
    }
    bytes.assign(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int result = text.size() > UINT32_MAX ? Z_BUF_ERROR : deflate(&stream, Z_FINISH);
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END)
      throw CacheError(file.string() + ": the text is too large to compress", 0, file.string());
  }
  const fs::path part = fmt::format("{}.part-{}", file.string(), ::getpid());
  std::error_code error;
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      const auto reason = std::strerror(errno);
      fs::remove(part, error);
      throw CacheError(fmt::format("{} cannot be written: {}", file.string(), reason), 0, file.string());
    }
  }
  fs::rename(part, file, error);
  if (error) {
    const auto reason = error.message();
    fs::remove(part, error);
    throw CacheError(fmt::format("{} cannot be written: {}", file.string(), reason), 0, file.string());
  }
}

std::string read_text(const fs::path& file) {
  // zlib reads plain files as they are.
  gzFile in = gzopen(file.c_str(), "rb");
  if (in == nullptr) {
    throw CacheError(fmt::format("{} cannot be read: {}", file.string(), std::strerror(errno)), 0, file.string());
  }
  std::string text;
  std::string buffer(std::size_t{1} << 16, '\0');
  int got = 0;
  while ((got = gzread(in, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  int code = Z_OK;
  const std::string reason = gzerror(in, &code);
  const bool failed = got < 0 || (code != Z_OK && code != Z_STREAM_END);
  gzclose(in);
  if (failed) throw CacheError(fmt::format("{} cannot be read: {}", file.string(), reason), 0, file.string());
  return text;
}

}  // namespace tuner::cache
