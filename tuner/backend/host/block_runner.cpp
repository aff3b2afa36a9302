#include <tuner/backend/host/block_runner.hpp>

#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include <tuner/backend/host/sanitizer.hpp>

namespace tuner::host {

namespace context = boost::context::detail;

namespace {

// The runner whose kernel this OS thread is inside of.
thread_local BlockRunner* running = nullptr;

constexpr const char* kBlockNames[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"};
constexpr const char* kWarpNames[] = {"__syncwarp",        "__shfl_sync",       "__ballot_sync",
                                      "__match_any_sync",  "__reduce_add_sync", "__reduce_min_sync",
                                      "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",
                                      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync"};

// What a lane reads that CUDA leaves undefined (a lane outside the mask or the block): NaN in every floating type.
constexpr unsigned long long kUndefined = ~0ULL;

std::string site_text(const char* file, int line) { return std::string(file) + ':' + std::to_string(line); }

std::string hex(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

}  // namespace

struct BlockRunner::State : tuner_host::Block {
  BlockRunner* runner = nullptr;
};

struct BlockRunner::Fiber {
  tuner_host::Thread thread{};
  context::fcontext_t context = nullptr;
  Fiber* link = nullptr;  // in the ready list or the barrier's
  StackPool::Stack stack;
  sanitizer::FiberState sanitizer;
  int result = 0;
  bool busy = false;  // somewhere inside a kernel
  const char* waits_at = nullptr;
  const char* file = nullptr;
  int line = 0;
};

// What one lane brings to a collective and takes from it; lives on the lane's own stack while it waits.
struct BlockRunner::Request {
  unsigned long long value = 0;
  unsigned long long result = 0;
  unsigned lane = 0;
  Fiber* fiber = nullptr;
};

struct BlockRunner::Meeting {
  int operation = 0;
  unsigned mask = 0;
  unsigned arrived = 0;
  Meeting* link = nullptr;
  std::array<Request*, 32> requests{};
};

const tuner_host::Api& api() {
  static const tuner_host::Api table{tuner_host::kAbiVersion,     &BlockRunner::meet_block, &BlockRunner::meet_warp,
                                     &BlockRunner::thread_exited, &BlockRunner::yield,      &BlockRunner::fail};
  return table;
}

BlockRunner::BlockRunner(std::size_t max_threads, std::size_t max_shared, std::size_t stack_bytes)
    : stacks_(max_threads, stack_bytes),
      state_(std::make_unique<State>()),
      shared_(max_shared + 1024),
      max_shared_(max_shared),
      main_(std::make_unique<Fiber>()) {
  state_->runner = this;
  state_->api = &api();
  // Aligned as a GPU aligns it at least, so that vector loads from its start are valid.
  const auto address = (reinterpret_cast<std::uintptr_t>(shared_.data()) + 255) / 256 * 256;
  state_->shared = reinterpret_cast<void*>(address);
  sanitizer::poison(state_->shared, max_shared_);
}

BlockRunner::~BlockRunner() {
  sanitizer::unpoison(state_->shared, max_shared_);
  for (Fiber& fiber : fibers_) {
    sanitizer::unpoison(fiber.stack.bottom, fiber.stack.bytes());
    sanitizer::destroy(fiber.sanitizer);
  }
}

void BlockRunner::begin(const Kernel& kernel) {
  kernel_ = &kernel;
  context_ = kernel.context();
  context_->block = state_.get();
  sanitizer::adopt_thread(main_->sanitizer);
  State& block = *state_;
  block.dim = {kernel.block[0], kernel.block[1], kernel.block[2]};
  block.grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]};
  block.threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  block.stop = kernel.stop;
  sanitizer::unpoison(block.shared, kernel.shared_bytes);
  running = this;
}

void BlockRunner::end() {
  running = nullptr;
  sanitizer::poison(state_->shared, max_shared_);
  context_->block = nullptr;
  context_->thread = nullptr;
  kernel_ = nullptr;
}

std::optional<std::string> BlockRunner::run(std::uint64_t index) {
  State& block = *state_;
  block.index.x = static_cast<unsigned>(index % block.grid.x);
  block.index.y = static_cast<unsigned>(index / block.grid.x % block.grid.y);
  block.index.z = static_cast<unsigned>(index / block.grid.x / block.grid.y);
  block.next = 0;
  block.live = block.threads;
  block.waiting = 0;
  std::memset(block.exited, 0, sizeof block.exited);
  failure_.reset();
  switch_to(main_.get(), next());
  if (dirty_) drop_fibers();
  return std::exchange(failure_, std::nullopt);
}

// ---------------------------------------------------------------- fibers

BlockRunner::Fiber* BlockRunner::current() const {
  return reinterpret_cast<Fiber*>(context_->thread);  // thread is Fiber's first member
}

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
  fiber->link = nullptr;
  fiber->waits_at = nullptr;
  (ready_head_ == nullptr ? ready_head_ : ready_tail_->link) = fiber;
  ready_tail_ = fiber;
}

BlockRunner::Fiber* BlockRunner::next(bool started_first) {
  const bool unstarted = state_->next < state_->threads;
  if (ready_head_ != nullptr && (started_first || !unstarted)) {
    Fiber* fiber = ready_head_;
    ready_head_ = fiber->link;
    return fiber;
  }
  if (!unstarted) return nullptr;
  Fiber* fiber;
  if (free_.empty()) {
    fiber = &new_fiber();
  } else {
    fiber = free_.back();
    free_.pop_back();
  }
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
    runner.finished(self);
  }
}

