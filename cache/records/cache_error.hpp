#pragma once
/// The cache throws exceptions for misuse and for files that the caller named and that cannot be read. It warns of
/// everything that a program survives: a broken cache is never fatal.
///
/// A question to a database has three kinds of answer: something is known, nothing is known, and Unavailable. Nothing
/// follows from the third: do not store it, and ask again later. Without memory, every function throws std::bad_alloc.

#include <functional>
#include <string>

#include <tuner/error.hpp>

namespace tuner::cache {

/// what() names what happened, the file, and what to do.
class CacheError : public Error {
 public:
  explicit CacheError(const std::string& message) : Error(ErrorCode::cache, message) {}
};

/// A file could not be asked now: it is locked, a disk failed, or no file descriptor was free. It may be sound and
/// answer the next time.
class Unavailable : public CacheError {
 public:
  using CacheError::CacheError;
};

/// Returns the answer of \p ask, or an empty one if a database was unavailable. For work that continues without it. The
/// database has already warned.
template <class Ask>
auto answer_or_nothing(const Ask& ask) -> decltype(ask()) try {
  return ask();
} catch (const Unavailable&) {
  return {};
}

/// Text from outside that cannot be imported. what() is `FILE:LINE: message`.
class ImportError : public CacheError {
 public:
  ImportError(const std::string& source, int line, const std::string& message)
      : CacheError(source + ':' + std::to_string(line) + ": " + message) {}
};

/// Receives one sentence for each kind of trouble, once for each file. Any thread that uses the database may call it.
/// It must not throw and must not call the database. Empty: warnings are dropped.
using WarningSink = std::function<void(const std::string&)>;

}  // namespace tuner::cache
