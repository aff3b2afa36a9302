#pragma once
/// Catches the output of kernels. They write to the process's standard output directly, not through a stream object.

#include <string>

namespace tuner::cli {

/// Redirects standard output for its lifetime. One object at a time.
class OutputCapture {
 public:
  enum class Keep { nothing, text };
  explicit OutputCapture(Keep keep);
  ~OutputCapture();  ///< restores standard output
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// The output so far, at most its first MiB; empty for Keep::nothing.
  std::string text() const;

 private:
  int before_ = -1;  // standard output as it was
  int target_ = -1;
  Keep keep_;
};

}  // namespace tuner::cli