void BlockRunner::finished(Fiber* self) {
  self->busy = false;
  free_.push_back(self);
  Fiber* to = nullptr;
  if (!must_stop()) to = next();
  if (to == nullptr) {
    if (state_->live != 0) {
      dirty_ = true;
      if (!must_stop()) failure_ = deadlock();
    }
    to = main_.get();
  }
  switch_to(self, to);
}

void BlockRunner::wait(Fiber* self) {
  if (must_stop()) leave_silently();
  Fiber* to = next();
  if (to == nullptr) {
    failure_ = deadlock();
    abandon();
  }
  switch_to(self, to);
}

void BlockRunner::abandon() {
  dirty_ = true;
  switch_to(current(), main_.get());
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
  ready_head_ = ready_tail_ = nullptr;
  barrier_head_ = barrier_tail_ = nullptr;
  barrier_waiting_ = 0;
  barrier_sum_ = 0;
  meetings_.fill(nullptr);
  meeting_pool_.clear();
  free_meetings_ = nullptr;
  dirty_ = false;
}

// ---------------------------------------------------------------- the block's barrier

int BlockRunner::meet_block(tuner_host::Block* block, int operation, int predicate, const char* file, int line) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  Fiber* self = runner.current();
  self->waits_at = kBlockNames[operation];
  self->file = file;
  self->line = line;
  self->link = nullptr;
  if (const Fiber* first = runner.barrier_head_) {
    if (first->line != line || first->waits_at != self->waits_at ||
        (first->file != file && std::strcmp(first->file, file) != 0)) {
      runner.failure_ = "barrier divergence: in " + runner.place() + " " + runner.thread_text(first->thread.linear) +
                        " waits at " + first->waits_at + " (" + site_text(first->file, first->line) + ") while " +
                        runner.thread_text(self->thread.linear) + " comes to " + self->waits_at + " (" +
                        site_text(file, line) + ")";
      runner.abandon();
    }
    runner.barrier_tail_->link = self;
  } else {
    runner.barrier_head_ = self;
  }
  runner.barrier_tail_ = self;
  ++runner.barrier_waiting_;
  runner.barrier_sum_ += predicate;
  ++block->waiting;
  if (runner.barrier_waiting_ == block->live) {
    runner.complete_barrier(self);
  } else {
    runner.wait(self);
  }
  const int sum = self->result;
  switch (operation) {
    case tuner_host::kBarrierAnd:
      return sum < 0;
    case tuner_host::kBarrierOr:
      return sum != 0;
    default:
      return sum & 0x7fffffff;
  }
}

void BlockRunner::complete_barrier(Fiber* self) {
  // The sign bit says that every thread brought a true predicate.
  const bool all = static_cast<unsigned>(barrier_sum_) == barrier_waiting_;
  const int result = all ? static_cast<int>(static_cast<unsigned>(barrier_sum_) | 0x80000000u) : barrier_sum_;
  state_->waiting -= barrier_waiting_;
  Fiber* fiber = barrier_head_;
  barrier_head_ = barrier_tail_ = nullptr;
  barrier_waiting_ = 0;
  barrier_sum_ = 0;
  while (fiber != nullptr) {
    Fiber* following = fiber->link;
    fiber->result = result;
    if (fiber != self) ready(fiber);
    fiber = following;
  }
  if (self != nullptr) self->waits_at = nullptr;
}

void BlockRunner::thread_exited(tuner_host::Block* block) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  if (runner.barrier_waiting_ != 0 && runner.barrier_waiting_ == block->live) runner.complete_barrier(nullptr);
  const unsigned warp = runner.current()->thread.linear >> 5;
  Meeting** link = &runner.meetings_[warp];
  while (*link != nullptr) {
    const unsigned missing = runner.needed(warp, (*link)->mask) & ~(*link)->arrived;
    if (missing == 0) {
      runner.complete_meeting(warp, link, nullptr);
    } else {
      link = &(*link)->link;
    }
  }
}

