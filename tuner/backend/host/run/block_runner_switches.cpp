// The places where a kernel thread lets others run although it does not wait for them.

#include <chrono>
#include <thread>

#include <tuner/backend/fill_value.hpp>
#include <tuner/backend/host/run/block_runner.hpp>
#include <tuner/backend/host/run/cluster.hpp>
#include <tuner/backend/traits.hpp>

namespace tuner::host {

using fill_value::splitmix64;

namespace {

// After so many switches for each of its threads, a block switches half as often. This bounds the cost for a long
// kernel.
constexpr std::uint64_t kSwitchesOfThread = 16;

// During a pause, other blocks continue on other OS threads. If they write between a load and the store that depends on
// it, and the update is not atomic, their value is lost.
constexpr std::chrono::microseconds kPause{50};
constexpr unsigned kPausesOfBlock = 4, kPausesOfLaunch = 256;

}  // namespace

void BlockRunner::yield_to_others(bool started_first) {
  Fiber* to = other(started_first);
  if (to == nullptr) return;
  Fiber* self = current();
  ready(self);
  switch_to(self, to);
}

void BlockRunner::yield(tuner_host::Block* block) {
  BlockRunner& runner = *static_cast<State*>(block)->runner;
  if (runner.must_stop()) runner.leave_silently();
  runner.yield_to_others(false);
  // The threads of a block may all yield while they wait for another block.
  constexpr unsigned yields_of_a_turn = 64;
  if (block->cluster_blocks > 1 && ++runner.yields_ % yields_of_a_turn == 0) runner.pass_turn();
}

/// Lets other blocks of the cluster run before the current thread continues.
void BlockRunner::pass_turn() {
  Fiber* const self = current();
  ready(self);
  cluster_.pass_turn(rank_);
  if (must_stop()) leave_silently();
  Fiber* const to = other(true);
  if (to != self) switch_to(self, to);
}

// ---------------------------------------------------------------- memory accesses of interleaved images

void BlockRunner::bind_accesses() {
  accesses_ = kernel_->accesses();
  accesses_->private_begin = reinterpret_cast<unsigned long>(stacks_.begin());
  accesses_->private_bytes = stacks_.bytes();
  accesses_->due = &BlockRunner::switch_at_access;
  accesses_->updates = 0;
  accesses_->pause = &BlockRunner::pause_at_update;
  accesses_->misaligned = &BlockRunner::fail_misaligned;
  accesses_->shared_begin = reinterpret_cast<unsigned long>(state_.shared);
  accesses_->shared_bytes = max_shared_;
  pauses_of_launch_ = kPausesOfLaunch;
}

void BlockRunner::fail_misaligned(const void* address, unsigned alignment, const char* file, unsigned line) {
  BlockRunner& runner = *of_this_thread();
  {  // abandon() destroys nothing
    runner.set_failure(std::string(kMisaligned) + ": the type needs a multiple of " + std::to_string(alignment) +
                       " bytes (" + site_text(file, static_cast<int>(line)) + ")");
  }
  runner.left_address_ = address;
  runner.abandon();
}

/// Of the block that starts now.
void BlockRunner::plan_accesses() {
  const tuner_host::Index &at = state_.index, &grid = state_.grid;
  const std::uint64_t number = at.x + grid.x * (at.y + std::uint64_t{grid.y} * at.z);  // in the grid
  random_ = splitmix64(splitmix64(kernel_->seed) ^ number);
  // Some races show where threads switch at every access, others where one runs far ahead.
  mean_ = std::uint64_t{2} << 2 * (random_ >> 62);
  doubles_after_ = std::uint64_t{state_.threads} * kSwitchesOfThread;
  plan_switch();
  const bool alone = grid.x == 1 && grid.y == 1 && grid.z == 1;
  pauses_of_block_ = alone ? 0 : kPausesOfBlock;
  plan_pause();
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
  BlockRunner& runner = *of_this_thread();
  if (runner.must_stop()) runner.leave_silently();
  runner.plan_switch();
  if (runner.state_.cluster_blocks > 1 && (runner.random_ & 6u) == 0) return runner.pass_turn();
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
  BlockRunner& runner = *of_this_thread();
  if (runner.must_stop()) runner.leave_silently();
  --runner.pauses_of_block_;
  --runner.pauses_of_launch_;
  runner.plan_pause();
  std::this_thread::sleep_for(kPause);
}

}  // namespace tuner::host
