#include <tuner/backend/host/run/block_runner.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <utility>

#include <tuner/backend/host/run/cluster.hpp>

namespace tuner::host {

namespace context = boost::context::detail;

namespace {

// The runner whose kernel runs on this OS thread.
thread_local BlockRunner* running = nullptr;

// Threads that spin until one at __activemask has gone on do not wait for ever.
constexpr unsigned kMostChosen = 65536;

constexpr unsigned char kGuard = 0xd7;
constexpr unsigned char kNothing = 0xff;  // no number, for every floating-point type
constexpr std::size_t kNearest = 256;     // bytes that are checked after each block; all are after each launch

}  // namespace

const tuner_host::Api& api() {
  static const tuner_host::Api table{
      tuner_host::kAbiVersion,     &BlockRunner::meet_block, &BlockRunner::meet_warp,
      &BlockRunner::thread_exited, &BlockRunner::yield,      &BlockRunner::fail,
      &BlockRunner::await,         &BlockRunner::change,     &BlockRunner::require_cluster};
  return table;
}

BlockRunner::BlockRunner(const RunnerLimits& limits, Cluster& cluster, unsigned rank)
    : cluster_(cluster),
      rank_(rank),
      stacks_(limits.threads, limits.stack_bytes),
      shared_(limits.shared_bytes),
      max_shared_(limits.shared_bytes) {
  state_.runner = this;
  state_.api = &api();
  state_.shared = shared_.begin();
}

BlockRunner::~BlockRunner() {
  for (Fiber& fiber : fibers_) {
    sanitizer::unpoison(fiber.stack.bottom, fiber.stack.bytes());
    sanitizer::destroy(fiber.sanitizer);
  }
}

void BlockRunner::begin(const Kernel& kernel) {
  shared_.resize(kernel.shared_bytes);  // first, because it may throw
  kernel_ = &kernel;
  context_ = kernel.context();
  context_->block = &state_;
  sanitizer::adopt_thread(main_.sanitizer);
  State& block = state_;
  block.dim = {kernel.block[0], kernel.block[1], kernel.block[2]};
  block.grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]};
  block.threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  block.stop = kernel.stop;
  block.order = kernel.order;
  block.cooperative = kernel.cooperative;
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    guards_[i] = kernel.guards[i]();
    std::memset(guards_[i].begin, kGuard, guards_[i].bytes);
  }
  running = this;
  if (kernel.accesses != nullptr) bind_accesses();
}

std::optional<std::string> BlockRunner::end() {
  if (kernel_ == nullptr) return std::nullopt;  // begin() threw
  running = nullptr;
  std::optional<std::string> outside = outside_static_shared(std::numeric_limits<std::size_t>::max());
  if (accesses_ != nullptr) {
    accesses_->due = nullptr;
    accesses_->updates = 0;
    accesses_ = nullptr;
  }
  context_->block = nullptr;
  context_->thread = nullptr;
  kernel_ = nullptr;
  return outside;
}

void BlockRunner::share(tuner_host::Block* const* blocks, unsigned count) {
  State& block = state_;
  block.cluster = blocks;
  block.cluster_blocks = count;
  block.cluster_rank = rank_;
  const std::array<unsigned, 3>& dim = kernel_->cluster;
  block.cluster_dim = {std::max(1u, dim[0]), std::max(1u, dim[1]), std::max(1u, dim[2])};
  block.shared_bytes = shared_.bytes();
  block.static_begin = reinterpret_cast<char*>(guards_[0].begin);
  block.static_bytes = static_cast<std::size_t>(guards_[1].begin + guards_[1].bytes - guards_[0].begin);
}

void BlockRunner::place_at(const tuner_host::Index& index) {
  State& block = state_;
  block.index = index;
  block.next = 0;
  block.live = block.threads;
  block.waiting = 0;
  std::memset(block.exited, 0, sizeof block.exited);
  // A block that finds zeros, or the numbers of the last one, may be right without a needed barrier or write. In a
  // timed run, it may leave out work that the last one did.
  if (block.order != nullptr || kernel_->fresh_shared) {
    std::memset(shared_.begin(), kNothing, shared_.bytes());
    for (const auto& [offset, bytes] : kernel_->static_shared) std::memset(guards_[0].begin + offset, kNothing, bytes);
  }
  failure_.reset();
  required_cluster_.reset();
  left_address_ = nullptr;
  if (accesses_ != nullptr) plan_accesses();
}

