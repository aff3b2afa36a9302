#include <tuner/mpi/remote_workers.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::mpi {
namespace {

using worker::Pipe;
using worker::WorkerEnd;
using Clock = std::chrono::steady_clock;

/// A rank that does not answer for this long is gone; MPI then ends the job anyway.
constexpr std::chrono::seconds kLongestEnd{20};
/// While this much of a kernel's output waits for its reader, more is dropped. The reader shows the first lines and
/// keeps the last.
constexpr std::size_t kMostSaid = std::size_t{1} << 20;
constexpr std::size_t kMostSending = 256;                  // frames; while more are queued, kernels' output is not read
constexpr std::size_t kMostRead = std::size_t{256} << 10;  // bytes at a time; they fit into one frame
/// Frames that are taken before the pipes are checked again.
constexpr int kFramesATurn = 64;

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// A queue of bytes for a pipe that takes only as much as it has room for.
class ByteQueue {
 public:
  void push(std::vector<std::byte> bytes) {
    if (bytes.empty()) return;
    bytes_ += bytes.size();
    parts_.push_back(std::move(bytes));
  }
  bool empty() const { return parts_.empty(); }
  std::size_t bytes() const { return bytes_; }

  /// Writes as much as \p fd, which must not block, takes. Drops the bytes if nobody reads any more.
  void write_to(int fd) {
    while (!parts_.empty()) {
      const std::span<const std::byte> left = std::span<const std::byte>(parts_.front()).subspan(written_);
      const ssize_t count = ::write(fd, left.data(), left.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count < 0) {
        parts_.clear();
        written_ = bytes_ = 0;
        return;
      }
      written_ += static_cast<std::size_t>(count);
      bytes_ -= static_cast<std::size_t>(count);
      if (written_ < parts_.front().size()) continue;
      parts_.pop_front();
      written_ = 0;
    }
  }

