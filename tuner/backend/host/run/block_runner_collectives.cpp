// The places where kernel threads wait for each other: barriers and warp collectives.
// The last thread of a block or warp to come computes the results of all and makes the others ready.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include <tuner/backend/host/run/block_runner.hpp>
#include <tuner/backend/host/run/cluster.hpp>

namespace tuner::host {
namespace {

constexpr const char* kBlockNames[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
                                       "this_grid().sync"};
constexpr const char* kClusterBarrier = "the barrier of the cluster";
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

int BlockRunner::meet_block(tuner_host::Block* block, int operation, int predicate, const char* file, int line) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  Fiber* self = runner.current();
  if (operation == tuner_host::kClusterArrive || operation == tuner_host::kClusterWait) {
    runner.meet_cluster(self, operation == tuner_host::kClusterArrive, file, line);
    return 0;
  }
  self->set_wait(kBlockNames[operation], file, line);
  if (!runner.at_barrier_.empty()) {
    const Fiber* first = runner.at_barrier_.front();
    if (first->line != line || first->waits_at != self->waits_at ||
        (first->file != file && std::strcmp(first->file, file) != 0)) {
      runner.failure_ = "barrier divergence: in " + runner.place() + " " + runner.thread_text(first->thread.linear) +
                        " waits at " + first->where() + " while " + runner.thread_text(self->thread.linear) +
                        " comes to " + self->where();
      runner.abandon();
    }
  }
  runner.at_barrier_.push_back(self);
  runner.barrier_sum_ += predicate;
  ++block->waiting;
  if (runner.at_barrier_.size() == block->live) {
    runner.complete_barrier(self);
  } else {
    runner.wait(self);
  }
  const int sum = self->result;
  if (operation == tuner_host::kBarrierAnd) return sum < 0;
  return operation == tuner_host::kBarrierOr ? sum != 0 : sum & 0x7fffffff;
}

void BlockRunner::complete_barrier(Fiber* self) {
  const Fiber& first = *at_barrier_.front();
  if (first.waits_at == kBlockNames[tuner_host::kGridBarrier]) meet_other_blocks(first);
  // The sign bit is set if the predicate of every thread is true.
  const bool all = static_cast<std::size_t>(barrier_sum_) == at_barrier_.size();
  const int result = all ? static_cast<int>(static_cast<unsigned>(barrier_sum_) | 0x80000000u) : barrier_sum_;
  state_.waiting -= static_cast<unsigned>(at_barrier_.size());
  for (Fiber* fiber : at_barrier_) {
    fiber->result = result;
    if (fiber != self) ready(fiber);
  }
  at_barrier_.clear();
  barrier_sum_ = 0;
  if (self != nullptr) self->waits_at = nullptr;
}

void BlockRunner::meet_cluster(Fiber* self, bool arrives, const char* file, int line) {
  if (arrives) {
    self->cluster_phase = cluster_.arrive();
    return;
  }
  while (cluster_.phase() == self->cluster_phase) {
    self->set_wait(kClusterBarrier, file, line);
    self->bounded = false;
    ++state_.waiting;
    park(self);
    --state_.waiting;
  }
}

/// Call this while all threads of this block wait. \p first: the one that came first.
void BlockRunner::meet_other_blocks(const Fiber& first) {
  if (kernel_->barrier == nullptr) {
    failure_ = first.where() + " in " + place() + " of a launch that is not cooperative";
    abandon();
  }
  if (at_barrier_.size() != state_.threads) {  // a GPU would wait for the others
    failure_ = deadlock();
    abandon();
  }
  const GridBarrier::Meeting meeting = kernel_->barrier->meet(kernel_->stop);
  if (meeting == GridBarrier::Meeting::stopped) leave_silently();
  if (meeting == GridBarrier::Meeting::met) return;
  failure_ = "barrier divergence: " + place() + " waits at " + first.where() +
             " and another block has returned: no block can continue";
  abandon();
}

void BlockRunner::thread_exited(tuner_host::Block* block) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  if (!runner.at_barrier_.empty() && runner.at_barrier_.size() == block->live) runner.complete_barrier(nullptr);
  Fiber* const self = runner.current();
  if (self->cluster_phase == runner.cluster_.phase()) runner.cluster_.take_back_arrival();
  self->cluster_phase = kNoPhase;
  runner.cluster_.complete_barrier();
  const unsigned warp = self->thread.linear >> 5;
  std::list<Meeting>& meetings = runner.meetings_[warp];
  for (auto next = meetings.begin(); next != meetings.end();) {
    const auto at = next++;
    if ((runner.needed(warp, at->mask) & ~at->arrived) == 0) runner.complete_meeting(warp, at, nullptr);
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
  self->set_wait(kWarpNames[operation], file, line);
  if ((mask >> me & 1u) == 0) {
    runner.set_failure(self->where() + ": mask " + hex(mask) + " does not name the calling lane " + std::to_string(me));
    runner.abandon();
  }
  std::list<Meeting>& meetings = runner.meetings_[warp];
  auto at = std::ranges::find_if(meetings, [&](const Meeting& one) { return one.mask == mask; });
  if (at == meetings.end()) {
    if (runner.free_meetings_.empty()) runner.free_meetings_.emplace_back();
    at = runner.free_meetings_.begin();
    meetings.splice(meetings.end(), runner.free_meetings_, at);
    at->operation = operation;
    at->mask = mask;
    at->arrived = 0;
  }
  if (at->operation != operation) {
    const Fiber* other = at->requests[static_cast<unsigned>(__builtin_ctz(at->arrived))]->fiber;
    runner.failure_ = "warp divergence: in " + runner.place() + " " + runner.thread_text(other->thread.linear) +
                      " waits at " + other->where() + " while " + runner.thread_text(self->thread.linear) +
                      " of the same warp and mask comes to " + self->where();
    runner.abandon();
  }
  Request request{value, 0, lane, self};
  at->requests[me] = &request;
  at->arrived |= 1u << me;
  ++block->waiting;
  if ((runner.needed(warp, mask) & ~at->arrived) == 0) {
    runner.complete_meeting(warp, at, self);
  } else {
    runner.wait(self);
  }
  return request.result;
}

void BlockRunner::complete_meeting(unsigned warp, std::list<Meeting>::iterator at, Fiber* self) {
  const Meeting& meeting = *at;
  const unsigned arrived = meeting.arrived;
  const auto each = [&meeting, arrived](auto action) {
    for (unsigned rest = arrived; rest != 0; rest &= rest - 1u)
      action(*meeting.requests[static_cast<unsigned>(__builtin_ctz(rest))], 1u << __builtin_ctz(rest));
  };
  unsigned long long common = 0;
  const auto fold = [&each, &common](auto start, auto combine) {
    auto total = start;
    each([&total, &combine](const Request& r, unsigned) {
      total = combine(total, static_cast<decltype(start)>(r.value));
    });
    common = static_cast<unsigned>(total);
  };
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  const int operation = meeting.operation;
  if (operation == tuner_host::kShuffle) {
    each([&](Request& r, unsigned) {
      const unsigned source = r.lane & 31u;
      if ((arrived >> source & 1u) != 0) {
        r.result = meeting.requests[source]->value;
        return;
      }
      if ((meeting.mask & state_.exited[warp]) >> source & 1u) {
        failure_ = std::string(kWarpNames[operation]) + " (" + site_text(r.fiber->file, r.fiber->line) +
                   "): " + thread_text(r.fiber->thread.linear) + " of " + place() + " reads lane " +
                   std::to_string(source) + ", which has returned";
        abandon();
      }
      r.result = kUndefined;
    });
  } else if (operation == tuner_host::kMatchAny) {
    each([&each](Request& mine, unsigned) {
      unsigned equal = 0;
      each([&](const Request& other, unsigned bit) { equal |= other.value == mine.value ? bit : 0u; });
      mine.result = equal;
    });
  }
  if (operation == tuner_host::kBallot)
    each([&](const Request& r, unsigned bit) { common |= r.value != 0 ? bit : 0u; });
  if (operation == tuner_host::kAdd) fold(0u, std::plus());
  if (operation == tuner_host::kMinSigned) fold(0x7fffffff, least);
  if (operation == tuner_host::kMaxSigned) fold(-0x7fffffff - 1, most);
  if (operation == tuner_host::kMinUnsigned) fold(~0u, least);
  if (operation == tuner_host::kMaxUnsigned) fold(0u, most);
  if (operation == tuner_host::kAnd) fold(~0u, std::bit_and());
  if (operation == tuner_host::kOr) fold(0u, std::bit_or());
  if (operation == tuner_host::kXor) fold(0u, std::bit_xor());
  const bool same_for_all = operation != tuner_host::kShuffle && operation != tuner_host::kMatchAny;
  each([&](Request& r, unsigned) {
    if (same_for_all) r.result = common;
    if (r.fiber != self) ready(r.fiber);
  });
  if (self != nullptr) self->waits_at = nullptr;
  state_.waiting -= static_cast<unsigned>(__builtin_popcount(arrived));
  free_meetings_.splice(free_meetings_.begin(), meetings_[warp], at);
}

unsigned BlockRunner::active_mask(Fiber* self, const char* file, int line) {
  self->set_wait("__activemask", file, line);
  if (converging_.empty()) chosen_before_ = 0;
  converging_.push_back(self);
  wait(self);
  return static_cast<unsigned>(self->result);
}

/// Makes threads at __activemask ready: those at the first place in the text, as lanes that leave a loop wait for those
/// that stay in it.
void BlockRunner::converge() {
  const Fiber& first =
      **std::ranges::min_element(converging_, [](const Fiber* a, const Fiber* b) { return a->line < b->line; });
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
  parked_.clear();
  at_barrier_.clear();
  barrier_sum_ = 0;
  for (std::list<Meeting>& meetings : meetings_) free_meetings_.splice(free_meetings_.end(), meetings);
}

}  // namespace tuner::host
