#include <tuner/worker/worker_slot.hpp>

#include <utility>

#include <fmt/format.h>

namespace tuner::worker {

namespace {

constexpr std::chrono::milliseconds kLookAgain{5};

}  // namespace

void WorkerSlot::end(Loss loss) {
  if (!running()) return;
  loss_ = std::move(loss);
  by_itself_ = false;
  deadline_.reset();
  worker_->kill();
}

void WorkerSlot::collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) {
  first_fd_.reset();
  if (!worker_) return;
  const auto wake_at = loss_ ? std::optional(Clock::now() + kLookAgain) : deadline_;
  if (wake_at && (!wake_up || *wake_at < *wake_up)) wake_up = wake_at;
  if (loss_) return;
  first_fd_ = fds.size();
  fds.push_back({worker_->read_fd(), POLLIN, 0});
  fds.push_back({worker_->error_fd(), POLLIN, 0});
  if (worker_->wants_write()) fds.push_back({worker_->write_fd(), POLLOUT, 0});
}

std::optional<Loss> WorkerSlot::react(const std::vector<pollfd>& fds, const std::function<void(Message)>& handle) {
  if (loss_) return take_loss();
  if (!worker_ || !first_fd_) return std::nullopt;
  const std::size_t first = *first_fd_;
  const std::uint64_t generation = generation_;
  const auto is_the_same = [&] { return running() && generation_ == generation; };
  if (fds[first + 1].revents != 0) worker_->receive_errors();
  if (worker_->wants_write()) worker_->flush();
  // Also at the deadline: if this process was stopped, the answer may have come in time.
  const bool late = deadline_ && Clock::now() >= *deadline_;
  if (fds[first].revents != 0 || late) {
    const bool open = worker_->receive();
    try {
      while (is_the_same()) {
        auto message = worker_->next();
        if (!message) break;
        handle(std::move(*message));
      }
    } catch (const ProtocolError& error) {
      end({false, false, error.what()});
    }
    if (is_the_same() && !open) {
      loss_.emplace();
      by_itself_ = true;
      deadline_.reset();
    }
  }
  if (is_the_same() && deadline_ && Clock::now() >= *deadline_)
    end({true, worker_->was_stopped(), fmt::format("did not answer for {:.1f} s", limit_s_)});
  return loss_ && generation_ == generation ? take_loss() : std::nullopt;
}

/// How the worker was lost; nothing while it has not ended.
std::optional<Loss> WorkerSlot::take_loss() {
  const std::optional<WorkerEnd>& end = worker_->ended();
  if (!end) return std::nullopt;
  Loss loss = std::move(*loss_);
  if (by_itself_) loss = {false, end->from_outside, end->text};
  stop();
  return loss;
}

}  // namespace tuner::worker
