#pragma once
/// A configuration: one value for each tuning parameter of a kernel. It is stored and exchanged as names and values,
/// never as an index into a space, so that it stays valid when the space changes.

#include <compare>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/values/value.hpp>

namespace tuner {

/// Names, and the values that they stand for while an expression is evaluated.
class Bindings {
 public:
  using Entry = std::pair<std::string, Value>;

  void set(std::string_view name, Value value);
  /// The value of \p name, or nullptr. Valid until the next set().
  const Value* find(std::string_view name) const;
  /// Entries sorted by name.
  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<std::string> names() const;
  bool empty() const { return entries_.empty(); }

  friend bool operator==(const Bindings&, const Bindings&) = default;
  friend auto operator<=>(const Bindings&, const Bindings&) = default;

 private:
  std::vector<Entry> entries_;  // sorted by name, names unique
};

class Configuration : public Bindings {
 public:
  Configuration() = default;
  Configuration(std::initializer_list<Entry> entries);

  /// Canonical text: `block_x=32 block_y=8 vector=1`, sorted by name. Equal configurations have equal text.
  std::string text() const;
  /// Inverse of text(). Entries are separated by blanks or commas. Throws std::invalid_argument, which names the part
  /// that is not `name=value` or that repeats a name.
  static Configuration parse(std::string_view text);

  friend bool operator==(const Configuration&, const Configuration&) = default;
  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

}  // namespace tuner
