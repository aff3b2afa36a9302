#pragma once
/// The device memory that calls work in, owned by one context and bounded: one space for each stream in use, which
/// launches on that stream share because they run in order, and spaces lent to captured launches, each for as long as a
/// graph made of the capture exists.
///
/// A space has a part that is zero before a launch and zero again after it (`zeroed` buffers), and a part with any
/// contents (`scratch`), so that different kernels can use it in turn.
///
/// Two executable graphs made of one capture share its spaces, as they share the pointers that the caller captured, the
/// output among them: like any graph with temporary memory they are replayed one after the other.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/gpu.hpp>

namespace tuner {

struct WorkNeed {
  std::size_t zeroed = 0, scratch = 0;  ///< bytes, multiples of kWorkAlignment
  std::size_t bytes() const { return zeroed + scratch; }
  bool none() const { return bytes() == 0; }
  bool within(const WorkNeed& other) const { return zeroed <= other.zeroed && scratch <= other.scratch; }
};
inline constexpr std::size_t kWorkAlignment = 256;

struct WorkSpace {
  DevicePointer zeroed = 0, scratch = 0;
};

class WorkSpaces {
 public:
  /// At once; when more are in use, the context is waited for once and all spaces go to other streams.
  static constexpr std::size_t kMaxStreams = 256;

  WorkSpaces(Backend& backend, const ContextName& context);

 private:
  struct Owned {
    std::unique_ptr<DeviceMemory> memory;
    WorkNeed size;
    WorkSpace space;
  };
  struct Slot {
    std::atomic<std::uint64_t> stream{0};  ///< 0: free
    std::atomic<unsigned> users{0};        ///< calls that are between finding their space and having enqueued
    std::atomic<const Owned*> owned{nullptr};
    std::atomic_flag in_turn = ATOMIC_FLAG_INIT;
  };

 public:
  /// The space of one stream while a call enqueues its launches. One thread has it at a time, and the others wait. A
  /// call's launches may hand results to each other in it. Another call's launch between them would overwrite those.
  class Lease {
   public:
    Lease(WorkSpaces& owner, std::uint64_t stream, const WorkNeed& need);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    const WorkSpace& space() const { return space_; }

   private:
    Slot* slot_;
    WorkSpace space_;
  };

  /// Makes room for leases of \p stream and, where there are captures, for \p captures more captured launches.
  void prepare(std::uint64_t stream, const WorkNeed& need, std::size_t captures);
  /// Captured launches that the first lease of a space makes room for by itself, so that a program that has called
  /// before may capture.
  static constexpr std::size_t kCapturesUnasked = 4;
  /// A space that \p graph keeps; nothing is allocated. Nothing when there is not room enough.
  std::optional<WorkSpace> lend(void* graph, const WorkNeed& need);
  /// The caller's own \p bytes at \p memory, laid out, the zeroed part set to zero on \p stream. Throws Error when that
  /// is too little or not aligned to kWorkAlignment.
  WorkSpace lay_out(std::string_view kernel, void* memory, std::size_t bytes, const WorkNeed& need, void* stream) const;

 private:
  /// Spaces that are lent to graphs and come back from a thread of the driver's, perhaps after everything else is gone.
  struct Reserve;
  struct Loan;

  Slot* find(std::uint64_t stream, const WorkNeed& need);
  Slot* enter(std::uint64_t stream, const WorkNeed& need);
  Owned allocate(const WorkNeed& need) const;
  void prepare_captures(const WorkNeed& need, std::size_t count);
  void recycle();

  Backend& backend_;
  ContextName context_;
  std::array<Slot, 2 * kMaxStreams> slots_;  // probed linearly; at most half full
  std::mutex growing_;                       // of all below
  std::size_t streams_ = 0;
  std::vector<std::unique_ptr<Owned>> in_use_, idle_;
  std::shared_ptr<Reserve> reserve_;
};

}  // namespace tuner
