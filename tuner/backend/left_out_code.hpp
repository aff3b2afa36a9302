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
/// that other configurations compile at once. It remembers only what changes no image: parts that no kernel uses, and
/// remedies that every configuration of the texts needs. Thread-safe.
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
    /// Whether one of the errors comes again for each configuration of the texts. May be null: none does.
    std::function<bool(const std::vector<RefusedCode>& errors)> comes_again = nullptr;
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

  /// Whether something is remembered, at all or for \p key: the texts do not compile as they are.
  bool knows_any() const {
    const std::lock_guard lock(mutex_);
    return !known_.empty();
  }
  bool knows(const std::string& key) const { return find(key).has_value(); }
  /// Remembers that no configuration of the texts of \p key compiles as they are.
  void remember_refused(const std::string& key) { remember(key, {}); }

  /// Whether \p work compiles without the parts, and with the remedy, that are remembered for it. False if there are
  /// none.
  bool compiles_as_before(const Work& work) const {
    const std::optional<Known> known = find(work.key);
    if (!known || (known->parts.empty() && !known->with_other_remedy)) return false;
    HostCode code(work.texts, work.request.expressions);
    code.leave_out(known->parts);
    if (known->with_other_remedy && !work.other_remedy(code, {})) return false;
    const std::optional<CompileError> error = work.compile(code.texts());
    if (!error) return true;
    if (known->with_other_remedy || (work.is_final && work.is_final(*error))) return false;
    return work.other_remedy(code, work.errors_in(error->log)) && !work.compile(code.texts());
  }

  /// Compiles the texts again and again, without the declarations that the compiler refuses. If it refuses what the
  /// kernels need, returns the errors that are left when all other code is gone.
  std::optional<CompileError> compile(const Work& work) {
    std::optional<CompileError> error = work.compile(work.texts), reported;
    if (!error) return std::nullopt;
    HostCode code(work.texts, work.request.expressions);
    bool always_needs_remedy = false;
    for (; error; error = work.compile(code.texts())) {
      if (work.is_final && work.is_final(*error)) return error;
      if (misses_a_file(error->log))
        return with_all_missing(*error, HostCode(work.texts, work.request.expressions), work.errors_in, work.compile);
      const std::vector<RefusedCode> errors = work.errors_in(error->log);
      if (code.leave_out(errors, HostCode::Use::none)) continue;
      if (work.other_remedy(code, errors)) {
        always_needs_remedy = work.comes_again && work.comes_again(errors);
        continue;
      }
      if (!reported) {
        reported = error;
        code.add_summary(reported->message, reported->log);
      }
      if (!code.leave_out(errors, HostCode::Use::perhaps)) return reported;
    }
    if (!reported && (!code.parts().empty() || always_needs_remedy))
      remember(work.key, {code.parts(), always_needs_remedy});
    return std::nullopt;
  }

 private:
  struct Known {
    std::set<HostCode::Part> parts;
    bool with_other_remedy = false;
  };

  std::optional<Known> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(key);
    return at == known_.end() ? std::nullopt : std::optional(at->second);
  }
  void remember(const std::string& key, Known known) {
    const std::lock_guard lock(mutex_);
    known_[key] = std::move(known);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;
};

}  // namespace tuner
