#include <tuner/worker/worker_slot.hpp>

#include <fmt/format.h>

namespace tuner::worker {

void WorkerSlot::collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) {
  first_fd_.reset();
  if (!process_) return;
  first_fd_ = fds.size();
  fds.push_back({process_->read_fd(), POLLIN, 0});
  fds.push_back({process_->error_fd(), POLLIN, 0});
  if (process_->wants_write()) fds.push_back({process_->write_fd(), POLLOUT, 0});
  if (deadline_ && (!wake_up || *deadline_ < *wake_up)) wake_up = deadline_;
}

std::optional<Loss> WorkerSlot::react(const std::vector<pollfd>& fds, const std::function<void(Message)>& handle) {
  if (!process_ || !first_fd_) return std::nullopt;
  const std::size_t first = *first_fd_;
  const std::uint64_t generation = generation_;
  const auto replaced = [&] { return !process_ || generation_ != generation; };
  if (fds[first + 1].revents != 0) process_->receive_errors();
  if (process_->wants_write()) process_->flush();
  // Also at the deadline: it may be this process that was stopped, and the answer long there.
  const bool late = deadline_ && Clock::now() >= *deadline_;
  if (fds[first].revents != 0 || late) {
    const bool open = process_->receive();
    try {
      while (!replaced()) {
        auto message = process_->next();
        if (!message) break;
        handle(std::move(*message));
      }
    } catch (const ProtocolError& error) {
      return lose(false, error.what());
    }
    if (replaced()) return std::nullopt;
    if (!open) return lose(false, {});
  }
  if (deadline_ && Clock::now() >= *deadline_) return lose(true, fmt::format("did not answer for {:.1f} s", limit_s_));
  return std::nullopt;
}

Loss WorkerSlot::lose(bool hung, const std::string& because) {
  const bool stopped = hung && process_->was_stopped();
  if (!because.empty()) process_->kill();
  const WorkerEnd end = process_->wait();
  process_.reset();
  deadline_.reset();
  first_fd_.reset();
  if (!because.empty()) return {hung, stopped, because};
  return {hung, end.from_outside, end.text};
}

}  // namespace tuner::worker
