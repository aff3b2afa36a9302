// The places where kernel threads wait for each other: the barriers of the grid and of the block, and warp collectives.
// The last thread of a block or warp to come computes the results of all and makes the others ready.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <tuner/backend/host/block_runner.hpp>

namespace tuner::host {
namespace {

constexpr const char* kBlockNames[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
                                       "this_grid().sync"};
constexpr const char* kWarpNames[] = {"__syncwarp",        "__shfl_sync",       "__ballot_sync",
                                      "__match_any_sync",  "__reduce_add_sync", "__reduce_min_sync",
                                      "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",
                                      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync"};

// The result that CUDA leaves undefined (of a lane outside the mask or the block). It is NaN in every floating type.
constexpr unsigned long long kUndefined = ~0ULL;

std::string hex(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

}  // namespace

// ---------------------------------------------------------------- barriers

void GridBarrier::begin(std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  blocks_ = blocks;
  waiting_ = returned_ = 0;
}

GridBarrier::Meeting GridBarrier::meet(const int* stop) {
  std::unique_lock lock(mutex_);
  const std::uint64_t before = meetings_;
  if (++waiting_ == blocks_) {
    waiting_ = 0;
    ++meetings_;
    changed_.notify_all();
    return Meeting::met;
  }
  while (meetings_ == before) {
    if (__atomic_load_n(stop, __ATOMIC_RELAXED) != 0) return Meeting::stopped;
    if (returned_ != 0) return Meeting::left_alone;
    changed_.wait_for(lock, std::chrono::milliseconds(5));  // a stop sends no notification
  }
  return Meeting::met;
}

void GridBarrier::leave() {
  const std::lock_guard lock(mutex_);
  ++returned_;
  changed_.notify_all();
}

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
  if (barrier_head_->waits_at == kBlockNames[tuner_host::kGridBarrier]) meet_other_blocks(*barrier_head_);
  // The sign bit is set if the predicate of every thread is true.
  const bool all = static_cast<unsigned>(barrier_sum_) == barrier_waiting_;
  const int result = all ? static_cast<int>(static_cast<unsigned>(barrier_sum_) | 0x80000000u) : barrier_sum_;
  state_.waiting -= barrier_waiting_;
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

/// Call this while all threads of this block wait. \p first: the one that came first.
void BlockRunner::meet_other_blocks(const Fiber& first) {
  if (kernel_->barrier == nullptr) {
    failure_ = std::string(first.waits_at) + " (" + site_text(first.file, first.line) + ") in " + place() +
               " of a launch that is not cooperative";
    abandon();
  }
  if (barrier_waiting_ != state_.threads) {  // a GPU would wait for the others
    failure_ = deadlock();
    abandon();
  }
  const GridBarrier::Meeting meeting = kernel_->barrier->meet(kernel_->stop);
  if (meeting == GridBarrier::Meeting::stopped) leave_silently();
  if (meeting == GridBarrier::Meeting::met) return;
  failure_ = "barrier divergence: " + place() + " waits at " + first.waits_at + " (" +
             site_text(first.file, first.line) + ") and another block has returned: no block can continue";
  abandon();
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
  const unsigned threads = state_.threads - warp * 32;
  const unsigned existing = threads >= 32 ? 0xffffffffu : (1u << threads) - 1u;
  return mask & existing & ~state_.exited[warp];
}

unsigned long long BlockRunner::meet_warp(tuner_host::Block* block, int operation, unsigned mask,
                                          unsigned long long value, unsigned lane, const char* file, int line) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  Fiber* self = runner.current();
  const unsigned warp = self->thread.linear >> 5;
  const unsigned me = self->thread.linear & 31u;
  if (operation == tuner_host::kActiveMask) return runner.active_mask(self, file, line);
  self->waits_at = kWarpNames[operation];
  self->file = file;
  self->line = line;
  if ((mask >> me & 1u) == 0) {
    runner.fails_here(std::string(kWarpNames[operation]) + " (" + site_text(file, line) + "): mask " + hex(mask) +
                      " does not name the calling lane " + std::to_string(me));
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
        if ((meeting.mask & state_.exited[warp]) >> source & 1u) {
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
  state_.waiting -= static_cast<unsigned>(__builtin_popcount(arrived));
  *link = meeting.link;
  meeting.link = free_meetings_;
  free_meetings_ = &meeting;
}

unsigned BlockRunner::active_mask(Fiber* self, const char* file, int line) {
  self->waits_at = "__activemask";
  self->file = file;
  self->line = line;
  if (converging_.empty()) chosen_before_ = 0;
  converging_.push_back(self);
  wait(self);
  return static_cast<unsigned>(self->result);
}

/// Makes threads at __activemask ready: those at the first place in the text, as lanes that leave a loop wait for those
/// that stay in it.
void BlockRunner::converge() {
  const Fiber& first = **std::min_element(converging_.begin(), converging_.end(),
                                          [](const Fiber* a, const Fiber* b) { return a->line < b->line; });
  const auto elsewhere = std::stable_partition(converging_.begin(), converging_.end(),
                                               [line = first.line, file = first.file](const Fiber* fiber) {
                                                 return fiber->line == line && std::strcmp(fiber->file, file) == 0;
                                               });
  std::array<unsigned, 32> masks{};
  const auto each = [&](auto action) {
    for (auto at = converging_.begin(); at != elsewhere; ++at)
      action(**at, masks[(*at)->thread.linear >> 5], 1u << ((*at)->thread.linear & 31u));
  };
  each([](Fiber&, unsigned& mask, unsigned bit) { mask |= bit; });
  each([this](Fiber& fiber, unsigned mask, unsigned) {
    fiber.result = static_cast<int>(mask);
    ready(&fiber);
  });
  converging_.erase(converging_.begin(), elsewhere);
  chosen_before_ = 0;
}

void BlockRunner::drop_meetings() {
  converging_.clear();
  barrier_head_ = barrier_tail_ = nullptr;
  barrier_waiting_ = 0;
  barrier_sum_ = 0;
  meetings_.fill(nullptr);
  meeting_pool_.clear();
  free_meetings_ = nullptr;
}

}  // namespace tuner::host