void BlockRunner::execute() {
  if (Fiber* const first = next()) switch_to(&main_, first);
  if (dirty_) drop_fibers();
}

std::optional<std::string> BlockRunner::finish() {
  if (!shared_.restore_canaries() && !failure_ && !must_stop()) failure_ = beyond_shared("writes") + " in " + place();
  if (const auto outside = outside_static_shared(kNearest); outside && !failure_ && !must_stop())
    failure_ = *outside + " in " + place();
  return std::exchange(failure_, std::nullopt);
}

// ---------------------------------------------------------------- fibers

void BlockRunner::prepare(Fiber& fiber) {
  sanitizer::unpoison(fiber.stack.bottom, fiber.stack.bytes());
  sanitizer::destroy(fiber.sanitizer);
  fiber.sanitizer = {};
  sanitizer::create(fiber.sanitizer);
  fiber.sanitizer.bottom = fiber.stack.bottom;
  fiber.sanitizer.bytes = fiber.stack.bytes();
  fiber.context = context::make_fcontext(fiber.stack.top, fiber.stack.bytes(), &BlockRunner::fiber_main);
  fiber.busy = false;
  fiber.waits_at = nullptr;
  fiber.cluster_phase = kNoPhase;
}

BlockRunner::Fiber& BlockRunner::new_fiber() {
  Fiber& fiber = fibers_.emplace_back();
  fiber.stack = stacks_.stack(fibers_.size() - 1);
  prepare(fiber);
  return fiber;
}

void BlockRunner::ready(Fiber* fiber) {
  fiber->waits_at = nullptr;
  ready_.push_back(fiber);
}

BlockRunner::Fiber* BlockRunner::next() {
  for (;;) {
    if (Fiber* const to = other(true)) return to;
    if (!converging_.empty()) {
      converge();
    } else if (state_.live == 0 || must_stop()) {
      return nullptr;
    } else if (!cluster_.pass_turn(rank_) && !cluster_.wake_bounded()) {
      return nullptr;
    }
  }
}

BlockRunner::Fiber* BlockRunner::other(bool started_first) {
  if (!converging_.empty() && ++chosen_before_ > kMostChosen) converge();
  const bool unstarted = state_.next < state_.threads;
  if (!ready_.empty() && (started_first || !unstarted)) {
    Fiber* fiber = ready_.front();
    ready_.pop_front();
    return fiber;
  }
  if (!unstarted) return nullptr;
  if (free_.empty()) {
    try {
      free_.push_back(&new_fiber());
    } catch (const std::bad_alloc&) {  // nothing catches it in a fiber
      failure_ = kNoMemory;
      return nullptr;
    }
  }
  Fiber* fiber = free_.back();
  free_.pop_back();
  fiber->busy = true;
  return fiber;
}

void BlockRunner::switch_to(Fiber* from, Fiber* to) {
  context_->thread = &to->thread;
  sanitizer::before_switch(from->sanitizer, to->sanitizer, true);
  const context::transfer_t transfer = context::jump_fcontext(to->context, from);
  Fiber* previous = static_cast<Fiber*>(transfer.data);
  previous->context = transfer.fctx;
  sanitizer::after_switch(from->sanitizer, previous->sanitizer);
}

void BlockRunner::fiber_main(context::transfer_t from) {
  Fiber* previous = static_cast<Fiber*>(from.data);
  previous->context = from.fctx;
  BlockRunner& runner = *running;
  Fiber* self = runner.current();
  sanitizer::after_switch(self->sanitizer, previous->sanitizer);
  for (;;) {
    runner.kernel_->run(runner.kernel_->arguments);  // lets no exception out: see tuner_host_entry.h
    runner.finish(self);
  }
}

