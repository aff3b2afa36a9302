#pragma once
/// Prepared statements, made once and run with arguments. Private to this room.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <SQLiteCpp/SQLiteCpp.h>

namespace tuner::cache {

/// A connection with its prepared statements.
class Statements {
 public:
  explicit Statements(std::shared_ptr<SQLite::Database> connection = nullptr) : connection_(std::move(connection)) {}
  /// Prepares \p sql at its first use. The address identifies it, so it must outlive this object.
  SQLite::Statement& statement(const char* sql) {
    auto& slot = statements_[sql];
    if (!slot) slot = std::make_unique<SQLite::Statement>(*connection_, sql);
    return *slot;
  }
  SQLite::Database& connection() { return *connection_; }

 protected:
  std::shared_ptr<SQLite::Database> connection_;
  std::unordered_map<const void*, std::unique_ptr<SQLite::Statement>> statements_;  // destroyed before the connection
};

struct Blob {
  std::string_view bytes;
};

/// One run of a prepared statement. The destructor resets it so that no lock remains. Binds arguments and reads columns
/// in order.
class Query {
 public:
  template <class... Arguments>
  Query(Statements& statements, const char* sql, const Arguments&... arguments)
      : statement_(statements.statement(sql)) {
    statement_.tryReset();
    statement_.clearBindings();
    (bind(arguments), ...);
  }
  /// \p sql must be static.
  template <class... Arguments>
  Query(Statements& statements, const std::string& sql, const Arguments&... arguments)
      : Query(statements, sql.c_str(), arguments...) {}
  ~Query() { statement_.tryReset(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  void bind(std::integral auto value) { statement_.bind(++bound_, static_cast<std::int64_t>(value)); }
  void bind(double value) { statement_.bind(++bound_, value); }
  void bind(const std::string& value) { statement_.bind(++bound_, value); }
  void bind(const Blob& value) {
    statement_.bind(++bound_, value.bytes.empty() ? "" : value.bytes.data(), static_cast<int>(value.bytes.size()));
  }
  template <class T>
  void bind(const std::optional<T>& value) {
    value ? bind(*value) : statement_.bind(++bound_);
  }

  bool next() {
    column_ = 0;
    return statement_.executeStep();
  }
  void run() {
    while (next()) {
    }
  }
  std::int64_t integer() { return statement_.getColumn(column_++).getInt64(); }
  /// NaN when the column is NULL.
  double real() {
    const auto value = statement_.getColumn(column_++);
    return value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.getDouble();
  }
  /// Text or blob; empty when the column is NULL.
  std::string text() {
    const auto value = statement_.getColumn(column_++);
    const auto* bytes = static_cast<const char*>(value.getBlob());
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(value.getBytes()));
  }
  /// Whether the next column is NULL.
  bool null() { return statement_.getColumn(column_).isNull(); }
  void skip() { ++column_; }

 private:
  SQLite::Statement& statement_;
  int bound_ = 0;
  int column_ = 0;
};

}  // namespace tuner::cache