 private:
  std::deque<std::vector<std::byte>> parts_;
  std::size_t written_ = 0;  // of the first part
  std::size_t bytes_ = 0;    // not written
};

/// Returns what can be read from \p fd, which must not block, into \p buffer. Sets \p open to false at the end of the
/// file.
std::span<const std::byte> read_some(int fd, std::vector<std::byte>& buffer, bool& open) {
  buffer.resize(kMostRead);
  ssize_t count = 0;
  do count = ::read(fd, buffer.data(), buffer.size());
  while (count < 0 && errno == EINTR);
  if (count == 0 || (count < 0 && errno != EAGAIN)) open = false;
  return std::span<const std::byte>(buffer).first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

/// Takes turns at pipes and at MPI, which has no descriptor to wait for.
class Turns {
 public:
  /// Waits for \p fds: not at all if something came lately, else for at most half a millisecond. Calls \p carry, then
  /// \p arrived with each frame that came.
  void take(std::vector<pollfd>& fds, Communicator& world, const auto& carry, const auto& arrived) {
    timespec wait{0, 0};
    if (!eager()) wait.tv_nsec = 500'000;
    bool busy = ::ppoll(fds.data(), fds.size(), &wait, nullptr) > 0;
    carry();
    for (int i = 0; i < kFramesATurn; ++i) {
      std::optional<Frame> frame = world.receive();
      if (!frame) break;
      arrived(std::move(*frame));
      busy = true;
    }
    if (busy) last_ = Clock::now();
  }

 private:
  /// An answer often follows within microseconds. A measurement takes longer, and must not share the processor.
  bool eager() const { return Clock::now() - last_ < std::chrono::microseconds(100); }
  Clock::time_point last_;
};

/// The end of another rank.
class Relay {
 public:
  Relay(Communicator& world, const std::filesystem::path& program) : world_(world), program_(program) {}

  void run() {
    Turns turns;
    std::vector<pollfd> fds;
    while (!done_) {
      fds.clear();
      const bool hears = world_.sending() < kMostSending;  // endless output waits, as for a full pipe
      for (auto& [channel, child] : children_) {
        child.polled = fds.size();
        fds.push_back({child.open ? child.process->read_fd() : -1, POLLIN, 0});
        fds.push_back({child.says && hears ? child.process->error_fd() : -1, POLLIN, 0});
        if (child.open && !child.in.empty()) fds.push_back({child.process->write_fd(), POLLOUT, 0});
      }
      turns.take(
          fds, world_, [&] { carry(fds); }, [this](Frame frame) { arrived(std::move(frame)); });
    }
    children_.clear();
  }

 private:
  struct Child {
    std::unique_ptr<worker::WorkerProcess> process;
    ByteQueue in;
    bool open = true;  // false: its pipe is closed and it is about to end
    bool says = true;
    std::size_t polled = 0;  // index among this turn's descriptors
  };

  void carry(const std::vector<pollfd>& fds) {
    const bool ask = Clock::now() >= ask_again_;
    if (ask) ask_again_ = Clock::now() + std::chrono::milliseconds(50);
    for (auto at = children_.begin(); at != children_.end();) {
      const std::uint64_t channel = at->first;
      Child& child = at->second;
      if (ask && child.process->take_stop()) world_.send(0, FrameKind::stopped, channel);
      child.in.write_to(child.process->write_fd());
      if (fds[child.polled].revents != 0) pass_on(FrameKind::data, channel, child.process->read_fd(), child.open);
      if (fds[child.polled + 1].revents != 0) pass_on(FrameKind::said, channel, child.process->error_fd(), child.says);
      if (!child.open && report_end(channel, child))
        at = children_.erase(at);
      else
        ++at;
    }
  }

  /// Returns whether something came.
  bool pass_on(FrameKind kind, std::uint64_t channel, int fd, bool& open) {
    const std::span<const std::byte> bytes = read_some(fd, buffer_, open);
    if (!bytes.empty()) world_.send(0, kind, channel, bytes);
    return !bytes.empty();
  }

  /// Does not wait: a worker with a hanging kernel may take seconds, and the others must continue.
  bool report_end(std::uint64_t channel, Child& child) {
    while (child.says && pass_on(FrameKind::said, channel, child.process->error_fd(), child.says)) {
    }
    const std::optional<worker::WorkerEnd>& end = child.process->ended();
    if (end) ended(channel, *end);
    return end.has_value();
  }

  void ended(std::uint64_t channel, const worker::WorkerEnd& end) {
    world_.send(0, FrameKind::ended, channel, worker::bytes_of(end));
  }

  void arrived(Frame frame) {
    if (frame.kind == FrameKind::quit) done_ = true;
    if (frame.kind == FrameKind::start) return start(frame.channel);
    const auto at = children_.find(frame.channel);
    if (at == children_.end()) return;  // it has ended meanwhile
    if (frame.kind == FrameKind::data) at->second.in.push(std::move(frame.bytes));
    if (frame.kind == FrameKind::kill) at->second.process->kill();
  }

  void start(std::uint64_t channel) try {
    children_.emplace(channel, Child{std::make_unique<worker::WorkerProcess>(program_), {}});
  } catch (const WorkerError& error) {
    ended(channel, {error.what(), false});
  }

  Communicator& world_;
  const std::filesystem::path& program_;
  std::map<std::uint64_t, Child> children_;
  std::vector<std::byte> buffer_;
  bool done_ = false;
  Clock::time_point ask_again_;
};

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
  bool take_stop() override {
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
  Turns turns;
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
    const auto carry_all = [&] {
      take_tasks();
      carry(fds);
    };
    turns.take(fds, world_, carry_all, [this](Frame frame) { arrived(std::move(frame)); });
  }
  for (int rank = 1; rank < world_.size(); ++rank) world_.send(rank, FrameKind::quit, 0);
  while (world_.sending() > 0) ::poll(nullptr, 0, 1);
}

void Hub::carry(const std::vector<pollfd>& fds) {
  for (auto at = channels_.begin(); at != channels_.end();) {
    Channel& channel = *at->second;
    if (channel.polled && fds[*channel.polled].revents != 0) {
      const std::span<const std::byte> bytes = read_some(channel.to.read, buffer_, channel.to_is_open);
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
  if (frame.kind == FrameKind::ended) channel.end_behind = worker::worker_end(frame.bytes);
}

void relay(Communicator& world, const std::filesystem::path& program) { Relay(world, program).run(); }

}  // namespace tuner::mpi