void BlockRunner::finish(Fiber* self) {
  self->busy = false;
  free_.push_back(self);
  Fiber* to = nullptr;
  if (!must_stop()) to = next();
  if (to == nullptr) {
    if (state_.live != 0) {
      dirty_ = true;
      if (!must_stop() && failure_ != kNoMemory) failure_ = deadlock();
    }
    to = &main_;
  }
  switch_to(self, to);
}

void BlockRunner::wait(Fiber* self) {
  if (must_stop()) leave_silently();
  Fiber* to = next();
  if (to == nullptr) {
    if (must_stop()) leave_silently();
    if (failure_ != kNoMemory) failure_ = deadlock();
    abandon();
  }
  if (to != self) switch_to(self, to);
}

/// Waits for a change that another thread of the cluster makes.
void BlockRunner::park(Fiber* self) {
  parked_.push_back(self);
  wait(self);
}

void BlockRunner::wake_parked() {
  ++changes_;
  for (Fiber* const fiber : parked_) ready(fiber);
  parked_.clear();
}

unsigned BlockRunner::wake_bounded() {
  const auto first =
      std::stable_partition(parked_.begin(), parked_.end(), [](Fiber* fiber) { return !fiber->bounded; });
  const auto woken = static_cast<unsigned>(parked_.end() - first);
  std::for_each(first, parked_.end(), [&](Fiber* fiber) { ready(fiber); });
  parked_.erase(first, parked_.end());
  return woken;
}

void BlockRunner::abandon() {
  dirty_ = true;
  switch_to(current(), &main_);
  __builtin_unreachable();
}

void BlockRunner::leave_silently() {
  failure_.reset();
  abandon();
}

void BlockRunner::drop_fibers() {
  free_.clear();
  for (Fiber& fiber : fibers_) {
    if (fiber.busy) prepare(fiber);
    free_.push_back(&fiber);
  }
  ready_.clear();
  drop_meetings();
  dirty_ = false;
}

// ---------------------------------------------------------------- other functions that kernels call

void BlockRunner::await(tuner_host::Block* block, const void* object, bool bounded, const char* name, const char* file,
                        int line) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  if (!runner.is_shared_memory(object)) return yield(block);
  Fiber* const self = runner.current();
  // A change may have come after the test of the caller, because threads switch inside of that test.
  if (self->changes_seen == runner.changes_) {
    self->set_wait(name, file, line);
    self->bounded = bounded;
    runner.park(self);
  }
  self->changes_seen = runner.changes_;
}

void BlockRunner::change(tuner_host::Block* block) { static_cast<State*>(block)->runner->cluster_.wake_all(); }

/// Whether \p address is in the shared memory of a block of the cluster.
bool BlockRunner::is_shared_memory(const void* address) const {
  const auto is_in = [at = reinterpret_cast<std::uintptr_t>(address)](const void* begin, std::size_t bytes) {
    return at - reinterpret_cast<std::uintptr_t>(begin) < bytes;
  };
  return std::any_of(state_.cluster, state_.cluster + state_.cluster_blocks, [&](const tuner_host::Block* one) {
    return is_in(one->shared, one->shared_bytes) || is_in(one->static_begin, one->static_bytes);
  });
}

void BlockRunner::require_cluster(tuner_host::Block* block, tuner_host::Index dim) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  const std::array<unsigned, 3> required{dim.x, dim.y, dim.z};
  if (runner.kernel_->cluster == required) return;
  runner.required_cluster_ = required;
  {  // abandon() destroys nothing
    const auto text = [](const std::array<unsigned, 3>& of) {
      return '(' + std::to_string(of[0]) + ", " + std::to_string(of[1]) + ", " + std::to_string(of[2]) + ')';
    };
    runner.failure_ = "the kernel has clusters of " + text(required) +
                      " blocks (__cluster_dims__), and the launch of " + text(runner.kernel_->cluster);
  }
  runner.abandon();
}

