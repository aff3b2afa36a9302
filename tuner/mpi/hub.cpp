#include <tuner/mpi/hub.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include <tuner/mpi/patience.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::mpi {
namespace {

using worker::Pipe;
using worker::WorkerEnd;

/// A rank that does not answer for this long is gone; MPI then ends the job anyway.
constexpr std::chrono::seconds kLongestEnd{20};
/// While this much of a kernel's output waits for its reader, more is dropped. The reader shows the first lines and
/// keeps the last.
constexpr std::size_t kMostSaid = std::size_t{1} << 20;

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

/// Shared by a RemoteWorker's thread and the thread that carries bytes.
struct Hub::Channel {
  Channel(std::uint64_t number, int of_rank) : id(number), rank(of_rank) {
    for (const int fd : {to.read, from.write, said.write}) set_nonblocking(fd);
  }
  void close_outputs() {
    for (int* fd : {&from.write, &said.write}) ::close(std::exchange(*fd, -1));
  }

  const std::uint64_t id;
  const int rank;
  // The carrier uses the reading end of `to` and the writing ends of the others.
  Pipe to, from, said;
  bool to_is_open = true;
  std::optional<std::size_t> polled;  // index among this turn's descriptors
  ByteQueue out, out_said;
  std::optional<WorkerEnd> end_behind;  // received, but earlier bytes are not passed on yet

  std::mutex mutex;
  std::optional<WorkerEnd> end;
  bool stopped = false;
};

class Hub::RemoteWorker final : public worker::WorkerLink {
 public:
  RemoteWorker(Hub& hub, std::shared_ptr<Channel> channel)
      : WorkerLink(kLongestEnd), hub_(hub), channel_(std::move(channel)) {
    take_pipes(std::exchange(channel_->to.write, -1), std::exchange(channel_->from.read, -1),
               std::exchange(channel_->said.read, -1));
  }
  ~RemoteWorker() override {
    kill();
    close_pipes();
    (void)wait();
  }

  void kill() override {
    const std::lock_guard lock(channel_->mutex);
    if (!channel_->end)
      hub_.post(
          [&hub = hub_, rank = channel_->rank, id = channel_->id] { hub.world_.send(rank, FrameKind::kill, id); });
  }
  bool was_stopped() override {
    const std::lock_guard lock(channel_->mutex);
    return std::exchange(channel_->stopped, false);
  }

 private:
  std::optional<WorkerEnd> ask_end() override {
    (void)receive();  // the end comes after all output, which may be more than the pipes hold
    const std::lock_guard lock(channel_->mutex);
    return channel_->end;
  }

  Hub& hub_;
  std::shared_ptr<Channel> channel_;
};

Hub::Hub(Communicator& world) : world_(world), wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_fd_ < 0) throw WorkerError("no event descriptor is left");
}

Hub::~Hub() { ::close(wake_fd_); }

std::unique_ptr<worker::WorkerLink> Hub::start(int rank) {
  auto channel = std::make_shared<Channel>(next_channel_++, rank);
  auto link = std::make_unique<RemoteWorker>(*this, channel);
  post([this, channel] {
    channels_.emplace(channel->id, channel);
    world_.send(channel->rank, FrameKind::start, channel->id);
  });
  return link;
}

void Hub::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  (void)::eventfd_write(wake_fd_, 1);
}

void Hub::finish() {
  finished_ = true;
  (void)::eventfd_write(wake_fd_, 1);
}

void Hub::take_tasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    eventfd_t count = 0;
    (void)::eventfd_read(wake_fd_, &count);
    tasks = std::exchange(tasks_, {});
  }
  for (const Task& task : tasks) task();
}

void Hub::run() {
  Patience patience;
  std::vector<pollfd> fds;
  while (!finished_) {
    fds.clear();
    fds.push_back({wake_fd_, POLLIN, 0});
    for (const auto& [id, channel] : channels_) {
      channel->polled.reset();
      if (channel->to_is_open) {
        channel->polled = fds.size();
        fds.push_back({channel->to.read, POLLIN, 0});
      }
      if (!channel->out.empty()) fds.push_back({channel->from.write, POLLOUT, 0});
      if (!channel->out_said.empty()) fds.push_back({channel->said.write, POLLOUT, 0});
    }
    bool busy = patience.poll(fds);
    take_tasks();
    carry(fds);
    for (int i = 0; i < kFramesATurn; ++i) {
      std::optional<Frame> frame = world_.receive();
      if (!frame) break;
      arrived(std::move(*frame));
      busy = true;
    }
    patience.saw(busy);
  }
  for (int rank = 1; rank < world_.size(); ++rank) world_.send(rank, FrameKind::quit, 0);
  while (world_.sending() > 0) ::poll(nullptr, 0, 1);
}

void Hub::carry(const std::vector<pollfd>& fds) {
  for (auto at = channels_.begin(); at != channels_.end();) {
    Channel& channel = *at->second;
    if (channel.polled && fds[*channel.polled].revents != 0) {
      const std::span<const std::byte> bytes = reader_.read(channel.to.read, channel.to_is_open);
      if (!bytes.empty()) world_.send(channel.rank, FrameKind::data, channel.id, bytes);
    }
    channel.out.write_to(channel.from.write);
    channel.out_said.write_to(channel.said.write);
    if (!channel.end_behind || !channel.out.empty() || !channel.out_said.empty()) {
      ++at;
      continue;
    }
    {
      const std::lock_guard lock(channel.mutex);
      channel.end = channel.end_behind;
      channel.close_outputs();
    }
    at = channels_.erase(at);
  }
}

void Hub::arrived(Frame frame) {
  const auto at = channels_.find(frame.channel);
  if (at == channels_.end()) return;  // its worker is gone
  Channel& channel = *at->second;
  if (frame.kind == FrameKind::data) channel.out.push(std::move(frame.bytes));
  if (frame.kind == FrameKind::said && channel.out_said.bytes() < kMostSaid)
    channel.out_said.push(std::move(frame.bytes));
  if (frame.kind == FrameKind::stopped) {
    const std::lock_guard lock(channel.mutex);
    channel.stopped = true;
  }
  if (frame.kind == FrameKind::ended && !frame.bytes.empty())
    channel.end_behind = WorkerEnd{{reinterpret_cast<const char*>(frame.bytes.data()) + 1, frame.bytes.size() - 1},
                                   frame.bytes.front() != std::byte{0}};
}

}  // namespace tuner::mpi
