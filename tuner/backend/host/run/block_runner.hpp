#pragma once
/// Runs thread blocks, one after the other, on one operating-system thread. The blocks of a cluster run on several and
/// take turns (cluster.hpp). Kernel threads that wait for others are
/// fibers (Boost.Context); all others are plain calls on one fiber. Not thread-safe; each OS thread has its own runner.
///
/// This uses the detail layer of Boost.Context, because a fiber that can never end (a divergent barrier, a fault) must
/// be dropped without unwinding its stack. boost::context::fiber cannot do that.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

#include <tuner/backend/host/run/grid_barrier.hpp>
#include <tuner/backend/host/run/sanitizer.hpp>
#include <tuner/backend/host/run/thread_memory.hpp>
#include <tuner/backend/host/shim/tuner_host_abi.h>

namespace tuner::host {

inline std::string site_text(const char* file, int line) { return std::string(file) + ':' + std::to_string(line); }

/// A static shared array.
struct StaticShared {
  std::size_t offset;  ///< from the beginning of the guard before them
  std::size_t bytes;
};

/// The kernel of one launch, the same for all workers.
struct Kernel {
  tuner_host::Entry* run = nullptr;
  tuner_host::GetContext* context = nullptr;
  std::array<tuner_host::GetGuard*, 2> guards{};  ///< before and after static shared memory
  std::span<const StaticShared> static_shared;
  void* const* arguments = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::array<unsigned, 3> cluster{};  ///< in blocks, and the grid is a multiple of it; zeros: each block is one
  std::size_t shared_bytes = 0;
  bool fresh_shared = false;                    ///< each block finds new bytes in shared memory
  bool cooperative = false;                     ///< its blocks may wait for each other
  const unsigned short* order = nullptr;        ///< tuner_host::Block::order
  tuner_host::GetAccesses* accesses = nullptr;  ///< switch threads at memory accesses too; null: do not
  std::uint64_t seed = 0;                       ///< of those switches

  GridBarrier* barrier = nullptr;               ///< of a cooperative launch
  int* stop = nullptr;                          ///< not 0: a worker failed or time is up
  std::uintptr_t text_begin = 0, text_end = 0;  ///< where the module's code lies
};

/// The failure of a block for whose threads there is no memory. Short, so that it needs none itself.
inline constexpr const char* kNoMemory = "no host memory";

/// Of a block.
struct RunnerLimits {
  std::size_t threads = 0, shared_bytes = 0;  ///< dynamic shared memory
  std::size_t stack_bytes = 0;                ///< of a thread
};

class Cluster;

class BlockRunner {
 public:
  /// For the block with number \p rank of each cluster that \p cluster runs.
  BlockRunner(const RunnerLimits& limits, Cluster& cluster, unsigned rank);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Before the first block of a launch, on the thread that executes blocks, as end(). Throws Error, and has done
  /// nothing, if the system has no memory for the block's shared memory.
  void begin(const Kernel& kernel);
  /// After begin() of all blocks of a cluster: where they are.
  void share(tuner_host::Block* const* blocks, unsigned count);
  /// A block is run in three steps. The first and the last may be called on another thread.
  void place_at(const tuner_host::Index& index);
  void execute();
  /// Returns the block's error, or nothing. A block that ends because of kernel.stop has no error.
  std::optional<std::string> finish();
  /// The address at which the last block failed; nullptr when its error has no address.
  const void* fault_address() const { return left_address_; }
  /// The cluster that the last block required in vain, if that was its error.
  std::optional<std::array<unsigned, 3>> required_cluster() const { return required_cluster_; }
  /// After the last block of a launch. Returns an error that no block has reported, or nothing.
  std::optional<std::string> end();

  tuner_host::Block* block() { return &state_; }
  bool has_failed() const { return failure_.has_value(); }
  /// Whether a thread of the block can continue.
  bool can_run() const { return !ready_.empty() || state_.next < state_.threads || !converging_.empty(); }
  /// Makes the threads ready that wait for a change.
  void wake_parked();
  /// Makes those ready that wait only for some time. Returns how many there are.
  unsigned wake_bounded();

  /// For signal handlers on this OS thread. Whether \p pc is in the kernel's own code, which holds no lock, so that it
  /// can be left at any instruction.
  bool in_kernel(std::uintptr_t pc) const;
  /// Whether the launch must end as soon as possible.
  bool must_stop() const;
  /// The runner whose launch runs on this OS thread, or nullptr.
  static BlockRunner* of_this_thread();
  /// The function with which a signal handler must continue to leave the kernel, and its \p stack. \p what: the error;
  /// nullptr when the kernel is only stopped.
  void (*leave(const char* what, const void* address, char** stack))();

 private:
  struct State : tuner_host::Block {
    BlockRunner* runner = nullptr;
  };
  static constexpr std::uint64_t kNoPhase = ~std::uint64_t{0};
  struct Fiber {
    tuner_host::Thread thread{};
    boost::context::detail::fcontext_t context = nullptr;
    StackPool::Stack stack;
    sanitizer::FiberState sanitizer;
    int result = 0;                          // of a barrier or of __activemask
    std::uint64_t cluster_phase = kNoPhase;  // of its last arrival at the cluster's barrier
    std::uint64_t changes_seen = 0;          // of changes_, when its last await() returned
    bool busy = false;                       // somewhere inside a kernel
    bool bounded = false;                    // of await()
    const char* waits_at = nullptr;
    const char* file = nullptr;
    int line = 0;