void BlockRunner::fail(tuner_host::Block* block, const char* message, const char* file, int line) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  {  // abandon() destroys nothing
    const std::string site = file != nullptr ? " (" + site_text(file, line) + ")" : "";
    runner.set_failure(message + site);
  }
  runner.abandon();
}

// ---------------------------------------------------------------- leaving from a signal handler

bool BlockRunner::in_kernel(std::uintptr_t pc) const {
  return kernel_ != nullptr && context_->thread != &main_.thread && pc >= kernel_->text_begin && pc < kernel_->text_end;
}

bool BlockRunner::must_stop() const { return __atomic_load_n(state_.stop, __ATOMIC_RELAXED) != 0; }

BlockRunner* BlockRunner::of_this_thread() { return running; }

void (*BlockRunner::leave(const char* what, const void* address, char** stack))() {
  left_because_ = what;
  left_address_ = address;
  Fiber* self = current();
  if (stacks_.in_guard(address)) {
    left_because_ = "stack overflow";
    left_address_ = nullptr;  // not an address of a buffer
  }
  left_shared_ = address != nullptr && shared_.is_beyond(address);
  if (left_shared_) left_address_ = nullptr;  // not an address of a buffer
  sanitizer::unpoison(self->stack.bottom, self->stack.bytes());
  *stack = self->stack.top;
  return &BlockRunner::leave_now;
}

void BlockRunner::leave_now() {
  BlockRunner& runner = *running;
  if (runner.left_because_ == nullptr) runner.leave_silently();
  {  // abandon() destroys nothing
    char address[40] = "";
    if (runner.left_address_ != nullptr) std::snprintf(address, sizeof address, " at address %p", runner.left_address_);
    const std::string what = runner.left_shared_ ? runner.beyond_shared("reads or writes") : runner.left_because_;
    runner.set_failure(what + address);
  }
  runner.abandon();
}

// ---------------------------------------------------------------- messages

std::string BlockRunner::place() const {
  const tuner_host::Index& b = state_.index;
  return "block (" + std::to_string(b.x) + ", " + std::to_string(b.y) + ", " + std::to_string(b.z) + ")";
}

void BlockRunner::set_failure(const std::string& what) {
  failure_ = what + " in " + place() + ", " + thread_text(current()->thread.linear);
}

std::string BlockRunner::thread_text(unsigned linear) const {
  const tuner_host::Index& d = state_.dim;
  return "thread (" + std::to_string(linear % d.x) + ", " + std::to_string(linear / d.x % d.y) + ", " +
         std::to_string(linear / d.x / d.y) + ")";
}

std::string BlockRunner::beyond_shared(const char* does) const {
  return std::string(does) + " beyond the " + std::to_string(shared_.bytes()) +
         " bytes of dynamic shared memory that it is launched with (`shared`)";
}

std::optional<std::string> BlockRunner::outside_static_shared(std::size_t nearest) {
  const auto& [before, after] = guards_;
  const auto is_intact = [](unsigned char* begin, std::size_t bytes) {
    if (*begin == kGuard && std::memcmp(begin, begin + 1, bytes - 1) == 0) return true;
    std::memset(begin, kGuard, bytes);
    return false;
  };
  const std::size_t bytes = std::min<std::size_t>(nearest, before.bytes);
  std::optional<std::string> outside;
  if (!is_intact(before.begin + before.bytes - bytes, bytes))
    outside = "writes before the beginning of its __shared__ arrays";
  if (!is_intact(after.begin, std::min<std::size_t>(nearest, after.bytes)))
    outside = "writes beyond the end of its __shared__ arrays";
  return outside;
}

std::string BlockRunner::deadlock() const {
  std::map<std::string, unsigned> waiting;
  for (const Fiber& fiber : fibers_)
    if (fiber.busy && fiber.waits_at != nullptr) ++waiting[fiber.where()];
  std::string text = "barrier divergence: in " + place() + " of " + std::to_string(state_.threads) + " threads";
  for (const auto& [where, threads] : waiting) text += " " + std::to_string(threads) + " wait at " + where + ",";
  return text + " " + std::to_string(state_.threads - state_.live) + " have returned: no thread can continue";
}

}  // namespace tuner::host
