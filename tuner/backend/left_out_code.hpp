#pragma once
/// Both compilers leave host code out of a kernel's texts in the same way (core/cpp/host_code.hpp).

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/cpp/host_code.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {

/// Remembers which parts were left out of texts, so that their other configurations compile at once. Only parts that no
/// kernel uses belong here: with or without them, the images are the same. Thread-safe.
class LeftOutCode {
 public:
  using Parts = std::set<HostCode::Part>;

  /// Empty if nothing is known.
  Parts known(const CompileRequest& request, const std::vector<IncludedFile>& texts) const {
    const std::string key = key_of(request, texts);
    const std::lock_guard lock(mutex_);
    const auto at = parts_.find(key);
    return at == parts_.end() ? Parts() : at->second;
  }
  void keep(const CompileRequest& request, const std::vector<IncludedFile>& texts, const Parts& parts) {
    std::string key = key_of(request, texts);
    const std::lock_guard lock(mutex_);
    parts_[std::move(key)] = parts;
  }

 private:
  /// All that decides which host code is left out, without the values of macros.
  static std::string key_of(const CompileRequest& request, const std::vector<IncludedFile>& texts) {
    std::vector<std::string_view> parts{request.architecture};
    for (const IncludedFile& one : texts) parts.insert(parts.end(), {one.path, one.text});
    for (const auto* const list : {&request.defines, &request.include_paths})
      for (const std::string& one : *list) parts.push_back(one);
    for (const CompileOption& one : request.options) parts.push_back(one.text);
    for (const std::string& one : request.expressions)
      for (const std::string_view word : words_of(one)) parts.push_back(word);
    std::string key;
    for (const std::string_view part : parts) key.append(std::to_string(part.size())).append(":").append(part);
    return key;
  }

  mutable std::mutex mutex_;
  std::map<std::string, Parts> parts_;
};

/// \p error, which says that a file is missing that \p code includes, with all others that are: a compiler ends at the
/// first. \p errors_in reads a log. \p compile: the error for texts, if there is one.
inline CompileError with_all_missing(
    CompileError error, HostCode code, const std::function<std::vector<RefusedCode>(const std::string&)>& errors_in,
    const std::function<std::optional<CompileError>(const std::vector<IncludedFile>&)>& compile) {
  std::vector<std::string> names;
  for (std::optional<CompileError> next = error; next && misses_a_file(next->log);) {
    const std::vector<RefusedCode> errors = errors_in(next->log);
    std::optional<std::string> name = errors.empty() ? std::nullopt : code.take_include(errors.back().place);
    if (!name) break;
    if (!contains(names, *name)) names.push_back(*std::move(name));
    next = compile(code.texts());
  }
  if (!names.empty()) names.erase(names.begin());  // the error names it
  error.message = with_other_missing(std::move(error.message), names);
  return error;
}

}  // namespace tuner
