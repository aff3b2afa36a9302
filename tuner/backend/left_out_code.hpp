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

#include <tuner/backend/compiler.hpp>
#include <tuner/core/cpp/host_code.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {

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

/// Compiles a kernel's texts without the host code that a compiler refuses. Remembers which parts were left out, so
/// that other configurations compile at once. It remembers only parts that no kernel uses: with or without them, the
/// images are the same. Thread-safe.
class LeftOutCode {
 public:
  /// The texts of one request, and their compiler.
  struct Work {
    const CompileRequest& request;
    const std::vector<IncludedFile>& texts;
    std::string key;  ///< the digest of key_parts()
    /// The error for \p texts; nothing if they compile.
    std::function<std::optional<CompileError>(const std::vector<IncludedFile>& texts)> compile;
    std::function<std::vector<RefusedCode>(const std::string& log)> errors_in;
    /// Called when the errors are not in code that no kernel uses. Returns whether to compile once more.
    std::function<bool(HostCode& code, const std::vector<RefusedCode>& errors)> other_remedy;
    /// Whether to return an error at once, because it does not depend on the texts. May be null.
    std::function<bool(const CompileError&)> is_final = nullptr;
  };

  /// Everything that decides which host code is left out, without the values of macros.
  static std::vector<std::string_view> key_parts(const CompileRequest& request,
                                                 const std::vector<IncludedFile>& texts) {
    std::vector<std::string_view> parts{request.architecture};
    for (const IncludedFile& one : texts) parts.insert(parts.end(), {one.path, one.text});
    for (const auto* const list : {&request.defines, &request.include_paths})
      for (const std::string& one : *list) parts.push_back(one);
    for (const CompileOption& one : request.options) parts.push_back(one.text);
    for (const std::string& one : request.expressions)
      for (const std::string_view word : words_of(one)) parts.push_back(word);
    return parts;
  }

  /// Whether parts are remembered, at all or for \p key.
  bool knows_any() const {
    const std::lock_guard lock(mutex_);
    return !parts_.empty();
  }
  bool knows(const std::string& key) const { return !find(key).empty(); }

  /// Whether \p work compiles without the parts that are remembered for it. False if there are none.
  bool compiles_as_before(const Work& work) const {
    const std::set<HostCode::Part> parts = find(work.key);
    if (parts.empty()) return false;
    HostCode code(work.texts, work.request.expressions);
    code.leave_out(parts);
    const std::optional<CompileError> error = work.compile(code.texts());
    if (!error) return true;
    if (work.is_final && work.is_final(*error)) return false;
    return work.other_remedy(code, work.errors_in(error->log)) && !work.compile(code.texts());
  }

  /// Compiles the texts again and again, without the declarations that the compiler refuses. If it refuses what the
  /// kernels need, returns the errors that are left when all other code is gone.
  std::optional<CompileError> compile(const Work& work) {
    std::optional<CompileError> error = work.compile(work.texts), reported;
    if (!error) return std::nullopt;
    HostCode code(work.texts, work.request.expressions);
    for (; error; error = work.compile(code.texts())) {
      if (work.is_final && work.is_final(*error)) return error;
      if (misses_a_file(error->log))
        return with_all_missing(*error, HostCode(work.texts, work.request.expressions), work.errors_in, work.compile);
      const std::vector<RefusedCode> errors = work.errors_in(error->log);
      if (code.leave_out(errors, HostCode::Use::none) || work.other_remedy(code, errors)) continue;
      if (!reported) {
        reported = error;
        code.add_summary(reported->message, reported->log);
      }
      if (!code.leave_out(errors, HostCode::Use::perhaps)) return reported;
    }
    if (!reported) remember(work.key, code.parts());
    return std::nullopt;
  }

 private:
  std::set<HostCode::Part> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto at = parts_.find(key);
    return at == parts_.end() ? std::set<HostCode::Part>() : at->second;
  }
  void remember(const std::string& key, const std::set<HostCode::Part>& parts) {
    const std::lock_guard lock(mutex_);
    parts_[key] = parts;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::set<HostCode::Part>> parts_;
};

}  // namespace tuner
