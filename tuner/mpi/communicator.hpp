#pragma once
/// The processes of an MPI job and the frames that they send each other. All of MPI is called here, and by one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::mpi {

/// What a frame says of a worker, which is named by its channel.
enum class FrameKind : std::uint8_t {
  start,    ///< start one for this channel
  data,     ///< bytes of its pipe, of the worker protocol
  said,     ///< bytes that it wrote on standard output or error
  kill,     ///< end it
  stopped,  ///< it was stopped, or went on
  ended,    ///< it has ended; bytes: 1 when that came from outside, else 0, then the text
  quit,     ///< of no worker: the job is done
};

struct Frame {
  int rank = 0;  ///< who sent it
  FrameKind kind = FrameKind::quit;
  std::uint64_t channel = 0;
  std::vector<std::byte> bytes;
};

/// Bytes of one frame at most; a longer one is refused.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 20;
/// Frames that are taken between two looks at the pipes.
inline constexpr int kFramesATurn = 64;

class Communicator {
 public:
  /// Joins the job. What MPI finds wrong later ends the job, as MPI jobs do.
  Communicator(int& argc, char**& argv);
  /// Leaves it; waits until all others do.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Number among the ranks of this host, and how many these are.
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }

  /// Ends all ranks with an error.
  [[noreturn]] void abort();

  /// \p text of rank 0, on all ranks. Called by all.
  std::string broadcast(std::string text);
  /// Each rank's \p text, on rank 0; nothing on the others. Called by all.
  std::vector<std::string> gather(const std::string& text);

  /// Returns at once; frames from here to there arrive in order. \p bytes are cut to frames of kMaxFrameBytes.
  void send(int rank, FrameKind kind, std::uint64_t channel, std::span<const std::byte> bytes = {});
  /// A frame that has arrived. Throws Error for one that is no frame of ours.
  std::optional<Frame> receive();
  /// How many frames sent have not left yet.
  std::size_t sending();

 private:
  struct Sending;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  std::vector<std::unique_ptr<Sending>> sending_;
};

}  // namespace tuner::mpi
