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
  /// At once; when more are in use, the context is waited for and all spaces go to other streams.
  static constexpr std::size_t kMaxStreams = 256;
  /// Spaces of destroyed streams, and bytes in them. With more, the context is waited for, so that others can have
  /// them.
  static constexpr std::size_t kMaxRetired = 4096, kMaxRetiredBytes = std::size_t{64} << 20;

  WorkSpaces(Backend& backend, const ContextName& context);

 private:
  struct Owned {
    std::unique_ptr<DeviceMemory> memory;
    WorkNeed size;
    WorkSpace space;
  };
  struct alignas(64) Slot {               // threads on different streams share none
    std::atomic<std::uint64_t> place{0};  ///< of its stream; 0: free
    std::atomic<std::uint64_t> id{0};     ///< of its stream; 0: the space is being exchanged
    std::atomic<unsigned> users{0};       ///< calls that are between finding their space and having enqueued
    std::atomic_flag in_turn = ATOMIC_FLAG_INIT;
    std::unique_ptr<Owned> owned;  ///< changes only while there is neither an id nor a user
  };

 public:
  /// The space of one stream while a call enqueues its launches. One thread has it at a time, and the others sleep. A
  /// call's launches may hand results to each other in it. Another call's launch between them would overwrite those.
  class Lease {
   public:
    Lease(WorkSpaces& owner, const StreamName& stream, const WorkNeed& need);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    const WorkSpace& space() const { return slot_.owned->space; }

   private:
    Slot& slot_;
  };

  /// Makes room for leases of \p stream and for \p captures more captured launches.
  void prepare(const StreamName& stream, const WorkNeed& need, std::size_t captures);
  /// A space that \p graph keeps; nothing is allocated. Nothing when there is not room enough.
  std::optional<WorkSpace> lend(void* graph, const WorkNeed& need);
  /// Frees every space that neither a graph has nor a call needs at this moment. Waits for the context.
  void trim();
  /// The caller's own \p bytes at \p memory, laid out, the zeroed part set to zero on \p stream. Throws Error when that
  /// is too little or not aligned to kWorkAlignment.
  WorkSpace lay_out(std::string_view kernel, void* memory, std::size_t bytes, const WorkNeed& need, void* stream) const;

 private:
  /// Spaces that are lent to graphs and come back from a thread of the driver's, perhaps after everything else is gone.
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
  std::array<Slot, 2 * kMaxStreams> slots_;  // probed linearly; at most half full
  std::mutex growing_;                       // of all below
  std::size_t streams_ = 0;
  std::vector<std::unique_ptr<Owned>> retired_;  // launches of streams that had them may still be running
  std::size_t retired_bytes_ = 0;
  std::vector<std::unique_ptr<Owned>> idle_;  // the largest first
  std::shared_ptr<Reserve> reserve_;
};

}  // namespace tuner
