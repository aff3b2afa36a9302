#pragma once
/// What kernels print while they run: they write to the process's standard output, past every stream object.

#include <string>

namespace tuner::cli {

/// Takes standard output away for its lifetime. One at a time.
class OutputCapture {
 public:
  enum class Keep { nothing, text };
  explicit OutputCapture(Keep keep);
  ~OutputCapture();  ///< gives standard output back
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// What was written so far, at most its first MiB; empty for Keep::nothing.
  std::string text() const;

 private:
  int before_ = -1;  // standard output as it was
  int target_ = -1;
  Keep keep_;
};

}  // namespace tuner::cli
