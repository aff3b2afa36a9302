#pragma once
/// The work space of calls in one context, with bounded size. Each stream in use has one space. The launches on a
/// stream share it because they run in order. Captured launches borrow other spaces until all graphs of their capture
/// are destroyed.
///
/// A space has two parts: one that is zero before and after each launch (`zeroed` buffers), and one with any contents
/// (`scratch`). Different kernels can therefore use it in turn.
///
/// Executable graphs of one capture share its spaces, as they share the captured pointers and so the output. Like all
/// graphs with temporary memory, they must be replayed one after the other.

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
  /// Streams with a space at the same time. One more stream waits for the context and takes all spaces back.
  static constexpr std::size_t kMaxStreams = 256;
  /// Retired spaces, and bytes in them. Above these limits, a call waits for the context to make them available again.
  static constexpr std::size_t kMaxRetired = 4096, kMaxRetiredBytes = std::size_t{64} << 20;

  WorkSpaces(Backend& backend, const ContextName& context);

 private:
  struct Owned {
    std::unique_ptr<DeviceMemory> memory;
    WorkNeed size;
    WorkSpace space;
  };
  struct alignas(64) Slot {               // a cache line for each stream
    std::atomic<std::uint64_t> place{0};  ///< of its stream; 0: free
    std::atomic<std::uint64_t> id{0};     ///< of its stream; 0: the space is being exchanged
    std::atomic<unsigned> users{0};       ///< calls that have found their space and are still enqueueing
    std::atomic_flag in_turn = ATOMIC_FLAG_INIT;
    std::unique_ptr<Owned> owned;  ///< changes only while there is neither an id nor a user
  };

 public:
  /// The space of one stream while a call enqueues its launches. One thread has it at a time; the others sleep. The
  /// launches of a call may pass results to each other in it, so no launch of another call may come between them.
  class Lease {
   public:
    Lease(WorkSpaces& owner, const StreamName& stream, const WorkNeed& need);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    const WorkSpace& space() const { return slot_.owned->space; }
    /// After a launch on \p stream failed: sets the zeroed part to zero again, as far as the device still can.
    void clear(void* stream) noexcept;

   private:
    WorkSpaces& owner_;
    Slot& slot_;
  };

  /// Makes room for leases of \p stream and for \p captures more captured launches, of which the caller made room for
  /// \p known before. Room that others made is not counted.
  void prepare(const StreamName& stream, const WorkNeed& need, std::size_t captures, std::size_t known);
  /// A space for \p graph, which keeps it. Does not allocate; returns nothing if no space is large enough.
  std::optional<WorkSpace> lend(void* graph, const WorkNeed& need);
  /// Frees every space that no graph has and no call needs at this moment. Waits for the context.
  void trim();
  /// A space in the caller's \p bytes at \p memory. Sets its zeroed part to zero on \p stream. Throws Error if \p bytes
  /// are too few or not aligned to kWorkAlignment.
  WorkSpace lay_out(std::string_view kernel, void* memory, std::size_t bytes, const WorkNeed& need, void* stream) const;

 private:
  /// Spaces for graphs. A thread of the driver returns them, perhaps after the WorkSpaces were destroyed.
  struct Reserve;
  struct Loan;

  Slot* find(const StreamName& stream, const WorkNeed& need);
  Slot& enter(const StreamName& stream, const WorkNeed& need);
  Slot& slot_of(std::uint64_t place);
  std::unique_ptr<Owned> obtain(const WorkNeed& need);
  Owned allocate(const WorkNeed& need);
  Owned allocate_now(const WorkNeed& need) const;
  void retire(Slot& slot);
  void take_all();
  void settle();
  void give_back_unused();

  Backend& backend_;
  ContextName context_;
  std::array<Slot, 2 * kMaxStreams> slots_;  // a hash table with linear probing, at most half full
  std::mutex growing_;                       // guards the members below
  std::size_t streams_ = 0;
  std::vector<std::unique_ptr<Owned>> retired_;  // launches that use them may still run
  std::size_t retired_bytes_ = 0;
  std::vector<std::unique_ptr<Owned>> idle_;  // the largest first
  std::shared_ptr<Reserve> reserve_;
};

}  // namespace tuner
