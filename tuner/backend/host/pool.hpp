#pragma once
/// Runs the blocks of a launch on a pool of operating-system threads, one for each core.

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/host/block_runner.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner::host {

class Pool {
 public:
  /// \p stack_bytes: of one kernel thread; 0: 64 KiB, 256 KiB under a sanitizer. \p max_shared: bytes of dynamic shared
  /// memory that a block may have. Throws Error when threads or stacks cannot be made.
  Pool(unsigned threads, std::size_t stack_bytes, std::size_t max_shared);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned threads() const;
  /// Runs all blocks of \p kernel in \p order and waits for their end. Sets kernel.stop, order and barrier. Returns the
  /// error, or nothing. \p timeout_s: 0 for none. One caller at a time. A cooperative kernel has at most threads()
  /// blocks.
  std::optional<std::variant<LaunchError, Timeout>> run(Kernel kernel, const ThreadOrder& order, double timeout_s);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tuner::host
