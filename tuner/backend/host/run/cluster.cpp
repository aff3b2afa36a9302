#include <tuner/backend/host/run/cluster.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

#include <tuner/backend/host/run/faults.hpp>
#include <tuner/error.hpp>

namespace tuner::host {

namespace {
// A loop around `try_wait` may do something else after some tries, but nobody counts so far.
constexpr unsigned kMostWokenInVain = 1u << 18;
}  // namespace

Cluster::Cluster(const RunnerLimits& limits) : limits_(limits) {
  members_.push_back(std::make_unique<BlockRunner>(limits_, *this, 0));
  blocks_.push_back(members_.front()->block());
}

Cluster::~Cluster() {
  if (threads_.empty()) return;
  size_ = most_blocks();
  do_on_others(Task::quit);
  for (std::thread& thread : threads_) thread.join();
}

void Cluster::grow(unsigned blocks) {
  members_.reserve(blocks);
  blocks_.reserve(blocks);
  threads_.reserve(blocks);
  while (most_blocks() < blocks) {
    const unsigned rank = most_blocks();
    members_.push_back(std::make_unique<BlockRunner>(limits_, *this, rank));
    blocks_.push_back(members_.back()->block());
    try {
      threads_.emplace_back([this, rank] { loop(rank); });
    } catch (const std::system_error& error) {
      members_.pop_back();
      blocks_.pop_back();
      throw Error(
          ErrorCode::out_of_memory,
          std::string("host backend: cannot start threads for the blocks of a cluster: ") + error.code().message());
    }
  }
}

// ---------------------------------------------------------------- turns

void Cluster::give_turn(unsigned rank) {
  const std::lock_guard lock(mutex_);
  turn_ = rank;
  given_[rank].notify_one();
}

void Cluster::wait_for_turn(unsigned rank) {
  std::unique_lock lock(mutex_);
  given_[rank].wait(lock, [&] { return turn_ == rank; });
}

unsigned Cluster::next_after(unsigned rank) const {
  for (unsigned i = 1; i <= size_; ++i)
    if (const unsigned other = (rank + i) % size_; can_run(other)) return other;
  const auto* const last = finished_.begin() + size_;
  const auto* const left = std::find(finished_.begin(), last, false);
  return left == last ? 0 : static_cast<unsigned>(left - finished_.begin());
}

bool Cluster::pass_turn(unsigned rank) {
  for (unsigned i = 1; i < size_; ++i) {
    const unsigned other = (rank + i) % size_;
    if (!can_run(other)) continue;
    give_turn(other);
    wait_for_turn(rank);
    return true;
  }
  return false;
}

/// Each of the other threads does \p task in its turn, one after the other.
void Cluster::do_on_others(Task task) {
  task_ = task;
  for (unsigned rank = 1; rank < size_; ++rank) {
    give_turn(rank);
    wait_for_turn(0);
  }
}

void Cluster::loop(unsigned rank) {
  block_signals();
  const SignalStack signal_stack;
  for (;;) {
    wait_for_turn(rank);
    switch (task_) {
      case Task::begin:
        try {
          members_[rank]->begin(kernel_);
        } catch (...) {
          if (!failure_) failure_ = std::current_exception();
        }
        break;
      case Task::run:
        execute(rank);
        give_turn(next_after(rank));
        continue;
      case Task::end:
        if (auto error = members_[rank]->end()) end_error_ = std::move(error);
        break;
      case Task::quit:
        give_turn(0);
        return;
    }
    give_turn(0);
  }
}

void Cluster::execute(unsigned rank) {
  members_[rank]->execute();
  finished_[rank] = true;
  // The launch has failed, and the other blocks may wait for this one.
  if (members_[rank]->has_failed()) __atomic_store_n(kernel_.stop, 1, __ATOMIC_RELEASE);
}

void Cluster::request_stop() {
  for (std::thread& thread : threads_) host::request_stop(thread.native_handle());
}

// ---------------------------------------------------------------- launches

void Cluster::begin(const Kernel& kernel) {
  kernel_ = kernel;
  size_ = std::max(1u, kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2]);
  end_error_.reset();
  members_.front()->begin(kernel_);
  do_on_others(Task::begin);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  for (unsigned rank = 0; rank < size_; ++rank) members_[rank]->share(blocks_.data(), size_);
}

std::optional<std::string> Cluster::end() {
  end_error_ = members_.front()->end();
  do_on_others(Task::end);
  return std::exchange(end_error_, std::nullopt);
}

std::optional<std::string> Cluster::run(std::uint64_t index) {
  const std::array<unsigned, 3>&grid = kernel_.grid, &dim = kernel_.cluster;
  required_.reset();
  phase_ = arrived_ = woken_in_vain_ = 0;
  for (unsigned rank = 0; rank < size_; ++rank) {
    std::array<unsigned, 3> at{};
    std::uint64_t left = index;
    unsigned left_rank = rank;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const unsigned width = std::max(1u, dim[i]);
      const std::uint64_t clusters = grid[i] / width;
      at[i] = static_cast<unsigned>(i < 2 ? left % clusters : left) * width + left_rank % width;
      left /= clusters;
      left_rank /= width;
    }
    members_[rank]->place_at({at[0], at[1], at[2]});
  }
  finished_.fill(false);
  if (size_ > 1) {
    task_ = Task::run;
    // Checks start threads backwards or shuffled, and the blocks of a cluster backwards as well.
    if (kernel_.order != nullptr) {
      give_turn(size_ - 1);
      wait_for_turn(0);
    }
  }
  execute(0);
  if (size_ > 1 && std::find(finished_.begin(), finished_.begin() + size_, false) != finished_.begin() + size_) {
    give_turn(next_after(0));
    wait_for_turn(0);  // when all have ended
  }
  std::optional<std::string> failure;
  fault_address_ = nullptr;
  for (unsigned rank = 0; rank < size_; ++rank) {
    BlockRunner& member = *members_[rank];
    std::optional<std::string> error = member.finish();
    if (!error || failure) continue;
    failure = std::move(error);
    fault_address_ = member.fault_address();
    required_ = member.required_cluster();
  }
  return failure;
}

// ---------------------------------------------------------------- the barrier of a cluster

void Cluster::wake_all() {
  woken_in_vain_ = 0;
  for (unsigned rank = 0; rank < size_; ++rank) members_[rank]->wake_parked();
}

bool Cluster::wake_bounded() {
  if (woken_in_vain_ > kMostWokenInVain) return false;
  unsigned woken = 0;
  for (unsigned rank = 0; rank < size_; ++rank) woken += members_[rank]->wake_bounded();
  woken_in_vain_ += woken;
  return woken > 0;
}

std::uint64_t Cluster::arrive() {
  const std::uint64_t phase = phase_;
  ++arrived_;
  complete_barrier();
  return phase;
}

void Cluster::complete_barrier() {
  if (arrived_ == 0) return;
  unsigned live = 0;
  for (unsigned rank = 0; rank < size_; ++rank) live += members_[rank]->block()->live;
  if (arrived_ < live) return;
  arrived_ = 0;
  ++phase_;
  wake_all();
}

}  // namespace tuner::host
