#pragma once
/// JSON with its faults placed: what the readers of recordings share. Internal to the room.

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <tuner/core/value.hpp>
#include <tuner/replay/recording.hpp>

namespace tuner::replay {

/// A text, what it holds, and where in the text that stands.
class JsonFile {
 public:
  /// \p text must outlive this. When it ends too early (an interrupted writer), the open brackets are closed, and an
  /// entry at depth 2 that is not complete is dropped. Throws RecordingError with line and column when it is not JSON
  /// or nested too deeply, and without when it is too large.
  JsonFile(std::string_view text, std::string origin);

  const nlohmann::json& root() const { return root_; }
  const std::string& origin() const { return origin_; }

  /// Throws RecordingError: `file:line:column: ` of member \p key of \p object (a value in root()) or, where there is
  /// none, of \p object itself, then \p complaint.
  [[noreturn]] void fail(const nlohmann::json& object, const std::string& key, const std::string& complaint) const;

 private:
  std::string_view text_;
  std::string origin_;
  nlohmann::json root_;
};

/// Complains of a member of an object: JsonFile::fail(), perhaps with more words.
using Fail = std::function<void(const nlohmann::json& object, const std::string& key, const std::string& complaint)>;

/// Member \p key of \p object; null when there is none, or \p object is something else.
const nlohmann::json& member(const nlohmann::json& object, const std::string& key);
/// That, when it is text, else nothing.
std::string text_or_empty(const nlohmann::json& object, const std::string& key);
/// That as a number, \p fallback when it is absent or null. Fails for anything else.
double number_or(const nlohmann::json& object, const std::string& key, double fallback, const Fail& fail);
/// The same of a time: fails where it is negative.
double time_or(const nlohmann::json& object, const std::string& key, double fallback, const Fail& fail);
/// That as a number of which less is better: of a rate the reciprocal, because ratios of reciprocals are those of the
/// rates. \p name: of the objective. Fails where a rate is not above 0, or a time negative. Precondition: it is a
/// number.
double objective(const nlohmann::json& object, const std::string& key, std::string_view name, bool rate,
                 const Fail& fail);

/// A parameter's value: numbers that are not integers become text, because a Value has no fractions.
Value json_value(const nlohmann::json& value);

/// True for rates such as GB/s, GFLOP/s, GFLOPS/W and GFLOP/J, of which more is better.
bool is_rate(std::string_view objective);

/// The formats that parse_recording() tells apart. Throw RecordingError.
Recording parse_kernel_tuner(const JsonFile& file);
Recording parse_t4(const JsonFile& file);

}  // namespace tuner::replay
