#pragma once
/// The processes of an MPI job and the frames that they send each other. Only this class calls MPI, in one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::mpi {

/// The content of a frame about a worker, which its channel identifies.
enum class FrameKind : std::uint8_t {
  start,  ///< start a worker for this channel
  data,   ///< bytes of its pipe, in the worker protocol
  said,   ///< bytes from its standard output or error
  kill,   ///< kill it

  stopped,  ///< it was stopped or continued
  ended,    ///< it has ended; bytes: 1 if something outside ended it, else 0, then the text
  quit,     ///< about no worker: the job is done
};

struct Frame {
  int rank = 0;  ///< the sender
  FrameKind kind = FrameKind::quit;
  std::uint64_t channel = 0;
  std::vector<std::byte> bytes;
};

/// The largest number of bytes in a frame; longer ones are refused.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 20;

class Communicator {
 public:
  /// Joins the job. A later MPI error ends the whole job, as usual with MPI.
  Communicator(int& argc, char**& argv);
  /// Leaves the job; waits until all others do.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The number of this rank on this host.
  int local_rank() const { return local_rank_; }

  /// Ends all ranks with an error.
  [[noreturn]] void abort();

  /// Returns rank 0's \p text on all ranks. All ranks must call it.
  std::string broadcast(std::string text);
  /// Returns each rank's \p text on rank 0, and nothing on the others. All ranks must call it.
  std::vector<std::string> gather(const std::string& text);

  /// Returns at once. Frames between two ranks arrive in order. Splits \p bytes into frames of kMaxFrameBytes.
  void send(int rank, FrameKind kind, std::uint64_t channel, std::span<const std::byte> bytes = {});
  /// A frame that has arrived; nullopt: none. Throws Error for an invalid one.
  std::optional<Frame> receive();
  /// The number of frames that are still being sent.
  std::size_t sending();

 private:
  struct Sending;
  int rank_ = 0, size_ = 1, local_rank_ = 0;
  std::vector<std::unique_ptr<Sending>> sending_;
};

}  // namespace tuner::mpi
