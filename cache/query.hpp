#pragma once
/// Prepared statements that are made once and run with their arguments. Private to this room.

#include <cstddef>
#include <cstdint>
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
  /// Prepared at first use. \p literal must live as long as this.
  SQLite::Statement& statement(const char* literal) {
    auto& slot = statements_[literal];
    if (!slot) slot = std::make_unique<SQLite::Statement>(*connection_, literal);
    return *slot;
  }
  SQLite::Database& connection() { return *connection_; }

 protected:
  std::shared_ptr<SQLite::Database> connection_;
  std::unordered_map<const void*, std::unique_ptr<SQLite::Statement>> statements_;  // go before the connection
};

struct Blob {
  std::string_view bytes;
};

/// One run of a prepared statement with its arguments; resets it in the end, so that no lock stays behind.
class Query {
 public:
  template <class... Arguments>
  Query(Statements& statements, const char* literal, const Arguments&... arguments)
      : statement_(statements.statement(literal)) {
    statement_.tryReset();
    statement_.clearBindings();
    int place = 0;
    (bind(++place, arguments), ...);
  }
  ~Query() { statement_.tryReset(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  bool next() { return statement_.executeStep(); }
  void run() {
    while (next()) {
    }
  }
  std::int64_t integer(int column) { return statement_.getColumn(column).getInt64(); }
  /// NaN when absent.
  double real(int column);
  bool null(int column) { return statement_.getColumn(column).isNull(); }
  std::string text(int column);

 private:
  void bind(int place, std::int64_t value) { statement_.bind(place, value); }
  void bind(int place, int value) { statement_.bind(place, value); }
  void bind(int place, bool value) { statement_.bind(place, value ? 1 : 0); }
  void bind(int place, double value) { statement_.bind(place, value); }
  void bind(int place, const std::string& value) { statement_.bind(place, value); }
  void bind(int place, const Blob& value) {
    statement_.bind(place, value.bytes.empty() ? "" : value.bytes.data(), static_cast<int>(value.bytes.size()));
  }
  void bind(int place, std::nullptr_t) { statement_.bind(place); }
  template <class T>
  void bind(int place, const std::optional<T>& value) {
    value ? bind(place, *value) : bind(place, nullptr);
  }

  SQLite::Statement& statement_;
};

}  // namespace tuner::cache
