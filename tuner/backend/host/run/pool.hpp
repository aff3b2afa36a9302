#pragma once
/// Runs the clusters of a launch, each usually one block, on a pool of operating-system threads, one for each core.
/// Turns faults inside kernels into errors of their launch, and stops kernels that do not end.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/host/run/cluster.hpp>
#include <tuner/backend/host/run/faults.hpp>
#include <tuner/core/result/outcome.hpp>

namespace tuner::host {

class Pool {
 public:
  /// \p max_shared: bytes of dynamic shared memory that a block may have. Throws Error when threads or stacks cannot be
  /// made.
  Pool(unsigned threads, std::size_t max_shared);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(threads_.size()); }
  using Failure = std::variant<LaunchError, Timeout>;
  /// Runs all blocks of \p kernel in \p order and waits for their end. Sets kernel.stop, order and barrier. Returns the
  /// error, or nothing. \p timeout_s: 0 for none. One caller at a time. A cooperative kernel has at most threads()
  /// blocks. If kernel.cluster is not set, the kernel's own (`__cluster_dims__`) is used.
  std::optional<Failure> run(Kernel kernel, const ThreadOrder& order, double timeout_s);

 private:
  Pool() = default;
  void set_order(const ThreadOrder& order, std::size_t threads_of_block);
  void stop_all() { __atomic_store_n(&stop_, 1, __ATOMIC_RELEASE); }
  std::optional<LaunchError> set_clusters();
  std::optional<Failure> run_once(const Kernel& kernel, const ThreadOrder& order, double timeout_s);
  void begin(Cluster& cluster);
  void work(Cluster& cluster);
  static std::optional<std::string> run_cluster(Cluster& cluster, std::uint64_t index);
  void loop(Cluster& cluster);

  FaultHandlers handlers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::vector<std::unique_ptr<Cluster>> clusters_;  // one for each thread
  std::vector<std::thread> threads_;
  std::uint64_t launch_ = 0;  // number of the current launch; changes wake the workers
  unsigned busy_ = 0;         // workers that run blocks of it
  bool open_ = false;         // it has clusters that no worker has begun
  bool quit_ = false;
  Kernel kernel_;
  unsigned cluster_blocks_ = 1;
  std::uint64_t count_ = 0, chunk_ = 1;  // of clusters
  bool backwards_ = false;               // the last one runs first
  std::vector<unsigned short> thread_order_;
  std::atomic<std::uint64_t> next_{0};
  int stop_ = 0;  // atomic access only
  std::optional<LaunchError> failure_;
  std::optional<std::array<unsigned, 3>> required_;  // clusters that failure_ asks for
  GridBarrier barrier_;
};

}  // namespace tuner::host
