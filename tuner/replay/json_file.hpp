#pragma once
/// JSON whose errors have a place; shared by the readers of recordings. Internal to the room.

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <tuner/core/value.hpp>
#include <tuner/replay/recording.hpp>

namespace tuner::replay {

/// A JSON text, its value, and the place of each part of the value in the text.
class JsonFile {
 public:
  /// \p text must outlive this. If it ends too early because its writer was interrupted, open brackets are closed, and
  /// an incomplete entry at depth 2 is dropped. Throws RecordingError with line and column when \p text is not JSON or
  /// nested too deeply, and without a place when it is too large.
  JsonFile(std::string_view text, std::string origin);

  const nlohmann::json& root() const { return root_; }
  const std::string& origin() const { return origin_; }

  /// Throws RecordingError: `file:line:column: ` and \p complaint. The place is that of member \p key of \p object,
  /// a value in root(), or of \p object itself if it has no such member.
  [[noreturn]] void fail(const nlohmann::json& object, const std::string& key, const std::string& complaint) const;

 private:
  std::string_view text_;
  std::string origin_;
  nlohmann::json root_;
};

/// Complains about a member of an object: JsonFile::fail(), perhaps with more words.
using Fail = std::function<void(const nlohmann::json& object, const std::string& key, const std::string& complaint)>;

/// Member \p key of \p object; null when it is missing or \p object is not an object.
const nlohmann::json& member(const nlohmann::json& object, const std::string& key);
/// The text of this member; empty when it is not text.
std::string text_or_empty(const nlohmann::json& object, const std::string& key);
/// This member as a number; \p fallback when it is absent or null. Fails for anything else.
double number_or(const nlohmann::json& object, const std::string& key, double fallback, const Fail& fail);
/// As number_or(), for a time. Fails if it is negative.
double time_or(const nlohmann::json& object, const std::string& key, double fallback, const Fail& fail);
/// This member as a number of which less is better. A rate becomes its reciprocal, because ratios of reciprocals are
/// ratios of rates. \p name: of the objective. Fails if a rate is not above 0 or a time is negative. Precondition: the
/// member is a number.
double objective(const nlohmann::json& object, const std::string& key, std::string_view name, bool rate,
                 const Fail& fail);

/// A parameter's value: numbers that are not integers become text, because a Value has no fractions.
Value json_value(const nlohmann::json& value);

/// True for rates such as GB/s, GFLOP/s, GFLOPS/W and GFLOP/J, of which more is better.
bool is_rate(std::string_view objective);

/// Readers of the two JSON formats of parse_recording(). They throw RecordingError.
Recording parse_kernel_tuner(const JsonFile& file);
Recording parse_t4(const JsonFile& file);

}  // namespace tuner::replay
