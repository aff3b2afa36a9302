#pragma once
/// Workers that other ranks run for rank 0. A Hub on rank 0 and relay() on the others carry the bytes of their pipes. A
/// session uses such a worker like a local one (WorkerLink).

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <tuner/mpi/communicator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner::mpi {

/// Rank 0's end.
class Hub {
 public:
  /// \p world must outlive this object. Throws WorkerError.
  explicit Hub(Communicator& world);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  /// Starts a worker on \p rank. Thread-safe. Throws WorkerError when there are no descriptors left.
  std::unique_ptr<worker::WorkerLink> start(int rank);
  /// Carries bytes until finish() is called, then ends all ranks. Call it on the thread of \p world.
  void run();
  /// Thread-safe. Call it when all workers have ended.
  void finish();

 private:
  struct Channel;
  class RemoteWorker;
  using Task = std::function<void()>;
  void post(Task task);
  void take_tasks();
  void carry(const std::vector<pollfd>& fds);
  void arrived(Frame frame);

  Communicator& world_;
  const int wake_fd_;
  std::mutex mutex_;
  std::vector<Task> tasks_;
  std::atomic<bool> finished_ = false;
  std::atomic<std::uint64_t> next_channel_ = 1;
  std::map<std::uint64_t, std::shared_ptr<Channel>> channels_;  // of workers that have not ended
  std::vector<std::byte> buffer_;
};

/// The work of the other ranks: starts workers on its host. Runs until rank 0 ends the job, then kills workers that
/// still run. \p program: the worker program.
void relay(Communicator& world, const std::filesystem::path& program);

}  // namespace tuner::mpi
