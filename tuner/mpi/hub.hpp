#pragma once
/// Rank 0's end of the workers that other ranks run: carries bytes between local pipes and the ranks. A session uses
/// such a worker like a local one (WorkerLink).

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <tuner/mpi/byte_queue.hpp>
#include <tuner/mpi/communicator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner::mpi {

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
  ByteReader reader_;
};

}  // namespace tuner::mpi
