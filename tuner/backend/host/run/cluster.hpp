#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tuner/backend/host/run/block_runner.hpp>

namespace tuner::host {

/// Runs one thread-block cluster after the other. A cluster of one block is the usual case and needs no threads.
///
/// Each block of a cluster has its own operating-system thread, because static shared memory is thread_local. The
/// threads take turns: a block runs until its threads wait, so that the order of all threads of a cluster is known. All
/// functions but request_stop() are for one operating-system thread, which runs the first block of each cluster.
class Cluster {
 public:
  /// The most blocks of a cluster: CUDA's limit for one that is not portable.
  static constexpr unsigned kMostBlocks = 16;

  explicit Cluster(const RunnerLimits& limits);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Makes threads for clusters of \p blocks. Call this between launches. Throws Error if the system has none.
  void grow(unsigned blocks);
  /// Blocks for which there are threads.
  unsigned most_blocks() const { return static_cast<unsigned>(members_.size()); }

  /// Before the first cluster of a launch. If it throws, end() is next.
  void begin(const Kernel& kernel);
  /// Runs cluster number \p index. Returns its error, or nothing, also if it ends because of kernel.stop.
  std::optional<std::string> run(std::uint64_t index);
  /// After the last cluster of a launch. Returns an error that no cluster has reported, or nothing.
  std::optional<std::string> end();
  /// As of the BlockRunner that failed in the last run().
  const void* fault_address() const { return fault_address_; }
  /// The cluster that the kernel of the last run() requires (`__cluster_dims__`), if run() failed because of it.
  std::optional<std::array<unsigned, 3>> required() const { return required_; }
  /// Asks all threads of the cluster but the caller of run() to leave their kernel. For any thread.
  void request_stop();

  // For the blocks, in their turns.

  /// Lets other blocks run until it is the turn of block \p rank again. False if no other block can run.
  bool pass_turn(unsigned rank);
  void wake_all();
  /// When no thread can run: lets those continue that wait only for some time. False if there are none, or if they have
  /// waited so often without any change that the others wait for ever.
  bool wake_bounded();
  /// A thread arrives at the barrier of the cluster. Returns the number of the phase that its arrival belongs to.
  std::uint64_t arrive();
  std::uint64_t phase() const { return phase_; }
  /// A thread that has arrived in this phase returns: it is no longer among those that must arrive.
  void take_back_arrival() { --arrived_; }
  /// Call it when a thread has returned, which no longer needs to arrive.
  void complete_barrier();

 private:
  enum class Task { begin, run, end, quit };

  void loop(unsigned rank);
  void execute(unsigned rank);
  void do_on_others(Task task);
  void give_turn(unsigned rank);
  void wait_for_turn(unsigned rank);
  bool can_run(unsigned rank) const { return !finished_[rank] && members_[rank]->can_run(); }
  /// The block that runs after \p rank: the next that can. If there is none, one that has not ended, which then reports
  /// that no thread can continue. The first if all have ended.
  unsigned next_after(unsigned rank) const;

  const RunnerLimits limits_;
  std::vector<std::unique_ptr<BlockRunner>> members_;
  std::vector<std::thread> threads_;  // of the members but the first
  std::vector<tuner_host::Block*> blocks_;
  std::array<bool, kMostBlocks> finished_{};

  std::mutex mutex_;
  std::array<std::condition_variable, kMostBlocks> given_;
  unsigned turn_ = 0;  // guarded by mutex_; the other members belong to the thread whose turn it is

  Task task_ = Task::begin;
  Kernel kernel_;
  unsigned size_ = 1;  // blocks of a cluster of this launch
  std::uint64_t phase_ = 0;
  unsigned arrived_ = 0;
  unsigned woken_in_vain_ = 0;  // threads, since the last change
  std::optional<std::string> end_error_;
  std::exception_ptr failure_;  // of begin() on another thread
  const void* fault_address_ = nullptr;
  std::optional<std::array<unsigned, 3>> required_;
};

}  // namespace tuner::host