// ---------------------------------------------------------------- warp collectives

unsigned BlockRunner::needed(unsigned warp, unsigned mask) const {
  const unsigned threads = state_->threads - warp * 32;
  const unsigned existing = threads >= 32 ? 0xffffffffu : (1u << threads) - 1u;
  return mask & existing & ~state_->exited[warp];
}

unsigned long long BlockRunner::meet_warp(tuner_host::Block* block, int operation, unsigned mask,
                                          unsigned long long value, unsigned lane, const char* file, int line) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  Fiber* self = runner.current();
  const unsigned warp = self->thread.linear >> 5;
  const unsigned me = self->thread.linear & 31u;
  self->waits_at = kWarpNames[operation];
  self->file = file;
  self->line = line;
  if ((mask >> me & 1u) == 0) {
    runner.failure_ = std::string(kWarpNames[operation]) + " (" + site_text(file, line) + "): mask " + hex(mask) +
                      " does not name the calling lane " + std::to_string(me) + " in " + runner.place() + ", " +
                      runner.thread_text(self->thread.linear);
    runner.abandon();
  }
  Meeting** link = &runner.meetings_[warp];
  while (*link != nullptr && (*link)->mask != mask) link = &(*link)->link;
  if (*link == nullptr) {
    Meeting* meeting = runner.free_meetings_;
    if (meeting == nullptr) {
      meeting = &runner.meeting_pool_.emplace_back();
    } else {
      runner.free_meetings_ = meeting->link;
    }
    meeting->operation = operation;
    meeting->mask = mask;
    meeting->arrived = 0;
    meeting->link = nullptr;
    *link = meeting;
  }
  Meeting& meeting = **link;
  if (meeting.operation != operation) {
    const Fiber* other = meeting.requests[static_cast<unsigned>(__builtin_ctz(meeting.arrived))]->fiber;
    runner.failure_ = "warp divergence: in " + runner.place() + " " + runner.thread_text(other->thread.linear) +
                      " waits at " + other->waits_at + " (" + site_text(other->file, other->line) + ") while " +
                      runner.thread_text(self->thread.linear) + " of the same warp and mask comes to " +
                      self->waits_at + " (" + site_text(file, line) + ")";
    runner.abandon();
  }
  Request request{value, 0, lane, self};
  meeting.requests[me] = &request;
  meeting.arrived |= 1u << me;
  ++block->waiting;
  if ((runner.needed(warp, mask) & ~meeting.arrived) == 0) {
    runner.complete_meeting(warp, link, self);
  } else {
    runner.wait(self);
  }
  return request.result;
}

void BlockRunner::complete_meeting(unsigned warp, Meeting** link, Fiber* self) {
  Meeting& meeting = **link;
  const unsigned arrived = meeting.arrived;
  const auto each = [&meeting, arrived](auto action) {
    for (unsigned rest = arrived; rest != 0; rest &= rest - 1u) {
      action(*meeting.requests[static_cast<unsigned>(__builtin_ctz(rest))], 1u << __builtin_ctz(rest));
    }
  };
  unsigned long long common = 0;
  const auto fold = [&each, &common](auto start, auto combine) {
    auto total = start;
    each([&total, &combine](const Request& r, unsigned) {
      total = combine(total, static_cast<decltype(start)>(r.value));
    });
    common = static_cast<unsigned>(total);
  };
  switch (meeting.operation) {
    case tuner_host::kShuffle:
      each([&](Request& r, unsigned) {
        const unsigned source = r.lane & 31u;
        if ((arrived >> source & 1u) != 0) {
          r.result = meeting.requests[source]->value;
          return;
        }
        if ((meeting.mask & state_->exited[warp]) >> source & 1u) {
          failure_ = std::string(kWarpNames[meeting.operation]) + " (" + site_text(r.fiber->file, r.fiber->line) +
                     "): " + thread_text(r.fiber->thread.linear) + " of " + place() + " reads lane " +
                     std::to_string(source) + ", which has returned";
          abandon();
        }
        r.result = kUndefined;
      });
      break;
    case tuner_host::kBallot: {
      unsigned votes = 0;
      each([&votes](const Request& r, unsigned bit) { votes |= r.value != 0 ? bit : 0u; });
      common = votes;
      break;
    }
    case tuner_host::kMatchAny:
      each([&each](Request& mine, unsigned) {
        unsigned equal = 0;
        each([&](const Request& other, unsigned bit) { equal |= other.value == mine.value ? bit : 0u; });
        mine.result = equal;
      });
      break;
    case tuner_host::kAdd:
      fold(0u, [](unsigned a, unsigned b) { return a + b; });
      break;
    case tuner_host::kMinSigned:
      fold(0x7fffffff, [](int a, int b) { return b < a ? b : a; });
      break;
    case tuner_host::kMaxSigned:
      fold(-0x7fffffff - 1, [](int a, int b) { return a < b ? b : a; });
      break;
    case tuner_host::kMinUnsigned:
      fold(~0u, [](unsigned a, unsigned b) { return b < a ? b : a; });
      break;
    case tuner_host::kMaxUnsigned:
      fold(0u, [](unsigned a, unsigned b) { return a < b ? b : a; });
      break;
    case tuner_host::kAnd:
      fold(~0u, [](unsigned a, unsigned b) { return a & b; });
      break;
    case tuner_host::kOr:
      fold(0u, [](unsigned a, unsigned b) { return a | b; });
      break;
    case tuner_host::kXor:
      fold(0u, [](unsigned a, unsigned b) { return a ^ b; });
      break;
    default:
      break;
  }
  const bool same_for_all = meeting.operation != tuner_host::kShuffle && meeting.operation != tuner_host::kMatchAny;
  each([&](Request& r, unsigned) {
    if (same_for_all) r.result = common;
    if (r.fiber != self) ready(r.fiber);
  });
  if (self != nullptr) self->waits_at = nullptr;
  state_->waiting -= static_cast<unsigned>(__builtin_popcount(arrived));
  *link = meeting.link;
  meeting.link = free_meetings_;
  free_meetings_ = &meeting;
}

