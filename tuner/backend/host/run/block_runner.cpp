#include <tuner/backend/host/run/block_runner.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <thread>
#include <utility>

#include <tuner/backend/fill_value.hpp>

namespace tuner::host {

namespace context = boost::context::detail;
using fill_value::splitmix64;

namespace {

// The runner whose kernel runs on this OS thread.
thread_local BlockRunner* running = nullptr;

// After so many switches for each of its threads, a block switches half as often. This bounds the cost for a long
// kernel.
constexpr std::uint64_t kSwitchesOfThread = 16;

// Threads that spin until one at __activemask has gone on do not wait for ever.
constexpr unsigned kMostChosen = 65536;

// During a pause, other blocks continue on other OS threads. If they write between a load and the store that depends on
// it, and the update is not atomic, their value is lost.
constexpr std::chrono::microseconds kPause{50};
constexpr unsigned kPausesOfBlock = 4, kPausesOfLaunch = 256;

constexpr unsigned char kGuard = 0xd7;
constexpr unsigned char kNothing = 0xff;  // no number, for every floating-point type
constexpr std::size_t kNearest = 256;     // bytes that are checked after each block; all are after each launch

}  // namespace

const tuner_host::Api& api() {
  static const tuner_host::Api table{tuner_host::kAbiVersion,     &BlockRunner::meet_block, &BlockRunner::meet_warp,
                                     &BlockRunner::thread_exited, &BlockRunner::yield,      &BlockRunner::fail};
  return table;
}

BlockRunner::BlockRunner(std::size_t max_threads, std::size_t max_shared, std::size_t stack_bytes)
    : stacks_(max_threads, stack_bytes), shared_(max_shared), max_shared_(max_shared) {
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
  shared_.resize(kernel.shared_bytes);
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    guards_[i] = kernel.guards[i]();
    std::memset(guards_[i].begin, kGuard, guards_[i].bytes);
  }
  running = this;
  if (kernel.accesses == nullptr) return;
  accesses_ = kernel.accesses();
  accesses_->private_begin = reinterpret_cast<unsigned long>(stacks_.begin());
  accesses_->private_bytes = stacks_.bytes();
  accesses_->due = &BlockRunner::switch_at_access;
  accesses_->updates = 0;
  accesses_->pause = &BlockRunner::pause_at_update;
  accesses_->shared_begin = reinterpret_cast<unsigned long>(block.shared);
  accesses_->shared_bytes = max_shared_;
  pauses_of_launch_ = kPausesOfLaunch;
}

std::optional<std::string> BlockRunner::end() {
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

std::optional<std::string> BlockRunner::run(std::uint64_t index) {
  State& block = state_;
  block.index.x = static_cast<unsigned>(index % block.grid.x);
  block.index.y = static_cast<unsigned>(index / block.grid.x % block.grid.y);
  block.index.z = static_cast<unsigned>(index / block.grid.x / block.grid.y);
  block.next = 0;
  block.live = block.threads;
  block.waiting = 0;
  std::memset(block.exited, 0, sizeof block.exited);
  // A block that finds zeros, or the numbers of the last one, may be right without a needed barrier or write. These
  // orders are for checks, not for timing.
  if (block.order != nullptr) {
    std::memset(shared_.begin(), kNothing, shared_.bytes());
    for (const auto& [offset, bytes] : kernel_->static_shared) std::memset(guards_[0].begin + offset, kNothing, bytes);
  }
  failure_.reset();
  left_address_ = nullptr;
  if (accesses_ != nullptr) {
    random_ = splitmix64(splitmix64(kernel_->seed) ^ index);
    // Some races show where threads switch at every access, others where one runs far ahead.
    mean_ = std::uint64_t{2} << 2 * (random_ >> 62);
    doubles_after_ = std::uint64_t{state_.threads} * kSwitchesOfThread;
    plan_switch();
    const bool alone = block.grid.x == 1 && block.grid.y == 1 && block.grid.z == 1;
    pauses_of_block_ = alone ? 0 : kPausesOfBlock;
    plan_pause();
  }
  if (Fiber* const first = next()) switch_to(&main_, first);
  if (dirty_) drop_fibers();
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
  Fiber* const to = other(true);
  if (to != nullptr || converging_.empty()) return to;
  converge();
  return other(true);
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
    if (failure_ != kNoMemory) failure_ = deadlock();
    abandon();
  }
  if (to != self) switch_to(self, to);
}

void BlockRunner::yield_to_others(bool started_first) {
  Fiber* to = other(started_first);
  if (to == nullptr) return;
  Fiber* self = current();
  ready(self);
  switch_to(self, to);
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

void BlockRunner::yield(tuner_host::Block* block) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  if (runner.must_stop()) runner.leave_silently();
  runner.yield_to_others(false);
}

/// Draws how much the accesses until the next switch weigh.
void BlockRunner::plan_switch() {
  if (--doubles_after_ == 0) {
    mean_ *= 2;
    doubles_after_ = std::uint64_t{state_.threads} * kSwitchesOfThread;
  }
  random_ = splitmix64(random_);
  accesses_->left = 1 + (random_ >> 8) % (2 * mean_);
}

void BlockRunner::switch_at_access() {
  BlockRunner& runner = *running;
  if (runner.must_stop()) runner.leave_silently();
  runner.plan_switch();
  runner.yield_to_others((runner.random_ & 1u) != 0);
}

/// Draws the number of updates before the next pause: few in some blocks, many in others.
void BlockRunner::plan_pause() {
  accesses_->updates = 0;
  if (pauses_of_block_ == 0 || pauses_of_launch_ == 0) return;
  random_ = splitmix64(random_);
  accesses_->updates = 1 + (random_ >> 8) % (std::uint64_t{1} << 2 * (random_ & 3u));
}

void BlockRunner::pause_at_update() {
  BlockRunner& runner = *running;
  if (runner.must_stop()) runner.leave_silently();
  --runner.pauses_of_block_;
  --runner.pauses_of_launch_;
  runner.plan_pause();
  std::this_thread::sleep_for(kPause);
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