    void set_wait(const char* at, const char* in_file, int in_line) { waits_at = at, file = in_file, line = in_line; }
    /// `__syncthreads (reduce.cu:14)`
    std::string where() const { return std::string(waits_at) + " (" + site_text(file, line) + ")"; }
  };
  // The value of one lane for a collective, and its result. Lives on the lane's own stack while it waits.
  struct Request {
    unsigned long long value = 0;
    unsigned long long result = 0;
    unsigned lane = 0;
    Fiber* fiber = nullptr;
  };
  // Lanes of a warp in one collective.
  struct Meeting {
    int operation = 0;
    unsigned mask = 0;
    unsigned arrived = 0;
    std::array<Request*, 32> requests{};
  };

  static void fiber_main(boost::context::detail::transfer_t from);
  static void yield(tuner_host::Block*);
  static void switch_at_access();
  static void pause_at_update();
  static void fail_misaligned(const void*, unsigned, const char*, unsigned);
  static void fail(tuner_host::Block*, const char*, const char*, int);
  static void await(tuner_host::Block*, const void*, bool, const char*, const char*, int);
  static void change(tuner_host::Block*);
  static void require_cluster(tuner_host::Block*, tuner_host::Index);
  static void leave_now();
  friend const tuner_host::Api& api();

  // Thread is the first member of Fiber.
  Fiber* current() const { return reinterpret_cast<Fiber*>(context_->thread); }
  void prepare(Fiber& fiber);
  Fiber& new_fiber();
  void ready(Fiber* fiber);
  /// A thread that runs now, after other blocks of the cluster if none of this block can. Null if none ever can.
  Fiber* next();
  /// Another one than the current, which continues later. Null if there is none.
  Fiber* other(bool started_first);
  void switch_to(Fiber* from, Fiber* to);
  void wait(Fiber* self);
  void park(Fiber* self);
  /// Lets another thread run first, if there is one.
  void yield_to_others(bool started_first);
  void pass_turn();
  /// Leaves the block. Objects on this stack are not destroyed, so failure_ must be set in an earlier statement.
  [[noreturn]] void abandon();
  [[noreturn]] void leave_silently();
  void finish(Fiber* self);
  void drop_fibers();
  void bind_accesses();
  void plan_accesses();
  void plan_switch();
  void plan_pause();
  /// Sets failure_ to \p what, in the current thread.
  void set_failure(const std::string& what);
  std::string deadlock() const;
  std::string beyond_shared(const char* does) const;
  /// Says what was done to the \p nearest bytes of the guards of static shared memory, if they were changed.
  std::optional<std::string> outside_static_shared(std::size_t nearest);
  std::string place() const;
  std::string thread_text(unsigned linear) const;

  // block_runner_collectives.cpp
  static int meet_block(tuner_host::Block*, int, int, const char*, int);
  static unsigned long long meet_warp(tuner_host::Block*, int, unsigned, unsigned long long, unsigned, const char*,
                                      int);
  static void thread_exited(tuner_host::Block*);
  void complete_barrier(Fiber* self);
  void meet_other_blocks(const Fiber& first);
  void meet_cluster(Fiber* self, bool arrives, const char* file, int line);
  bool is_shared_memory(const void* address) const;
  unsigned needed(unsigned warp, unsigned mask) const;
  void complete_meeting(unsigned warp, std::list<Meeting>::iterator at, Fiber* self);
  void drop_meetings();
  unsigned active_mask(Fiber* self, const char* file, int line);
  void converge();

  Cluster& cluster_;
  const unsigned rank_;  // in it
  StackPool stacks_;
  State state_{};
  SharedArena shared_;
  std::array<tuner_host::Guard, 2> guards_{};  ///< of the kernel: before and after its static shared memory
  const std::size_t max_shared_;
  std::deque<Fiber> fibers_;
  std::vector<Fiber*> free_;
  Fiber main_;
  std::deque<Fiber*> ready_;
  tuner_host::Context* context_ = nullptr;
  const Kernel* kernel_ = nullptr;
  tuner_host::Accesses* accesses_ = nullptr;
  // Of the running block: its random numbers, the mean weight between switches, and how many switches until it doubles.
  std::uint64_t random_ = 0, mean_ = 0, doubles_after_ = 0;
  unsigned pauses_of_block_ = 0, pauses_of_launch_ = 0;  // that are left
  std::optional<std::string> failure_;
  bool dirty_ = false;  // fibers were left in the middle

  std::vector<Fiber*> at_barrier_;  // of the block
  std::vector<Fiber*> parked_;      // until a change
  std::uint64_t changes_ = 0;       // calls of wake_parked()
  unsigned yields_ = 0;
  std::optional<std::array<unsigned, 3>> required_cluster_;
  int barrier_sum_ = 0;
  // Warp collectives in which lanes wait, by warp. A Meeting that has ended is used again.
  std::array<std::list<Meeting>, 32> meetings_;
  std::list<Meeting> free_meetings_;
  // Threads at __activemask, and how often another thread was chosen since the first of them came.
  std::vector<Fiber*> converging_;
  unsigned chosen_before_ = 0;

  const char* left_because_ = nullptr;
  const void* left_address_ = nullptr;
  bool left_shared_ = false;  // because of an access beyond the block's dynamic shared memory
};

/// The table that kernels are bound to.
const tuner_host::Api& api();

}  // namespace tuner::host