// ---------------------------------------------------------------- the rest of the table

void BlockRunner::yield(tuner_host::Block* block) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  if (runner.must_stop()) runner.leave_silently();
  Fiber* to = runner.next(false);
  if (to == nullptr) return;
  Fiber* self = runner.current();
  runner.ready(self);
  runner.switch_to(self, to);
}

void BlockRunner::fail(tuner_host::Block* block, const char* message, const char* file, int line) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  const std::string site = file != nullptr ? " (" + site_text(file, line) + ")" : "";
  runner.failure_ =
      message + site + " in " + runner.place() + ", " + runner.thread_text(runner.current()->thread.linear);
  runner.abandon();
}

// ---------------------------------------------------------------- leaving from a signal handler

bool BlockRunner::in_kernel(std::uintptr_t pc) const {
  return kernel_ != nullptr && context_->thread != &main_->thread && pc >= kernel_->text_begin &&
         pc < kernel_->text_end;
}

bool BlockRunner::must_stop() const { return __atomic_load_n(state_->stop, __ATOMIC_RELAXED) != 0; }

BlockRunner* BlockRunner::of_this_thread() { return running; }

void (*BlockRunner::leave(const char* what, const void* address, char** stack))() {
  left_because_ = what;
  left_address_ = address;
  Fiber* self = current();
  if (stacks_.in_guard(address)) left_because_ = "stack overflow";
  sanitizer::unpoison(self->stack.bottom, self->stack.bytes());
  *stack = self->stack.top;
  return &BlockRunner::leave_now;
}

void BlockRunner::leave_now() {
  BlockRunner& runner = *running;
  if (runner.left_because_ == nullptr) runner.leave_silently();
  char address[40] = "";
  if (runner.left_address_ != nullptr) std::snprintf(address, sizeof address, " at address %p", runner.left_address_);
  runner.failure_ = std::string(runner.left_because_) + address + " in " + runner.place() + ", " +
                    runner.thread_text(runner.current()->thread.linear);
  runner.abandon();
}

// ---------------------------------------------------------------- messages

std::string BlockRunner::place() const {
  const tuner_host::Index& b = state_->index;
  return "block (" + std::to_string(b.x) + ", " + std::to_string(b.y) + ", " + std::to_string(b.z) + ")";
}

std::string BlockRunner::thread_text(unsigned linear) const {
  const tuner_host::Index& d = state_->dim;
  return "thread (" + std::to_string(linear % d.x) + ", " + std::to_string(linear / d.x % d.y) + ", " +
         std::to_string(linear / d.x / d.y) + ")";
}

std::string BlockRunner::deadlock() const {
  std::map<std::string, unsigned> waiting;
  for (const Fiber& fiber : fibers_) {
    if (!fiber.busy || fiber.waits_at == nullptr) continue;
    ++waiting[std::string(fiber.waits_at) + " (" + site_text(fiber.file, fiber.line) + ")"];
  }
  std::string text = "barrier divergence: in " + place() + " of " + std::to_string(state_->threads) + " threads";
  for (const auto& [where, threads] : waiting) text += " " + std::to_string(threads) + " wait at " + where + ",";
  return text + " " + std::to_string(state_->threads - state_->live) + " have returned: nobody can go on";
}

}  // namespace tuner::host
