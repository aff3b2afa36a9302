#pragma once
/// JSON with its faults placed: what the readers of recordings share. Internal to the room.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <tuner/core/value.hpp>
#include <tuner/replay/recording.hpp>

namespace tuner::replay {

/// A text, what it holds, and where in the text that stands.
class JsonFile {
 public:
  /// Names of members and numbers of elements (from 0), from the outermost value inwards.
  using Path = std::vector<std::string>;

  /// \p text must outlive this. When it ends too early (an interrupted writer), the open brackets are closed; when
  /// that is not enough, what follows the last complete entry at depth 2 is dropped. Throws RecordingError with line
  /// and column when it is not JSON, nested too deeply or too large.
  JsonFile(std::string_view text, std::string origin);

  const nlohmann::json& root() const { return root_; }
  const std::string& origin() const { return origin_; }
  /// `file:line:column: ` of the value at \p path or, where there is none, of the innermost one around it.
  std::string place(const Path& path) const;

 private:
  std::string_view text_;
  std::string origin_;
  nlohmann::json root_;
};

/// A parameter's value: numbers that are not integers become text, because a Value has no fractions.
Value json_value(const nlohmann::json& value);

/// Member \p key of \p object as a number, \p fallback when it is absent or null. Throws RecordingError that begins
/// with \p place of the member for anything else.
double number_or(const nlohmann::json& object, const std::string& key, double fallback,
                 const std::function<std::string(const std::string& key)>& place);

/// True for rates such as GB/s, GFLOP/s, GFLOPS/W and GFLOP/J, of which more is better.
bool is_rate(std::string_view objective);
/// \p rate as a number of which less is better: ratios of reciprocals are those of the rates. Throws RecordingError
/// that begins with \p place where there is none.
double reciprocal(double rate, const std::string& place);

/// The formats that parse_recording() tells apart. Throw RecordingError.
Recording parse_kernel_tuner(const JsonFile& file);
Recording parse_t4(const JsonFile& file);

}  // namespace tuner::replay
